//! The last look at a message before it leaves for the model.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::detect::{Category, Context, Detectors};
use crate::filter::{Filter, Flow};
use crate::hidden::Found;
use crate::json::{self, Span};
use crate::layers::{self, About, Change, Edited, New, TokenAt, Treat};
use crate::message::{Message, Peer};
use crate::note::{Note, Observer, Place};
use crate::offload::Work;
use crate::places::{Visit, What, visit};
use crate::protect::{Mode, Policy, refused};
use crate::render::{Fault, Fill, render};
use crate::sanitize::{Issuer, Sanitizer};
use crate::surfaces::Way;
use crate::sync::{Mutex, PoisonError};
use crate::token::{looks, write_redacted};
use crate::vault::{Used, Vault};
use crate::vouch::{Looked, Reading};

/// Looks through everything that would leave for the model, values and keys, whatever the table of
/// surfaces kept, but for the ids that a peer must get back as they were.
///
/// What was [vouched](Message::vouch) for is looked at again where it was edited since, and only
/// there: with as much around an edit as decides about it. What is found is replaced, keys that
/// differed still differ, and it is told once for each kind. In a schema it is told only. If
/// the tripwire itself fails, the message goes out as it was, and that is told.
pub struct Tripwire {
    detectors: Arc<Detectors>,
    vault: Vault,
    name: String,
    redact: bool,
    observer: Arc<dyn Observer>,
    told: Mutex<HashSet<(Category, Place)>>,
}

impl Tripwire {
    /// A tripwire behind the protection of the upstream that `policy` is about.
    #[must_use]
    pub fn new(
        detectors: Arc<Detectors>,
        vault: Vault,
        policy: &Policy,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self {
            detectors,
            vault,
            name: policy.name.clone(),
            redact: policy.mode == Mode::Redact,
            observer,
            told: Mutex::default(),
        }
    }

    fn note(&self, msg: &Message, note: &Note<'_>) {
        let method = msg.about().unwrap_or_default();
        self.observer.note(&self.name, method, note);
    }

    fn look(&self, msg: &mut Message) -> Flow {
        if let Err(why) = msg.settle() {
            // Not to be let through by anybody: what would leave is not known.
            self.note(msg, &Note::Failed(why.to_string()));
            return refused(
                msg,
                -32603,
                "the gateway could not put this message together again",
            );
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.scrub(msg)));
        match outcome {
            Ok((edits, tripped)) => {
                for (at, with) in &edits {
                    msg.edit(*at, with);
                }
                self.tell(msg, &tripped);
            }
            Err(_) => self.note(msg, &Note::TripwireFailed("an internal fault".into())),
        }
        Flow::Forward
    }

    fn tell(&self, msg: &Message, tripped: &HashMap<(Category, Place), usize>) {
        let mut tripped: Vec<_> = tripped.iter().collect();
        tripped.sort_by_key(|((category, place), _)| (*category, *place as u8));
        for (&(category, place), &count) in tripped {
            let first = self
                .told
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert((category, place));
            let category = self.detectors.name(category);
            let note = Note::Tripped {
                category,
                place,
                count,
                first,
            };
            self.note(msg, &note);
        }
    }

    /// What has to be edited, and what was found how often.
    #[expect(clippy::type_complexity, reason = "named once, where it is used")]
    fn scrub(&self, msg: &Message) -> (Vec<(Span, Vec<u8>)>, HashMap<(Category, Place), usize>) {
        let raw = msg.raw();
        let mut wire = Wire {
            raw,
            vouched: msg.vouched().iter().peekable(),
            changes: Vec::new(),
            keys: Vec::new(),
            tripped: HashMap::new(),
            finder: Finder {
                tripwire: self,
                found: Found::default(),
                buffers: Vec::new(),
            },
        };
        visit(msg, Way::ToModel, &mut wire);
        let Wire {
            changes,
            keys,
            tripped,
            ..
        } = wire;
        if changes.is_empty() && keys.is_empty() {
            return (Vec::new(), tripped);
        }
        let upstream = match msg.from {
            Peer::Upstream(upstream) => Some(upstream),
            Peer::Client | Peer::Gateway => None,
        };
        let sanitizer = Sanitizer {
            detectors: &self.detectors,
            vault: &self.vault,
            upstream,
            redact: self.redact,
            longest: 0,
        };
        let (mut counts, mut used) = (Vec::new(), Used::default());
        let mut scrubber = Scrubber {
            detectors: &self.detectors,
            issuer: Issuer::new(&sanitizer, &mut counts, &mut used),
        };
        let mut edits = Vec::new();
        for change in changes {
            if let Some(new) = scrubber.render(&change, raw) {
                edits.push((change.at, new));
            }
        }
        for group in keys.chunk_by(|a, b| a.object == b.object) {
            edits.extend(scrubber.keys(group, raw));
        }
        edits.sort_unstable_by_key(|(at, _)| *at);
        (edits, tripped)
    }
}

