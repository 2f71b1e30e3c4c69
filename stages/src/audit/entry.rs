//! One entry: what happened, told in enumerations, numbers, digests and names.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::chain::Session;
use super::name::{Digest, Id, Name, Token};
use super::note::{Signature, VerifierKey};

/// An enumeration whose variants have one spelling each in the log.
macro_rules! enumeration {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its spelling in the log.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The variant spelled so, if there is one.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

enumeration! {
    /// What happened; `event_type` in the log.
    Event {
        /// A client connected. Facts: version, digests of the configuration's file and of all
        /// settings, detectors, digests of the model's files.
        SessionStart = "session_start",
        /// A client left.
        SessionEnd = "session_end",
        /// `tools/call`, the request or its response.
        ToolsCall = "tools_call",
        /// `resources/read`, the request or its response.
        ResourcesRead = "resources_read",
        /// `prompts/get`, the request or its response.
        PromptsGet = "prompts_get",
        /// `sampling/createMessage`, the request or its response.
        Sampling = "sampling",
        /// `elicitation/create`, the request or its response.
        Elicitation = "elicitation",
        /// `tools/list`, `resources/list`, `prompts/list` and the like.
        List = "list",
        /// `initialize`, or another message by which two sides learn what the other can do.
        Discover = "discover",
        /// Any other message that passed.
        Message = "message",
        /// A message was not let through. Fact: the reason, or the JSON-RPC error code.
        Refusal = "refusal",
        /// A value was found in a message that should have held none, just before it left.
        TripwireHit = "tripwire_hit",
        /// A token of a value that another server returned. Fact: how many.
        ForeignToken = "foreign_token",
        /// A token of another session, whose value is not known any more. Fact: how many.
        StaleToken = "stale_token",
        /// The model wrote a value of a protected category by itself.
        FreshValue = "fresh_value",
        /// A server was started again. Fact: how often it was started by now.
        Restart = "restart",
        /// Something failed: a server, or the protection. Fact: what, or the JSON-RPC error code.
        Error = "error",
        /// The key that signs checkpoints is another one from here on.
        KeyChange = "key_change",
        /// A process began to write to this log. Facts: version, and the session it goes on from.
        LogOpened = "log_opened",
        /// A process stopped writing in good order.
        LogClosed = "log_closed",
        /// The line before was torn by a crash. Facts: its length and its digest.
        LogRepaired = "log_repaired",
        /// Entries were lost before they were written. Fact: how many.
        Gap = "gap",
        /// A signed checkpoint was made. Facts: its size, root, key and signature.
        Checkpoint = "checkpoint",
        /// Old days were removed. Fact: the first entry that is kept.
        Pruned = "pruned",
    }
}

enumeration! {
    /// Which way a message went.
    Direction {
        /// From a server to the client, and so to the model.
        ToModel = "to_model",
        /// From the client to a server.
        ToUpstream = "to_upstream",
    }
}

enumeration! {
    /// What became of a message.
    Outcome {
        /// It was passed on.
        Forwarded = "forwarded",
        /// It was answered with a refusal.
        Refused = "refused",
        /// It was dropped without an answer, as befits a notification.
        Dropped = "dropped",
        /// Handling it failed, and its sender was told so.
        Failed = "failed",
        /// Its sender took it back.
        Cancelled = "cancelled",
        /// Its receiver was gone.
        Gone = "gone",
    }
}

/// One event, as its observer knows it; the chain adds sequence, time, session and hashes.
///
/// Every field has a type that cannot hold a value, so all of them are public.
///
/// ```
/// use cloak_stages::audit::{Direction, Entry, Event, Name, Outcome};
///
/// let mut entry = Entry::new(Event::ToolsCall);
/// entry.direction = Some(Direction::ToUpstream);
/// entry.outcome = Some(Outcome::Forwarded);
/// entry.tool = Name::parse("send_mail");
/// entry.count(Name::literal("EMAIL"), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// What happened.
    pub event: Event,
    /// Which way the message went.
    pub direction: Option<Direction>,
    /// What became of it.
    pub outcome: Option<Outcome>,
    /// The server's name in the configuration.
    pub upstream: Option<Name>,
    /// The JSON-RPC method.
    pub method: Option<Name>,
    /// The tool, prompt or kind of resource that was asked for.
    pub tool: Option<Name>,
    /// The JSON-RPC id.
    pub id: Option<Id>,
    /// Length of the message as it arrived, in bytes.
    pub bytes_in: u64,
    /// Length of the message as it left, in bytes.
    pub bytes_out: u64,
    /// JSON strings that were looked at.
    pub strings_seen: u64,
    /// JSON strings that were changed.
    pub strings_changed: u64,
    /// Findings per category; see [`Entry::count`].
    pub categories: BTreeMap<Name, u64>,
    /// The tokens that were put in or taken out, at most [`Entry::MAX_TOKENS`] of them are kept.
    pub tokens: Vec<Token>,
    /// Uses of tokens that are not among them.
    pub more_tokens: u64,
    /// The payload as it arrived, under a key: [`super::PayloadKey::digest`].
    pub before: Option<Digest>,
    /// SHA-256 of the payload as it left.
    pub after: Option<Digest>,
    /// Time spent in the gateway.
    pub latency: Duration,
    /// Time spent per stage; see [`Entry::spent`].
    pub timing: BTreeMap<Name, Duration>,
    /// What else is known about this kind of event; see [`Entry::fact`].
    pub facts: BTreeMap<Name, Fact>,
}

