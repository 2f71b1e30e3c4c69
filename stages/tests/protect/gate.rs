//! A gateway without processes: sessions with upstreams, and messages through them.

use std::sync::{Arc, Mutex};

use cloak_stages::detect::{Detectors, Settings};
use cloak_stages::note::{Note, Observer};
use cloak_stages::offload::Work;
use cloak_stages::protect::{FreshValues, Mode, Policy, Protect, Scope};
use cloak_stages::tripwire::Tripwire;
use cloak_stages::vault::Vault;
use cloak_stages::vault::{InMemory, Numbers};
use cloak_stages::{Flow, Message, Peer};

/// What was told, one line each.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn note(&self, upstream: &str, method: &str, note: &Note<'_>) {
        let line = format!("{upstream} {method} {note:?}");
        self.0.lock().unwrap().push(line);
    }
}

/// One session.
pub(crate) struct Gate {
    detectors: Arc<Detectors>,
    pub(crate) vault: Vault,
    log: Arc<Log>,
    pub(crate) policy: Policy,
    /// Off, nothing is protected: the companion that shows a test can fail.
    pub(crate) protect: bool,
    pub(crate) tripwire: bool,
    pub(crate) longest: usize,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self::numbered(InMemory::default())
    }

    pub(crate) fn numbered(numbers: impl Numbers + 'static) -> Self {
        let detectors = Arc::new(Detectors::new(&Settings::default()).unwrap());
        Self {
            vault: Vault::new(&detectors, numbers),
            detectors,
            log: Arc::default(),
            policy: Policy {
                upstream: 0,
                name: "fs".into(),
                scope: Scope::Session,
                third_party: false,
                fresh_values: FreshValues::Report,
                mode: Mode::Tokenize,
            },
            protect: true,
            tripwire: true,
            longest: 0,
        }
    }

    pub(crate) fn lane(&self, upstream: u16) -> (Protect, Tripwire) {
        let policy = Policy {
            upstream,
            ..self.policy.clone()
        };
        let tripwire = Tripwire::new(
            self.detectors.clone(),
            self.vault.clone(),
            &policy,
            self.log.clone(),
        );
        let protect = Protect::new(
            self.detectors.clone(),
            self.vault.clone(),
            policy,
            self.log.clone(),
        )
        .longest_text(self.longest);
        (protect, tripwire)
    }

    /// A message from `upstream`, which answers `about` if it is an answer: what the client gets.
    pub(crate) fn from(&self, upstream: u16, about: &str, text: &str) -> (Flow, String) {
        let mut msg = parse(text, Peer::Upstream(upstream), Peer::Client, about);
        let (protect, tripwire) = self.lane(upstream);
        let mut flow = Flow::Forward;
        if self.protect {
            flow = protect.to_model(&mut msg);
        }
        if self.tripwire && flow == Flow::Forward {
            flow = Work::to_model(&tripwire, &mut msg);
        }
        (flow, print(msg))
    }

    /// A message to `upstream`: what it gets, or what is answered in its place.
    pub(crate) fn to(&self, upstream: u16, about: &str, text: &str) -> (Flow, String) {
        let mut msg = parse(text, Peer::Client, Peer::Upstream(upstream), about);
        let (protect, _) = self.lane(upstream);
        let flow = if self.protect {
            protect.to_upstream(&mut msg)
        } else {
            Flow::Forward
        };
        (flow, print(msg))
    }

    /// What the model sees of the result of `method`.
    pub(crate) fn shown(&self, method: &str, result: &str) -> String {
        let (head, tail) = (r#"{"jsonrpc":"2.0","id":1,"result":"#, "}");
        let (flow, text) = self.from(0, method, &format!("{head}{result}{tail}"));
        assert_eq!(flow, Flow::Forward);
        inner(&text, head, tail)
    }

    /// What the upstream gets as the `params` of `method`.
    pub(crate) fn told(&self, method: &str, params: &str) -> String {
        let head = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":"#);
        let (flow, text) = self.to(0, "", &format!("{head}{params}}}"));
        assert_eq!(flow, Flow::Forward, "{text}");
        inner(&text, &head, "}")
    }

    /// What was told so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.0.lock().unwrap().clone()
    }
}

fn inner(text: &str, head: &str, tail: &str) -> String {
    let inner = text
        .strip_prefix(head)
        .and_then(|rest| rest.strip_suffix(tail));
    inner.unwrap_or_else(|| panic!("{text}")).to_owned()
}

fn parse(text: &str, from: Peer, to: Peer, about: &str) -> Message {
    let mut msg = Message::parse(text.to_owned().into(), from, to)
        .unwrap_or_else(|why| panic!("{why}: {text}"));
    if msg.method().is_none() {
        msg.set_answers(about.to_owned().into());
    }
    msg
}

fn print(msg: Message) -> String {
    String::from_utf8(msg.into_bytes().unwrap().to_vec()).unwrap()
}