impl Work for Tripwire {
    fn to_model(&self, msg: &mut Message) -> Flow {
        self.look(msg)
    }

    fn to_upstream(&self, _: &mut Message) -> Flow {
        Flow::Forward
    }

    fn is_free(&self) -> bool {
        self.vault.is_free()
    }
}

impl Filter for Tripwire {
    fn to_model(&mut self, msg: &mut Message) -> Flow {
        self.look(msg)
    }
}

impl fmt::Debug for Tripwire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tripwire")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A key that has to be rewritten, of the object that starts at `object`.
struct Key {
    object: usize,
    at: Span,
    changes: Vec<Change>,
}

struct Wire<'a, V: Iterator<Item = Looked<'a>>> {
    raw: &'a [u8],
    /// Not passed yet.
    vouched: Peekable<V>,
    changes: Vec<Change>,
    keys: Vec<Key>,
    tripped: HashMap<(Category, Place), usize>,
    finder: Finder<'a>,
}

impl<'a, V: Iterator<Item = Looked<'a>>> Wire<'a, V> {
    fn vouched(&mut self, at: Span) -> Option<Looked<'a>> {
        let passed = |looked: &Looked<'_>| looked.at.end <= at.start && looked.at != at;
        while self.vouched.next_if(passed).is_some() {}
        self.vouched.next_if(|looked| looked.at == at)
    }

    fn trip(&mut self, changes: &[Change], place: Place) {
        for change in changes {
            match &change.new {
                New::TokenOf(category) | New::TokenOfNumber(category) => {
                    *self.tripped.entry((*category, place)).or_default() += 1;
                }
                New::Recoded(recoded) => self.trip(&recoded.changes, place),
                New::Put(_) | New::ValueOf(_) => {}
            }
        }
    }

    /// Keeps what was found by `find`, or only tells of it.
    fn found(&mut self, what: What, find: impl FnOnce(&mut Finder<'_>, &mut Vec<Change>)) {
        let mut changes = Vec::new();
        find(&mut self.finder, &mut changes);
        if changes.is_empty() {
            return;
        }
        if what == What::Schema {
            self.trip(&changes, Place::Schema);
        } else {
            self.trip(&changes, Place::Value);
            self.changes.append(&mut changes);
        }
    }
}

impl<'a, V: Iterator<Item = Looked<'a>>> Visit for Wire<'a, V> {
    fn string(&mut self, at: Span, field: Span, what: What) {
        let vouched = self.vouched(at);
        if vouched.is_some_and(|looked| looked.edits.is_empty()) {
            return;
        }
        let raw = self.raw;
        let field = json::decode(field.of(raw));
        let about = About {
            field: (!field.is_empty()).then_some(&*field),
            layers: 0,
            what,
            edited: vouched
                .filter(|looked| !is_dense(looked))
                .map(|Looked { read, edits, .. }| Edited { read, at: edits }),
        };
        self.found(what, |finder, changes| {
            layers::string(finder, raw, at, about, changes);
        });
    }

    fn number(&mut self, at: Span, field: Span, what: What) {
        let raw = self.raw;
        self.found(what, |finder, changes| {
            let field = json::decode(field.of(raw));
            layers::number(finder, raw, at, Some(&field), 0, changes);
        });
    }

    fn key(&mut self, at: Span, object: usize, what: What) {
        let raw = self.raw;
        let about = About {
            field: None,
            layers: 0,
            what: What::Data,
            edited: None,
        };
        let mut changes = Vec::new();
        layers::string(&mut self.finder, raw, at, about, &mut changes);
        if changes.is_empty() {
            return;
        }
        if what == What::Schema {
            return self.trip(&changes, Place::Schema);
        }
        self.trip(&changes, Place::Key);
        self.keys.push(Key {
            object,
            at,
            changes,
        });
    }

    fn again(&mut self) {
        self.changes.clear();
        self.keys.clear();
        self.tripped.clear();
    }
}

/// Whether nearly all of a text is near an edit, so that it is read as a whole.
fn is_dense(looked: &Looked<'_>) -> bool {
    looked.read == Reading::Text && looked.edits.len() > looked.at.len() / 256
}

