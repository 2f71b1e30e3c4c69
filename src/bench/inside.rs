//! The protection in this process, without pipes: what the work itself costs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cloak_stages::detect::Detectors;
use cloak_stages::note::Silent;
use cloak_stages::offload::Work;
use cloak_stages::protect::{FreshValues, Mode, Policy, Protect, Scope};
use cloak_stages::tripwire::Tripwire;
use cloak_stages::vault::{InMemory, Vault};
use cloak_stages::{Flow, Message, Peer, json};

/// Room for the values of the largest texts and the oldest sessions that are measured.
const ROOM: usize = 8_000_000;

/// A session with one upstream.
pub(super) struct Inside {
    work: (Protect, Tripwire),
    pub(super) vault: Vault,
}

impl Inside {
    pub(super) fn new(detectors: &Arc<Detectors>) -> Self {
        let vault = Vault::with_room(detectors, InMemory::default(), ROOM);
        let policy = policy(Mode::Tokenize);
        let observer = Arc::new(Silent);
        let tripwire = Tripwire::new(
            Arc::clone(detectors),
            vault.clone(),
            &policy,
            observer.clone(),
        );
        let protect = Protect::new(Arc::clone(detectors), vault.clone(), policy, observer);
        Self {
            work: (protect, tripwire),
            vault,
        }
    }

    /// An answer on its way to the model, from its bytes to the bytes that leave.
    pub(super) fn to_model(&self, answer: &Bytes) -> (Duration, Bytes) {
        timed(|| {
            let mut msg = read_answer(answer);
            assert_eq!(self.work.to_model(&mut msg), Flow::Forward);
            written(msg)
        })
    }

    /// A call on its way to the upstream.
    pub(super) fn to_upstream(&self, call: &Bytes) -> (Duration, Bytes) {
        timed(|| {
            let read = Message::parse(call.clone(), Peer::Client, Peer::Upstream(0));
            let mut msg = read.expect("a call is a message");
            assert_eq!(self.work.to_upstream(&mut msg), Flow::Forward);
            written(msg)
        })
    }
}

/// How the upstream is treated: as in a configuration that says nothing about it.
pub(super) fn policy(mode: Mode) -> Policy {
    Policy {
        upstream: 0,
        name: "bench".to_owned(),
        scope: Scope::Session,
        third_party: false,
        fresh_values: FreshValues::Allow,
        mode,
    }
}

pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let done = work();
    (begun.elapsed(), done)
}

/// The line in which a tool returns `text`.
pub(super) fn answer(text: &str) -> Bytes {
    let text = json::quote(text);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
    )
    .into()
}

/// The line in which the model hands `text` to a tool.
pub(super) fn call(text: &str) -> Bytes {
    let text = json::quote(text);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"take","arguments":{{"text":{text}}}}}}}"#
    )
    .into()
}

pub(super) fn read_answer(answer: &Bytes) -> Message {
    let read = Message::parse(answer.clone(), Peer::Upstream(0), Peer::Client);
    let mut msg = read.expect("an answer is a message");
    msg.set_answers(Bytes::from_static(b"tools/call"));
    msg
}

pub(super) fn written(msg: Message) -> Bytes {
    msg.into_bytes().expect("edits do not overlap")
}
