//! Values become tokens on the way to the model.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use crate::detect::{Category, Context, Detectors};
use crate::hidden::Found;
use crate::json::{self, Span};
use crate::layers::{self, About, Change, New, TokenAt, Treat};
use crate::message::Message;
use crate::places::{Visit, What, visit};
use crate::render::{Fault, Fill, render};
use crate::restore::count;
use crate::schema;
use crate::surfaces::Way;
use crate::token::{looks, may_look, mute, write_redacted};
use crate::vault::{Open, Used, Vault};
use crate::vouch::Reading;

/// Longest text whose key is told to the detectors. A key says what a short value is; a long text
/// speaks for itself, and is looked at once wherever it stands.
const FIELD_MAX: usize = 256;

/// From this many bytes on, the strings of a message are shared out between threads.
const PARALLEL: usize = 128 << 10;

/// Bytes of strings that one thread takes at a time.
const SHARE: usize = 32 << 10;

/// Most bytes of a buffer that is kept for the next message.
const KEPT: usize = 1 << 20;

/// Shortest number that is looked at.
const NUMBER_MIN: usize = 7;

/// A string, number or key that is looked at.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    at: Span,
    field: Span,
    what: What,
    kind: Kind,
    /// An earlier leaf that says the same.
    same_as: Option<u32>,
    /// How many changes.
    changes: u32,
    read: Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Key,
    Number,
    String,
}

/// Memory that is used again for the next message.
#[derive(Default)]
pub(crate) struct Scratch {
    leaves: Vec<Leaf>,
    schemas: Vec<Span>,
    changes: Vec<Change>,
    finder: Buffers,
    new: Vec<u8>,
}

impl Scratch {
    /// Whether it is worth keeping: what one large message needed is given back.
    pub(crate) fn is_small(&self) -> bool {
        let leaves = self.leaves.capacity() * size_of::<Leaf>();
        let changes = self.changes.capacity() * size_of::<Change>();
        leaves + changes + self.new.capacity() <= KEPT
    }
}

#[derive(Default)]
struct Buffers {
    found: Found,
    texts: Vec<Vec<u8>>,
}

impl Buffers {
    /// Drops what a large text needed.
    fn give_back(&mut self) {
        self.texts.retain(|text| text.capacity() <= KEPT);
        if self.found.bytes() > KEPT {
            self.found = Found::default();
        }
    }
}

/// What was done.
#[derive(Default)]
pub(crate) struct Done {
    /// How many values of each category.
    pub(crate) values: Vec<u32>,
    /// The tokens they got.
    pub(crate) used: Used,
    /// Strings that were looked at, and those that were changed.
    pub(crate) strings: usize,
    pub(crate) changed: usize,
    pub(crate) muted: usize,
    pub(crate) binary: usize,
    /// Output schemas that were relaxed, and by how many keywords.
    pub(crate) relaxed: Vec<(Span, usize)>,
}

/// The two halves of the work that everybody shares.
pub(crate) struct Sanitizer<'a> {
    pub(crate) detectors: &'a Detectors,
    pub(crate) vault: &'a Vault,
    pub(crate) upstream: Option<u16>,
    pub(crate) redact: bool,
    /// The longest text that is looked through, in characters; 0 is no limit.
    pub(crate) longest: usize,
}