/// Finds values, and passes over tokens.
struct Finder<'a> {
    tripwire: &'a Tripwire,
    found: Found,
    buffers: Vec<Vec<u8>>,
}

impl Treat for Finder<'_> {
    fn text(&mut self, text: &str, about: About<'_>, changes: &mut Vec<Change>) {
        let Tripwire {
            detectors, vault, ..
        } = self.tripwire;
        match about.edited {
            Some(edited) => {
                self.found
                    .find_near(detectors, text, edited.at, about.field);
            }
            None => self.found.find(detectors, text, about.field),
        }
        if self.found.len() == 0 {
            return;
        }
        let mut known = looks(text.as_bytes())
            .filter(|look| vault.category(look.name.category()).is_some())
            .peekable();
        for (finding, hidden) in self.found.iter() {
            let mut push = |start: usize, end: usize| {
                if start < end {
                    changes.push(Change {
                        at: Span::new(start, end),
                        layers: about.layers + hidden,
                        new: New::TokenOf(finding.category),
                    });
                }
            };
            let mut start = finding.start;
            while known.next_if(|look| look.end <= start).is_some() {}
            // What reaches over a token is replaced around it.
            while let Some(look) = known.next_if(|look| look.end <= finding.end) {
                push(start, look.start.max(start));
                start = look.end;
            }
            let end = known.peek().map_or(finding.end, |look| look.start);
            push(start, end.min(finding.end));
        }
    }

    fn number(&mut self, number: &str, field: Option<&str>) -> Option<New> {
        let finding = self
            .tripwire
            .detectors
            .find_number(number, Context { field })?;
        Some(New::TokenOfNumber(finding.category))
    }

    fn passes(&self, _: &[u8], _: What) -> bool {
        false
    }

    fn buffers(&mut self) -> &mut Vec<Vec<u8>> {
        &mut self.buffers
    }
}

/// Gives tokens, or where there are none left, markers.
struct Scrubber<'a, 'b> {
    detectors: &'a Detectors,
    issuer: Issuer<'a, 'b>,
}

impl Scrubber<'_, '_> {
    fn render(&mut self, change: &Change, source: &[u8]) -> Option<Vec<u8>> {
        let mut new = Vec::new();
        let made = render(change, source, self, &mut new);
        matches!(made, Ok(true)).then_some(new)
    }

    /// The edits of the keys of one object, so that no two that differed become the same.
    fn keys(&mut self, keys: &[Key], raw: &[u8]) -> Vec<(Span, Vec<u8>)> {
        let mut taken: HashSet<Vec<u8>> = json::members(raw, keys[0].object)
            .map(|(key, _)| key.of(raw).to_vec())
            .collect();
        let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
        // Of a key that stands twice both become the same again.
        let mut renamed: HashMap<&[u8], Vec<u8>> = HashMap::new();
        let mut edits = Vec::new();
        for key in keys {
            let old = key.at.of(raw);
            let new = match renamed.get(old) {
                Some(new) => new.clone(),
                None => {
                    let plain = self.key(key, raw);
                    let mut new = plain.clone();
                    let count = counts.entry(plain.clone()).or_insert(1);
                    while !taken.insert(new.clone()) {
                        *count += 1;
                        new.clone_from(&plain);
                        new.extend_from_slice(format!(" ({count})").as_bytes());
                    }
                    renamed.insert(old, new.clone());
                    new
                }
            };
            edits.push((key.at, new));
        }
        edits
    }

    fn key(&mut self, key: &Key, raw: &[u8]) -> Vec<u8> {
        let mut new = Vec::new();
        let mut done = key.at.start as usize;
        for change in &key.changes {
            if let Some(text) = self.render(change, raw) {
                new.extend_from_slice(&raw[done..change.at.start as usize]);
                new.extend_from_slice(&text);
                done = change.at.end as usize;
            }
        }
        new.extend_from_slice(&raw[done..key.at.end as usize]);
        new
    }
}

impl Fill for Scrubber<'_, '_> {
    fn token(
        &mut self,
        value: &str,
        category: Category,
        numeric: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let start = out.len();
        if self.issuer.token(value, category, numeric, out).is_err() {
            out.truncate(start);
            write_redacted(self.detectors.name(category), out);
        }
        Ok(())
    }

    fn value(&mut self, _: &TokenAt) -> Option<(Cow<'_, str>, bool)> {
        None
    }
}
