//! What the lanes do, told to the audit log: one entry for each message, and one for each thing
//! about it that somebody should know.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use cloak_stages::audit::{
    Digest, Direction, Entry, Event, Fact, Id, Name, Outcome, Session, Unrecorded,
};
use cloak_stages::detect::Detectors;
use cloak_stages::note::{Note, Observer};
use cloak_stages::offload::Work;
use cloak_stages::{Flow, Kind, Message};

use crate::audit::{CloseError, Handle, KeyFile, Log, Options};
use crate::config::{AuditConfig, Config};

/// Why a call is refused that cannot be recorded, `audit.required` being set. The code is that of
/// an internal error: the client cannot help it.
const UNRECORDED: i32 = -32603;

/// The audit log of one session.
pub(crate) struct Record {
    log: Log,
    handle: Handle,
}

impl Record {
    /// Opens the log that is configured.
    ///
    /// # Errors
    ///
    /// When the log or the key cannot be used.
    pub(crate) fn open(config: &AuditConfig) -> anyhow::Result<Self> {
        let options = Options {
            fsync: config.fsync,
            required: config.required,
            retention_days: config.retention_days,
            key: config.key.as_deref().map(KeyFile::load).transpose()?,
            warnings: Arc::new(|warning| tracing::warn!("audit: {warning}")),
            ..Options::default()
        };
        let (log, handle) = Log::open(&config.dir, options)?;
        let mut session = [0; 16];
        getrandom::fill(&mut session)?;
        let handle = handle.for_session(Session(u128::from_be_bytes(session)));
        Ok(Self { log, handle })
    }

    /// The way into the log for this session.
    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Tells of a session that starts: what it protects, and how it is configured.
    pub(crate) fn started(&self, config: &Config, detectors: &Detectors) {
        let categories = detectors
            .categories()
            .filter_map(|category| Name::parse(detectors.name(category)));
        let mut entry = Entry::new(Event::SessionStart)
            .fact(
                Name::literal("detectors"),
                categories.take(MAX_NAMES).collect::<Vec<_>>(),
            )
            .fact(
                Name::literal("config"),
                Digest::of(format!("{config:?}").as_bytes()),
            );
        if let Some(version) = Name::parse(env!("CARGO_PKG_VERSION")) {
            entry = entry.fact(Name::literal("version"), version);
        }
        // Whoever refuses to go on unrecorded does so at the first call.
        let _ = self.handle.record(entry);
    }

    /// Tells of the session's end, and closes the log.
    ///
    /// # Errors
    ///
    /// When the last entries could not be written.
    pub(crate) fn ended(self) -> Result<(), CloseError> {
        let _ = self.handle.record(Entry::new(Event::SessionEnd));
        drop(self.handle);
        self.log.close()
    }
}

/// Most categories that the start of a session names.
const MAX_NAMES: usize = Entry::MAX_FACTS;

/// Work on the messages of one server, of which each becomes an entry.
pub(crate) struct Recorded {
    pub(crate) work: Arc<dyn Work>,
    pub(crate) handle: Handle,
    pub(crate) upstream: String,
}