impl Entry {
    /// The most tokens one entry names; how many more there were is a number.
    pub const MAX_TOKENS: usize = 64;
    /// The most categories one entry names; further ones are counted as `OTHER`.
    pub const MAX_CATEGORIES: usize = 32;
    /// The most stages one entry has a time for, and the most facts it holds.
    pub const MAX_FACTS: usize = 32;

    /// An entry about which nothing is known yet but its kind.
    #[must_use]
    pub fn new(event: Event) -> Self {
        Self {
            event,
            direction: None,
            outcome: None,
            upstream: None,
            method: None,
            tool: None,
            id: None,
            bytes_in: 0,
            bytes_out: 0,
            strings_seen: 0,
            strings_changed: 0,
            categories: BTreeMap::new(),
            tokens: Vec::new(),
            more_tokens: 0,
            before: None,
            after: None,
            latency: Duration::ZERO,
            timing: BTreeMap::new(),
            facts: BTreeMap::new(),
        }
    }

    /// Adds `findings` to the count of a category.
    pub fn count(&mut self, category: Name, findings: u64) {
        let known = self.categories.contains_key(&category);
        let key = if known || self.categories.len() + 1 < Self::MAX_CATEGORIES {
            category
        } else {
            OTHER
        };
        let count = self.categories.entry(key).or_default();
        *count = count.saturating_add(findings);
    }

    /// Adds the time a stage took; of one stage too many it is left out.
    pub fn spent(&mut self, stage: Name, time: Duration) {
        if self.timing.len() < Self::MAX_FACTS || self.timing.contains_key(&stage) {
            let sum = self.timing.entry(stage).or_default();
            *sum = sum.saturating_add(time);
        }
    }

    /// Adds a fact; one of the same name is replaced, and one too many is left out.
    #[must_use]
    pub fn fact(mut self, name: Name, fact: impl Into<Fact>) -> Self {
        if self.facts.len() < Self::MAX_FACTS || self.facts.contains_key(&name) {
            self.facts.insert(name, fact.into());
        }
        self
    }
}

const OTHER: Name = Name::literal("OTHER");

/// One thing known about an event beyond the common fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// A count, a size, a duration in the unit its name says, an error code.
    Number(i64),
    /// A name.
    Name(Name),
    /// Some names, at most [`Entry::MAX_FACTS`].
    Names(Vec<Name>),
    /// A digest: of a configuration, of a model, of a Merkle tree.
    Digest(Digest),
    /// A public key.
    Key(VerifierKey),
    /// An Ed25519 signature.
    Signature(Signature),
    /// Another session.
    Session(Session),
}

impl From<u64> for Fact {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Fact {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<Name> for Fact {
    fn from(name: Name) -> Self {
        Self::Name(name)
    }
}

impl From<Vec<Name>> for Fact {
    fn from(names: Vec<Name>) -> Self {
        Self::Names(names)
    }
}

impl From<Digest> for Fact {
    fn from(digest: Digest) -> Self {
        Self::Digest(digest)
    }
}

impl From<VerifierKey> for Fact {
    fn from(key: VerifierKey) -> Self {
        Self::Key(key)
    }
}

impl From<Session> for Fact {
    fn from(session: Session) -> Self {
        Self::Session(session)
    }
}

impl From<Signature> for Fact {
    fn from(signature: Signature) -> Self {
        Self::Signature(signature)
    }
}

/// Whoever takes entries: a log, or in a test a plain vector.
pub trait Recorder {
    /// Takes the entry without waiting for anything.
    ///
    /// # Errors
    ///
    /// Only where nothing may happen unrecorded and the entry cannot be recorded: the message it
    /// tells of must then be refused.
    fn record(&mut self, entry: Entry) -> Result<(), Unrecorded>;
}

impl Recorder for Vec<Entry> {
    fn record(&mut self, entry: Entry) -> Result<(), Unrecorded> {
        self.push(entry);
        Ok(())
    }
}

/// An entry could not be recorded although the configuration demands it (`audit.required`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the audit log cannot be written and `audit.required` is true, so this call is refused; see the gateway's log for the cause"
)]
pub struct Unrecorded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_its_own_spelling_and_is_found_by_it() {
        for event in Event::ALL {
            assert_eq!(Event::parse(event.as_str()), Some(*event));
            assert!(Name::parse(event.as_str()).is_some());
        }
        assert_eq!(Event::parse("no_such_event"), None);
    }

    #[test]
    fn categories_are_bounded_and_nothing_is_lost_from_the_sum() {
        let mut entry = Entry::new(Event::ToolsCall);
        for letter in ('a'..='z').chain('A'..='Z') {
            entry.count(Name::parse(&letter.to_string()).unwrap(), 2);
        }
        entry.count(Name::literal("a"), 1);
        assert_eq!(entry.categories.len(), Entry::MAX_CATEGORIES);
        assert_eq!(entry.categories.values().sum::<u64>(), 2 * 52 + 1);
        assert_eq!(entry.categories[&Name::literal("a")], 3);
    }

    #[test]
    fn facts_are_bounded() {
        let mut entry = Entry::new(Event::SessionStart);
        for letter in ('a'..='z').chain('A'..='Z') {
            entry = entry.fact(Name::parse(&letter.to_string()).unwrap(), 1u64);
        }
        assert_eq!(entry.facts.len(), Entry::MAX_FACTS);
    }
}