impl Sanitizer<'_> {
    /// Edits `msg`, so that no value in it reaches the model, and vouches for what is clean.
    pub(crate) fn message(&self, msg: &mut Message, scratch: &mut Scratch) -> Result<Done, Fault> {
        let raw = msg.raw().clone();
        scratch.leaves.clear();
        scratch.schemas.clear();
        scratch.changes.clear();
        let mut collect = Collect {
            raw: &raw,
            leaves: &mut scratch.leaves,
            schemas: &mut scratch.schemas,
            bytes: 0,
        };
        visit(msg, Way::ToModel, &mut collect);
        let bytes = collect.bytes;
        if self.longest > 0
            && scratch
                .leaves
                .iter()
                .any(|leaf| self.is_too_long(&raw, leaf.at))
        {
            return Err(Fault::TooLong(self.longest));
        }
        same_before(&raw, &mut scratch.leaves);
        let mut done = Done::default();
        if bytes >= PARALLEL && scratch.leaves.len() > 1 {
            self.find_shared(&raw, scratch, &mut done);
        } else {
            let Scratch {
                leaves,
                changes,
                finder,
                ..
            } = scratch;
            self.find(&raw, leaves, changes, finder, &mut done);
        }
        scratch.finder.give_back();
        self.edit(msg, &raw, scratch, &mut done)?;
        Ok(done)
    }

    fn is_too_long(&self, raw: &[u8], at: Span) -> bool {
        at.len() > self.longest && json::decode(at.of(raw)).chars().count() > self.longest
    }

    /// Finds the changes of each leaf, on this thread.
    fn find(
        &self,
        raw: &[u8],
        leaves: &mut [Leaf],
        changes: &mut Vec<Change>,
        buffers: &mut Buffers,
        done: &mut Done,
    ) {
        let mut finder = Finder {
            sanitizer: self,
            buffers,
            binary: 0,
        };
        for leaf in leaves {
            if leaf.same_as.is_some() {
                continue;
            }
            let first = changes.len();
            let field = json::decode(leaf.field.of(raw));
            let field = (!field.is_empty()).then_some(&*field);
            match leaf.kind {
                Kind::Number => layers::number(&mut finder, raw, leaf.at, field, 0, changes),
                Kind::String | Kind::Key => {
                    let about = About {
                        field,
                        layers: 0,
                        what: leaf.what,
                        edited: None,
                    };
                    leaf.read = layers::string(&mut finder, raw, leaf.at, about, changes);
                }
            }
            leaf.changes = (changes.len() - first) as u32;
        }
        done.binary += finder.binary;
    }

    /// The same, on all threads.
    fn find_shared(&self, raw: &[u8], scratch: &mut Scratch, done: &mut Done) {
        let mut shares = Vec::new();
        let mut rest = &mut scratch.leaves[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let enough = |leaf: &Leaf| {
                bytes += leaf.at.len() + 16;
                bytes > SHARE
            };
            let count = rest.iter().position(enough).map_or(rest.len(), |at| at + 1);
            let (share, more) = rest.split_at_mut(count);
            shares.push(share);
            rest = more;
        }
        let found: Vec<_> = shares
            .into_par_iter()
            .map(|share| {
                let (mut changes, mut done) = (Vec::new(), Done::default());
                self.find(raw, share, &mut changes, &mut Buffers::default(), &mut done);
                (changes, done.binary)
            })
            .collect();
        for (mut changes, binary) in found {
            scratch.changes.append(&mut changes);
            done.binary += binary;
        }
    }

    /// Gives tokens in reading order, and makes the edits.
    fn edit(
        &self,
        msg: &mut Message,
        raw: &[u8],
        scratch: &mut Scratch,
        done: &mut Done,
    ) -> Result<(), Fault> {
        let Scratch {
            leaves,
            changes,
            schemas,
            new,
            ..
        } = scratch;
        let gone = self.relax(msg, raw, schemas, done);
        let mut gone = gone.iter().peekable();
        let mut issuer = Issuer::new(self, &mut done.values, &mut done.used);
        let mut firsts = Vec::new();
        let copies = leaves.iter().any(|leaf| leaf.same_as.is_some());
        let mut next = 0;
        for at in 0..leaves.len() {
            let leaf = leaves[at];
            if copies {
                firsts.push(next);
            }
            let (first, model) = match leaf.same_as {
                None => (next, leaf),
                Some(same) => (firsts[same as usize], leaves[same as usize]),
            };
            let count = model.changes as usize;
            if leaf.same_as.is_none() {
                next += count;
            }
            while gone
                .next_if(|span: &&Span| span.end <= leaf.at.start)
                .is_some()
            {}
            if gone.peek().is_some_and(|span| span.start < leaf.at.end) {
                continue;
            }
            if leaf.kind == Kind::String {
                done.strings += 1;
                done.changed += usize::from(count > 0);
            }
            let mut vouched =
                leaf.kind == Kind::String && matches!(leaf.what, What::Data | What::Uri);
            for change in &changes[first..first + count] {
                new.clear();
                if matches!(change.new, New::Put(_)) {
                    done.muted += 1;
                }
                if render(change, raw, &mut issuer, new)? {
                    let moved = i64::from(leaf.at.start) - i64::from(model.at.start);
                    let there = |at: u32| (i64::from(at) + moved) as usize;
                    msg.edit(Span::new(there(change.at.start), there(change.at.end)), new);
                } else {
                    vouched = false;
                }
            }
            if vouched {
                msg.vouch(leaf.at, model.read);
            }
        }
        Ok(())
    }

    fn relax(&self, msg: &mut Message, raw: &[u8], schemas: &[Span], done: &mut Done) -> Vec<Span> {
        let mut gone = Vec::new();
        for &at in schemas {
            let first = gone.len();
            let keywords = schema::relax(raw, at, self.redact, &mut |span: Span, with: &[u8]| {
                msg.edit(span, with);
                gone.push(span);
            });
            if gone.len() > first {
                done.relaxed.push((at, keywords));
            }
        }
        gone.sort_unstable();
        gone
    }
}

