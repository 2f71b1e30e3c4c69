//! Tokens become values again on the way to an upstream.

use std::borrow::Cow;

use crate::detect::{Category, Context, Detectors, Finding};
use crate::json::{self, Span};
use crate::layers::{self, About, Change, New, TokenAt, Treat};
use crate::message::Message;
use crate::note::MAX_NAMED;
use crate::places::{Visit, What, visit};
use crate::render::{Fault, Fill, render};
use crate::surfaces::Way;
use crate::token::{self, Form, looks, may_look, unmute};
use crate::vault::{Lookup, Open, Token, Used, Vault};

/// A string or key that may hold tokens.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    at: Span,
    field: Span,
    what: What,
    is_key: bool,
}

/// What was done, or why it must not be.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// How many tokens of each category, by its place in the vault, became values.
    pub(crate) restored: Vec<u32>,
    /// Which they were.
    pub(crate) used: Used,
    /// Strings that were looked at, and those that were changed.
    pub(crate) strings: usize,
    pub(crate) changed: usize,
    /// Tokens of values that this upstream has not returned itself.
    pub(crate) foreign: Vec<String>,
    /// Tokens that another session of this installation issued.
    pub(crate) stale: Vec<String>,
    /// How many values of each category the model wrote itself.
    pub(crate) fresh: Vec<u32>,
}

pub(crate) struct Restorer<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) upstream: u16,
    /// Looks for values that the model wrote itself.
    pub(crate) fresh: Option<&'a Detectors>,
}

impl Restorer<'_> {
    /// Edits `msg`, so that tokens of this session read as their values.
    pub(crate) fn message(&self, msg: &mut Message) -> Result<Done, Fault> {
        let raw = msg.raw().clone();
        let mut collect = Collect {
            raw: &raw,
            all: self.fresh.is_some(),
            leaves: Vec::new(),
            strings: 0,
        };
        visit(msg, Way::ToUpstream, &mut collect);
        let leaves = collect.leaves;
        let mut done = Done {
            strings: collect.strings,
            ..Done::default()
        };
        if leaves.is_empty() {
            return Ok(done);
        }
        let mut reader = Reader {
            restorer: self,
            buffers: Vec::new(),
            found: Vec::new(),
            fresh: Vec::new(),
        };
        let mut changes = Vec::new();
        for leaf in &leaves {
            let first = changes.len();
            let field = json::decode(leaf.field.of(&raw));
            let about = About {
                field: (!field.is_empty()).then_some(&*field),
                layers: 0,
                what: leaf.what,
                edited: None,
            };
            layers::string(&mut reader, &raw, leaf.at, about, &mut changes);
            if leaf.is_key {
                layers::narrow(&mut changes[first..]);
            }
        }
        done.fresh = reader.fresh;
        if changes.is_empty() {
            return Ok(done);
        }
        let mut values = Values {
            open: self.vault.open(),
            upstream: self.upstream,
            done: &mut done,
            vault: self.vault,
        };
        let mut new = Vec::new();
        let mut strings = leaves.iter().filter(|leaf| !leaf.is_key).peekable();
        for change in &changes {
            new.clear();
            if render(change, &raw, &mut values, &mut new)? {
                msg.edit(change.at, &new);
                while strings
                    .next_if(|leaf| leaf.at.end <= change.at.start)
                    .is_some()
                {}
                let changed = strings.next_if(|leaf| leaf.at.start < change.at.end);
                values.done.changed += usize::from(changed.is_some());
            }
        }
        Ok(done)
    }
}

struct Collect<'a> {
    raw: &'a [u8],
    /// Whether all strings are wanted, not only those that may hold a token.
    all: bool,
    leaves: Vec<Leaf>,
    strings: usize,
}

/// Whether a text may hold a token: as it is, behind an escape, or in base64.
fn may_hold(text: &[u8]) -> bool {
    may_look(text) || memchr::memchr(b'\\', text).is_some() || layers::has_base64(text)
}

