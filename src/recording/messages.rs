//! The messages of one server, each of which becomes an entry.

use std::sync::Arc;
use std::time::Instant;

use cloak_stages::audit::{Direction, Entry, Event, Name, Outcome};
use cloak_stages::offload::Work;
use cloak_stages::{Flow, Kind, Message, Peer};

use super::desk::own_error;
use super::names::{self, Names};
use super::notes::Notes;
use crate::audit::{Handle, Payloads};

/// Why a call is refused that cannot be recorded, `audit.required` being set. The code is that of
/// an internal error: the client cannot help it.
const UNRECORDED: i32 = -32603;

/// Work on the messages of one server, and the record of it.
pub(crate) struct Recorded {
    /// What is done, the first innermost, under the names that its time is told by.
    stages: Vec<(Name, Arc<dyn Work>)>,
    handle: Handle,
    upstream: Name,
    names: Names,
}

impl Recorded {
    /// Below how many bytes a message on which nothing else is done is recorded at once. Beyond,
    /// its payloads may have to be digested where it is.
    pub(crate) const INLINE: usize = 1 << 20;

    /// Records the messages of the server called `upstream`, on which `stages` work.
    pub(crate) fn new(upstream: &str, stages: Vec<(Name, Arc<dyn Work>)>, handle: Handle) -> Self {
        Self {
            stages,
            upstream: Name::parse(upstream).unwrap_or(Name::literal("unnamed")),
            handle,
            names: Names::new(upstream),
        }
    }

    fn record(&self, msg: &mut Message, direction: Direction) -> Flow {
        let (since, read_in) = (Instant::now(), msg.read_in);
        let before = msg.raw().clone();
        let mut entry = self.entry(msg, direction);
        let (mut flow, notes) = Notes::of(|| self.work(msg, direction, &mut entry));
        if msg.settle().is_err() {
            msg.refuse(UNRECORDED, "the gateway cannot put this message together");
        }
        if direction == Direction::ToModel {
            self.names.learn(msg);
        }
        let failed = msg.kind() == Kind::Error && entry.outcome.is_none();
        entry.outcome = Some(match flow {
            Flow::Back => Outcome::Refused,
            Flow::Drop => Outcome::Dropped,
            Flow::Forward if failed => Outcome::Failed,
            Flow::Forward => entry.outcome.unwrap_or(Outcome::Forwarded),
        });
        let beside = notes.tell(&mut entry);
        let after = msg.raw().clone();
        entry.bytes_out = after.len() as u64;
        entry.latency = read_in + since.elapsed();
        let mut told = Ok(());
        for entry in beside {
            let one = self.handle.record(self.named(entry));
            told = told.and(one);
        }
        let payloads = Payloads::new(&before, &after);
        let last = self.handle.record_with(self.named(entry), payloads);
        msg.told = true;
        if let Err(why) = told.and(last)
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

    fn work(&self, msg: &mut Message, direction: Direction, entry: &mut Entry) -> Flow {
        let mut since = Instant::now();
        let mut step = |(name, work): &(Name, Arc<dyn Work>)| {
            let flow = match direction {
                Direction::ToUpstream => work.to_upstream(msg),
                _ => work.to_model(msg),
            };
            let now = Instant::now();
            entry.spent(name.clone(), now - since);
            since = now;
            Some(flow).filter(|flow| *flow != Flow::Forward)
        };
        let stopped = match direction {
            Direction::ToUpstream => self.stages.iter().rev().find_map(&mut step),
            _ => self.stages.iter().find_map(&mut step),
        };
        stopped.unwrap_or(Flow::Forward)
    }

    /// What is known of a message before it is worked on.
    fn entry(&self, msg: &Message, direction: Direction) -> Entry {
        let mut entry = match (msg.kind(), msg.from) {
            (Kind::Error, Peer::Gateway) => own_error(msg),
            _ => Entry::new(event_of(msg.about().unwrap_or_default())),
        };
        entry.direction = Some(direction);
        if let Some(key) = self.handle.payload_key() {
            entry.method = names::method(msg, key);
            entry.tool = self.names.tool(msg, key);
            entry.id = names::id(msg, key);
        }
        // An error that a server or the client sent is passed on; it is no failure of the gateway's.
        if msg.kind() == Kind::Error && entry.outcome.is_none() {
            entry.outcome = Some(Outcome::Forwarded);
        }
        entry.bytes_in = msg.raw().len() as u64;
        entry.spent(Name::literal("read"), msg.read_in);
        entry
    }

    fn named(&self, mut entry: Entry) -> Entry {
        entry.upstream = Some(self.upstream.clone());
        entry
    }
}

impl Work for Recorded {
    fn to_model(&self, msg: &mut Message) -> Flow {
        self.record(msg, Direction::ToModel)
    }

    fn to_upstream(&self, msg: &mut Message) -> Flow {
        self.record(msg, Direction::ToUpstream)
    }

    fn is_free(&self) -> bool {
        self.stages.iter().all(|(_, work)| work.is_free())
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