/// Marks long strings that repeat an earlier one: a tool's answer says most things twice, as text
/// and as structured content.
fn same_before(raw: &[u8], leaves: &mut [Leaf]) {
    let mut long: HashMap<u32, u32> = HashMap::new();
    for at in 0..leaves.len() {
        let leaf = leaves[at];
        if leaf.at.len() <= FIELD_MAX || leaf.kind != Kind::String || leaf.what != What::Data {
            continue;
        }
        match long.entry(leaf.at.len() as u32) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(at as u32);
            }
            std::collections::hash_map::Entry::Occupied(mut entry) => {
                let earlier = *entry.get();
                if leaves[earlier as usize].at.of(raw) == leaf.at.of(raw) {
                    leaves[at].same_as = Some(earlier);
                } else {
                    entry.insert(at as u32);
                }
            }
        }
    }
}

struct Collect<'a> {
    raw: &'a [u8],
    leaves: &'a mut Vec<Leaf>,
    schemas: &'a mut Vec<Span>,
    bytes: usize,
}

impl Collect<'_> {
    fn push(&mut self, at: Span, field: Span, what: What, kind: Kind) {
        self.bytes += at.len();
        self.leaves.push(Leaf {
            at,
            field,
            what,
            kind,
            same_as: None,
            changes: 0,
            read: Reading::Text,
        });
    }

    /// Whether a text that is kept may hold a look-alike.
    fn may_look(&self, at: Span) -> bool {
        let text = at.of(self.raw);
        may_look(text) || text.contains(&b'\\')
    }
}

impl Visit for Collect<'_> {
    fn string(&mut self, at: Span, field: Span, what: What) {
        if !matches!(what, What::Keep | What::Schema) || self.may_look(at) {
            self.push(at, field, what, Kind::String);
        }
    }

    fn number(&mut self, at: Span, field: Span, what: What) {
        if at.len() >= NUMBER_MIN && what == What::Data {
            self.push(at, field, what, Kind::Number);
        }
    }

    /// Keys are left to the tripwire, but for look-alikes.
    fn key(&mut self, at: Span, _: usize, _: What) {
        if self.may_look(at) {
            self.push(at, Span::default(), What::Keep, Kind::Key);
        }
    }

    fn output_schema(&mut self, at: Span) {
        self.schemas.push(at);
    }

    fn again(&mut self) {
        self.leaves.clear();
        self.schemas.clear();
        self.bytes = 0;
    }
}

