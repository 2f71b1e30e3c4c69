//! A session between a client and one upstream, for the benches of the message path.

use std::sync::Arc;

use bytes::Bytes;
use cloak_stages::detect::{Detectors, Settings};
use cloak_stages::note::Silent;
use cloak_stages::protect::{FreshValues, Mode, Policy, Protect, Scope};
use cloak_stages::tripwire::Tripwire;
use cloak_stages::vault::{InMemory, Vault};
use cloak_stages::{Message, Peer, json};

pub(crate) struct Session {
    /// Protection and tripwire, as they work one after the other.
    pub(crate) work: (Protect, Tripwire),
    pub(crate) vault: Vault,
}

impl Session {
    pub(crate) fn new(detectors: &Arc<Detectors>) -> Self {
        let vault = Vault::new(detectors, InMemory::default());
        let policy = Policy {
            upstream: 0,
            name: "fs".into(),
            scope: Scope::Session,
            third_party: false,
            fresh_values: FreshValues::Allow,
            mode: Mode::Tokenize,
        };
        let observer = Arc::new(Silent);
        let tripwire = Tripwire::new(detectors.clone(), vault.clone(), &policy, observer.clone());
        let protect = Protect::new(detectors.clone(), vault.clone(), policy, observer);
        Self {
            work: (protect, tripwire),
            vault,
        }
    }
}

pub(crate) fn detectors() -> Arc<Detectors> {
    Arc::new(Detectors::new(&Settings::default()).unwrap())
}

/// The answer of a tool that returns `text`.
pub(crate) fn answer(text: &str) -> Bytes {
    let text = json::quote(text);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
    )
    .into()
}

pub(crate) fn parse(raw: &Bytes) -> Message {
    let mut msg = Message::parse(raw.clone(), Peer::Upstream(0), Peer::Client).unwrap();
    msg.set_answers(Bytes::from_static(b"tools/call"));
    msg
}

/// So many addresses.
pub(crate) fn addresses(count: usize) -> String {
    let all: Vec<_> = (0..count).map(|n| format!("user{n}@example.eu")).collect();
    all.join(" ")
}
