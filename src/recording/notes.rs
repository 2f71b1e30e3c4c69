//! What the protection notes about a message, as facts about its entry or as entries beside it.

use std::cell::RefCell;

use cloak_stages::audit::{Entry, Event, Name, Token};
use cloak_stages::note::{Note, Observer, Place};

thread_local! {
    /// What was noted about the message that this thread works on; none while it works on none.
    static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
}

/// Passes notes on, and keeps them for the entry of the message that is worked on.
pub(crate) struct Ears<O>(pub(crate) O);

impl<O: Observer> Observer for Ears<O> {
    fn note(&self, upstream: &str, method: &str, note: &Note<'_>) {
        self.0.note(upstream, method, note);
        NOTES.with_borrow_mut(|notes| {
            if let Some(notes) = notes {
                notes.hear(note);
            }
        });
    }
}

/// What there is to add to a message's entry.
#[derive(Default)]
pub(super) struct Notes {
    strings: u64,
    changed: u64,
    tokens: Vec<Token>,
    more_tokens: u64,
    counts: Vec<(Name, u64)>,
    reason: Option<Name>,
    beside: Vec<Entry>,
}

impl Notes {
    /// Does `work`, and gives what was noted meanwhile.
    pub(super) fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        // A thread of the pool that waits may begin with another message.
        let outer = NOTES.replace(Some(Self::default()));
        let done = work();
        (done, NOTES.replace(outer).unwrap_or_default())
    }

    /// Puts into `entry` what is about the message itself. Gives the entries beside it, which say
    /// what message they are about.
    pub(super) fn tell(self, entry: &mut Entry) -> impl Iterator<Item = Entry> + use<> {
        (entry.strings_seen, entry.strings_changed) = (self.strings, self.changed);
        (entry.tokens, entry.more_tokens) = (self.tokens, self.more_tokens);
        for (category, count) in self.counts {
            entry.count(category, count);
        }
        if let Some(reason) = self.reason {
            entry.facts.insert(Name::literal("reason"), reason.into());
        }
        let about = (entry.direction, entry.outcome);
        let names = (entry.method.clone(), entry.tool.clone(), entry.id.clone());
        self.beside.into_iter().map(move |mut beside| {
            (beside.direction, beside.outcome) = about;
            (beside.method, beside.tool, beside.id) = names.clone();
            beside
        })
    }

    fn hear(&mut self, note: &Note<'_>) {
        match note {
            Note::Looked {
                strings,
                changed,
                tokens,
                more,
            } => {
                self.strings += *strings as u64;
                self.changed += *changed as u64;
                self.tokens.extend(tokens.iter().filter_map(token));
                self.more_tokens += *more as u64;
            }
            Note::Sanitized(found) | Note::Restored(found) => self.counts.extend(counts(found)),
            Note::CrossUpstream { tokens, refused } => {
                self.beside(Event::ForeignToken, *refused)
                    .tokens
                    .extend(tokens.iter().filter_map(|token| parsed(token)));
            }
            Note::StaleTokens(tokens) => self
                .beside(Event::StaleToken, true)
                .tokens
                .extend(tokens.iter().filter_map(|token| parsed(token))),
            Note::FreshValues { found, refused } => {
                let entry = self.beside(Event::FreshValue, *refused);
                for (category, count) in counts(found) {
                    entry.count(category, count);
                }
            }
            Note::Tripped {
                category,
                place,
                count,
                ..
            } => {
                let entry = self.beside(Event::TripwireHit, false);
                let place = Name::literal(match place {
                    Place::Value => "value",
                    Place::Key => "key",
                    Place::Schema => "schema",
                });
                entry.facts.insert(Name::literal("place"), place.into());
                if let Some(category) = Name::parse(category) {
                    entry.count(category, *count as u64);
                }
            }
            Note::UnknownMethod => self.reason = Some(Name::literal("unknown_method")),
            Note::Failed(_) => self.failed("protection", true),
            Note::TripwireFailed(_) => self.failed("tripwire", false),
            _ => {}
        }
    }

    /// One more entry beside the message's own. If the message was refused for it, it is the reason.
    fn beside(&mut self, event: Event, refused: bool) -> &mut Entry {
        if refused {
            self.reason = Some(Name::literal(event.as_str()));
        }
        self.beside.push(Entry::new(event));
        self.beside.last_mut().expect("it was just put there")
    }

    fn failed(&mut self, what: &'static str, refused: bool) {
        let entry = self.beside(Event::Error, refused);
        entry
            .facts
            .insert(Name::literal("what"), Name::literal(what).into());
    }
}

fn token((category, number): &(&str, u64)) -> Option<Token> {
    Some(Token {
        category: Name::parse(category)?,
        number: *number,
    })
}

/// The token that is written `[EMAIL_0]`.
fn parsed(text: &str) -> Option<Token> {
    let name = text.strip_prefix('[')?.strip_suffix(']')?;
    let (category, number) = name.rsplit_once('_')?;
    token(&(category, number.parse().ok()?))
}

fn counts(found: &[(&str, usize)]) -> impl Iterator<Item = (Name, u64)> {
    found
        .iter()
        .filter_map(|(category, count)| Some((Name::parse(category)?, *count as u64)))
}

#[cfg(test)]
mod tests {
    use cloak_stages::note::Silent;

    use super::*;

    #[test]
    fn notes_belong_to_the_message_that_is_worked_on() {
        let ears = Ears(Silent);
        let looked = |strings| Note::Looked {
            strings,
            changed: 1,
            tokens: vec![("EMAIL", 3)],
            more: 0,
        };
        ears.note("fs", "x", &looked(1));
        let ((), outer) = Notes::of(|| {
            ears.note("fs", "x", &looked(2));
            let ((), inner) = Notes::of(|| ears.note("fs", "x", &looked(30)));
            assert_eq!(inner.strings, 30);
            ears.note("fs", "x", &Note::StaleTokens(vec!["[IBAN_7]".into()]));
        });
        let mut entry = Entry::new(Event::ToolsCall);
        let beside: Vec<_> = outer.tell(&mut entry).collect();
        assert_eq!((entry.strings_seen, entry.strings_changed), (2, 1));
        assert_eq!(entry.tokens, [token(&("EMAIL", 3)).unwrap()]);
        assert_eq!(beside[0].event, Event::StaleToken);
        assert_eq!(beside[0].tokens, [token(&("IBAN", 7)).unwrap()]);
        assert!(entry.facts.contains_key(&Name::literal("reason")));
    }
}