/// Finds values and look-alikes.
struct Finder<'a, 'b> {
    sanitizer: &'a Sanitizer<'a>,
    buffers: &'b mut Buffers,
    binary: usize,
}

impl Finder<'_, '_> {
    /// Neutralises look-alikes between two places.
    fn mute(&self, text: &[u8], from: usize, to: usize, layers: u8, changes: &mut Vec<Change>) {
        let text = &text[from..to];
        for look in looks(text) {
            if self
                .sanitizer
                .vault
                .category(look.name.category())
                .is_none()
            {
                continue;
            }
            for (start, end, with) in mute(&look, text).into_iter().flatten() {
                changes.push(Change {
                    at: Span::new(from + start, from + end),
                    layers,
                    new: New::Put(with),
                });
            }
        }
    }
}

impl Treat for Finder<'_, '_> {
    fn text(&mut self, text: &str, about: About<'_>, changes: &mut Vec<Change>) {
        let bytes = text.as_bytes();
        let looks = may_look(bytes);
        let mut found = std::mem::take(&mut self.buffers.found);
        found.clear();
        if matches!(about.what, What::Data | What::Uri) {
            let field = about.field.filter(|_| text.len() <= FIELD_MAX);
            found.find(self.sanitizer.detectors, text, field);
        }
        let mut done = 0;
        changes.reserve(found.len());
        for (finding, hidden) in found.iter() {
            // Look-alikes between the values only: a value is replaced as a whole.
            if looks {
                self.mute(bytes, done, finding.start, about.layers, changes);
            }
            changes.push(Change {
                at: Span::new(finding.start, finding.end),
                layers: about.layers + hidden,
                new: New::TokenOf(finding.category),
            });
            done = finding.end;
        }
        if looks {
            self.mute(bytes, done, bytes.len(), about.layers, changes);
        }
        self.buffers.found = found;
    }

    fn number(&mut self, number: &str, field: Option<&str>) -> Option<New> {
        let finding = self
            .sanitizer
            .detectors
            .find_number(number, Context { field })?;
        Some(New::TokenOfNumber(finding.category))
    }

    fn passes(&self, text: &[u8], what: What) -> bool {
        matches!(what, What::Keep | What::Schema) && !may_look(text)
    }

    fn binary(&mut self) {
        self.binary += 1;
    }

    fn buffers(&mut self) -> &mut Vec<Vec<u8>> {
        &mut self.buffers.texts
    }
}

/// Gives tokens. Opens the vault with the first.
pub(crate) struct Issuer<'a, 'b> {
    sanitizer: &'a Sanitizer<'a>,
    open: Option<Open<'a>>,
    /// How many, by category.
    values: &'b mut Vec<u32>,
    used: &'b mut Used,
}

impl<'a, 'b> Issuer<'a, 'b> {
    pub(crate) fn new(
        sanitizer: &'a Sanitizer<'a>,
        values: &'b mut Vec<u32>,
        used: &'b mut Used,
    ) -> Self {
        Self {
            sanitizer,
            open: None,
            values,
            used,
        }
    }
}

impl Fill for Issuer<'_, '_> {
    fn token(
        &mut self,
        value: &str,
        category: Category,
        numeric: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let Sanitizer {
            detectors,
            vault,
            upstream,
            redact,
            ..
        } = *self.sanitizer;
        count(self.values, category);
        if redact {
            write_redacted(detectors.name(category), out);
            return Ok(());
        }
        let open = self.open.get_or_insert_with(|| vault.open());
        let token = open.token(value, category, upstream, numeric)?;
        self.used.add(token);
        open.write(token, out);
        Ok(())
    }

    fn value(&mut self, _: &TokenAt) -> Option<(Cow<'_, str>, bool)> {
        None
    }
}