thread_local! {
    /// What the protection noted while this thread worked on a message.
    static NOTES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Passes notes on, and keeps them for the entry of the message that is worked on.
pub(crate) struct Ears<O>(pub(crate) O);

impl<O: Observer> Observer for Ears<O> {
    fn note(&self, upstream: &str, method: &str, note: &Note<'_>) {
        self.0.note(upstream, method, note);
        if let Some(entry) = entry_of(note) {
            NOTES.with_borrow_mut(|notes| notes.push(entry));
        }
    }
}

impl Work for Recorded {
    fn to_model(&self, msg: &mut Message) -> Flow {
        self.record(msg, Direction::ToModel, |msg| self.work.to_model(msg))
    }

    fn to_upstream(&self, msg: &mut Message) -> Flow {
        self.record(msg, Direction::ToUpstream, |msg| self.work.to_upstream(msg))
    }

    fn is_free(&self) -> bool {
        self.work.is_free()
    }
}

impl Recorded {
    fn record(
        &self,
        msg: &mut Message,
        direction: Direction,
        work: impl FnOnce(&mut Message) -> Flow,
    ) -> Flow {
        let since = Instant::now();
        let mut entry = self.entry(msg, direction);
        NOTES.with_borrow_mut(Vec::clear);
        let mut flow = work(msg);
        if msg.settle().is_err() {
            msg.refuse(UNRECORDED, "the gateway cannot put this message together");
        }
        let refused = msg.kind() == Kind::Error && entry.outcome.is_none();
        entry.outcome = Some(match flow {
            Flow::Back => Outcome::Refused,
            Flow::Drop => Outcome::Dropped,
            Flow::Forward if refused => Outcome::Failed,
            Flow::Forward => Outcome::Forwarded,
        });
        entry.bytes_out = msg.raw().len() as u64;
        entry.after = Some(Digest::of(msg.raw()));
        entry.latency = since.elapsed();
        let notes = NOTES.take();
        for found in notes.iter().filter(|note| note.event == Event::Message) {
            for (category, count) in &found.categories {
                entry.count(category.clone(), *count);
            }
        }
        let result = notes
            .into_iter()
            .filter(|note| note.event != Event::Message)
            .chain([entry])
            .try_for_each(|entry| self.put(entry));
        if let Err(why) = result
            && flow == Flow::Forward
        {
            msg.refuse(UNRECORDED, &why.to_string());
            flow = match msg.kind() {
                Kind::Notification => Flow::Drop,
                _ if direction == Direction::ToUpstream => Flow::Back,
                _ => Flow::Forward,
            };
        }
        flow
    }

    fn put(&self, mut entry: Entry) -> Result<(), Unrecorded> {
        entry.upstream = Some(self.name(&self.upstream));
        self.handle.record(entry)
    }

    /// A name as it is if it can be no value, otherwise what stands for it.
    fn name(&self, text: &str) -> Name {
        match self.handle.payload_key() {
            Some(key) => key.name(text),
            None => Name::parse(text).unwrap_or(Name::literal("unnamed")),
        }
    }

    /// What is known of a message before it is worked on.
    fn entry(&self, msg: &Message, direction: Direction) -> Entry {
        let method = msg.about().unwrap_or_default();
        let mut entry = Entry::new(event_of(method));
        entry.direction = Some(direction);
        entry.method = (!method.is_empty()).then(|| self.name(method));
        if method == "tools/call" && msg.kind() == Kind::Request {
            entry.tool = msg.text(&["name"]).map(|tool| self.name(&tool));
        }
        entry.id = msg.id().map(|id| {
            let text = String::from_utf8_lossy(id);
            match text.parse() {
                Ok(number) => Id::Number(number),
                Err(_) => Id::Name(self.name(text.trim_matches('"'))),
            }
        });
        // An error that a server sent is passed on; it is no failure of the gateway's.
        entry.outcome = (msg.kind() == Kind::Error).then_some(Outcome::Forwarded);
        entry.bytes_in = msg.raw().len() as u64;
        entry.before = self.handle.payload_key().map(|key| key.digest(msg.raw()));
        entry
    }
}

fn event_of(method: &str) -> Event {
    match method {
        "tools/call" => Event::ToolsCall,
        "resources/read" => Event::ResourcesRead,
        "prompts/get" => Event::PromptsGet,
        "sampling/createMessage" => Event::Sampling,
        "elicitation/create" => Event::Elicitation,
        "initialize" | "server/discover" => Event::Discover,
        _ if method.ends_with("/list") => Event::List,
        _ => Event::Message,
    }
}

/// The entry that a note becomes. Counts of what was sanitised belong to the message's own entry,
/// and are told as one of [`Event::Message`].
fn entry_of(note: &Note<'_>) -> Option<Entry> {
    let mut entry = match note {
        Note::Sanitized(_) => Entry::new(Event::Message),
        Note::CrossUpstream { tokens, refused } => {
            let number = Fact::from(tokens.len() as u64);
            let mut entry = Entry::new(Event::ForeignToken).fact(Name::literal("tokens"), number);
            entry.outcome = Some(if *refused {
                Outcome::Refused
            } else {
                Outcome::Forwarded
            });
            entry
        }
        Note::StaleTokens(tokens) => {
            let number = Fact::from(tokens.len() as u64);
            Entry::new(Event::StaleToken).fact(Name::literal("tokens"), number)
        }
        Note::FreshValues { refused, .. } => {
            let mut entry = Entry::new(Event::FreshValue);
            entry.outcome = Some(if *refused {
                Outcome::Refused
            } else {
                Outcome::Forwarded
            });
            entry
        }
        Note::Tripped { .. } => Entry::new(Event::TripwireHit),
        Note::UnknownMethod => Entry::new(Event::Refusal)
            .fact(Name::literal("reason"), Name::literal("unknown_method")),
        Note::Failed(_) => {
            Entry::new(Event::Error).fact(Name::literal("what"), Name::literal("protection"))
        }
        Note::TripwireFailed(_) => {
            Entry::new(Event::Error).fact(Name::literal("what"), Name::literal("tripwire"))
        }
        _ => return None,
    };
    let found: &[(&str, usize)] = match note {
        Note::Sanitized(found) | Note::FreshValues { found, .. } => found,
        Note::Tripped {
            category, count, ..
        } => &[(*category, *count)],
        _ => &[],
    };
    for (category, count) in found {
        if let Some(category) = Name::parse(category) {
            entry.count(category, *count as u64);
        }
    }
    Some(entry)
}
