//! What the client is refused without a server having been asked, and what a server's end costs it.

use cloak_stages::audit::{Direction, Entry, Event, Fact, Name, Outcome};
use cloak_stages::{Filter, Flow, Kind, Message, Peer};

use super::names;
use crate::audit::Handle;

/// Stands beside the client and tells of each error that no [`Recorded`](super::Recorded) told of:
/// those of the router.
pub(crate) struct Desk {
    handle: Handle,
    /// The servers, by their place in the configuration.
    upstreams: Vec<Name>,
}

impl Desk {
    pub(crate) fn new<'a>(upstreams: impl IntoIterator<Item = &'a str>, handle: Handle) -> Self {
        let name = |name| Name::parse(name).unwrap_or(Name::literal("unnamed"));
        Self {
            handle,
            upstreams: upstreams.into_iter().map(name).collect(),
        }
    }

    /// Tells of a line that was no message, and was answered with this code.
    pub(crate) fn unreadable(handle: &Handle, code: i32) {
        let mut entry = error(code);
        entry.direction = Some(Direction::ToUpstream);
        // It is refused already.
        let _ = handle.record(entry);
    }

    fn tell(&self, msg: &Message) {
        let mut entry = own_error(msg);
        entry.direction = Some(Direction::ToModel);
        if let Peer::Upstream(index) = msg.from {
            entry.upstream = self.upstreams.get(usize::from(index)).cloned();
        }
        if let Some(key) = self.handle.payload_key() {
            entry.method = names::method(msg, key);
            entry.id = names::id(msg, key);
        }
        entry.bytes_out = msg.raw().len() as u64;
        // It is an error already.
        let _ = self.handle.record(entry);
    }
}

impl Filter for Desk {
    fn to_model(&mut self, msg: &mut Message) -> Flow {
        if msg.kind() == Kind::Error && !msg.told {
            self.tell(msg);
            msg.told = true;
        }
        Flow::Forward
    }
}

/// The entry of an error that the gateway answered with.
pub(super) fn own_error(msg: &Message) -> Entry {
    let code = msg
        .field(&["code"])
        .and_then(|at| std::str::from_utf8(at.of(msg.raw())).ok()?.parse().ok());
    error(code.unwrap_or(0))
}

/// A refusal, or a failure if whoever asked could not help it.
fn error(code: i32) -> Entry {
    // The codes of JSON-RPC 2.0 section 5.1, and the router's own.
    let (event, outcome, reason) = match code {
        -32700 => (Event::Refusal, Outcome::Refused, "not_json"),
        -32600 => (Event::Refusal, Outcome::Refused, "invalid_request"),
        -32601 => (Event::Refusal, Outcome::Refused, "unknown_method"),
        -32602 => (Event::Refusal, Outcome::Refused, "invalid_params"),
        -32001 => (Event::Error, Outcome::Failed, "timeout"),
        -32000 => (Event::Error, Outcome::Failed, "server_down"),
        _ => (Event::Error, Outcome::Failed, "internal"),
    };
    let mut entry = Entry::new(event)
        .fact(Name::literal("code"), Fact::Number(i64::from(code)))
        .fact(Name::literal("reason"), Name::literal(reason));
    entry.outcome = Some(outcome);
    entry
}