impl Visit for Collect<'_> {
    fn string(&mut self, at: Span, field: Span, what: What) {
        self.strings += 1;
        if self.all || matches!(what, What::Blob(_)) || may_hold(at.of(self.raw)) {
            self.leaves.push(Leaf {
                at,
                field,
                what,
                is_key: false,
            });
        }
    }

    fn number(&mut self, _: Span, _: Span, _: What) {}

    fn key(&mut self, at: Span, _: usize, what: What) {
        if may_hold(at.of(self.raw)) {
            self.leaves.push(Leaf {
                at,
                field: Span::default(),
                what,
                is_key: true,
            });
        }
    }

    fn again(&mut self) {
        self.leaves.clear();
        self.strings = 0;
    }
}

/// Finds tokens, and what was neutralised.
struct Reader<'a> {
    restorer: &'a Restorer<'a>,
    buffers: Vec<Vec<u8>>,
    found: Vec<Finding>,
    fresh: Vec<u32>,
}

impl Treat for Reader<'_> {
    fn text(&mut self, text: &str, about: About<'_>, changes: &mut Vec<Change>) {
        let bytes = text.as_bytes();
        let first = changes.len();
        let data = matches!(about.what, What::Data | What::Uri);
        for look in looks(bytes) {
            let Some(category) = self.restorer.vault.category(look.name.category()) else {
                continue;
            };
            for (start, end, with) in unmute(&look, bytes).into_iter().flatten() {
                changes.push(Change {
                    at: Span::new(start, end),
                    layers: about.layers,
                    new: New::Put(with),
                });
            }
            if let (false, true, Some(number)) = (look.muted, data, look.name.number) {
                changes.push(Change {
                    at: Span::new(look.replaced_from(bytes), look.end),
                    layers: about.layers,
                    new: New::ValueOf(TokenAt {
                        category,
                        number,
                        percent: look.form == Form::Percent,
                        whole: false,
                    }),
                });
            }
        }
        if let (Some(detectors), true) = (self.restorer.fresh, data) {
            let field = about.field;
            detectors.find_sharded(text, Context { field }, &mut self.found);
            let mut tokens = changes[first..].iter().map(|change| change.at).peekable();
            for finding in &self.found {
                while tokens
                    .next_if(|at| at.end as usize <= finding.start)
                    .is_some()
                {}
                if tokens
                    .peek()
                    .is_none_or(|at| at.start as usize >= finding.end)
                {
                    count(&mut self.fresh, finding.category);
                }
            }
        }
    }

    fn passes(&self, text: &[u8], what: What) -> bool {
        let fresh = self.restorer.fresh.is_some() && matches!(what, What::Data | What::Uri);
        !fresh && !may_hold(text)
    }

    fn buffers(&mut self) -> &mut Vec<Vec<u8>> {
        &mut self.buffers
    }
}

/// Counts one more of a category.
pub(crate) fn count(counts: &mut Vec<u32>, category: Category) {
    count_at(counts, category.index());
}

fn count_at(counts: &mut Vec<u32>, index: usize) {
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] += 1;
}

struct Values<'a, 'b> {
    open: Open<'a>,
    upstream: u16,
    done: &'b mut Done,
    vault: &'a Vault,
}

impl Values<'_, '_> {
    fn name(vault: &Vault, token: &TokenAt, names: &mut Vec<String>) {
        let mut name = Vec::new();
        token::write(vault.name(token.category), token.number, &mut name);
        let name = String::from_utf8_lossy(&name).into_owned();
        if names.len() < MAX_NAMED && !names.contains(&name) {
            names.push(name);
        }
    }
}

impl Fill for Values<'_, '_> {
    fn token(&mut self, _: &str, _: Category, _: bool, _: &mut Vec<u8>) -> Result<(), Fault> {
        Ok(())
    }

    fn value(&mut self, token: &TokenAt) -> Option<(Cow<'_, str>, bool)> {
        match self.open.look_up(token.category, token.number) {
            Lookup::Known(entry) => {
                if !self.open.is_known_to(entry, self.upstream) {
                    Self::name(self.vault, token, &mut self.done.foreign);
                }
                count_at(&mut self.done.restored, usize::from(token.category));
                self.done.used.add(Token {
                    category: token.category,
                    number: token.number,
                });
                let value = Cow::Borrowed(self.open.value(entry));
                Some((value, self.open.is_numeric(entry)))
            }
            Lookup::Stale => {
                Self::name(self.vault, token, &mut self.done.stale);
                None
            }
            Lookup::Never => None,
        }
    }
}
