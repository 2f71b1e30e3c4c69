//! Which texts of a message may be written down as they are.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cloak_stages::audit::{Id, Name, PayloadKey};
use cloak_stages::surfaces::{Way, is_known};
use cloak_stages::{Kind, Message, Peer, json};

use crate::router::SEPARATOR;

/// Most names of tools and prompts that are known of one server; later ones are digested.
const MAX_KNOWN: usize = 10_000;

/// Most calls whose tool is remembered until they are answered.
const MAX_CALLS: usize = 10_000;

/// The names of one server's tools and prompts, and the calls of them that are not answered yet.
///
/// What the server listed is written as it is, if it is a [`Name`]. A name that nobody listed was
/// made up by a model, which may have made it from anything, and only its digest is written.
pub(super) struct Names {
    /// What the router has put in front of them, as far as the client is concerned.
    prefix: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: HashSet<String>,
    calls: HashMap<Bytes, Name>,
}

impl Names {
    pub(super) fn new(upstream: &str) -> Self {
        Self {
            prefix: format!("{upstream}{SEPARATOR}"),
            state: Mutex::default(),
        }
    }

    /// The tool or prompt that a message is about.
    pub(super) fn tool(&self, msg: &Message, key: &PayloadKey) -> Option<Name> {
        let called = matches!(msg.about(), Some("tools/call" | "prompts/get"));
        match msg.kind() {
            Kind::Request if called => {
                let name = msg.text(&["name"])?;
                let bare = name.strip_prefix(&self.prefix).unwrap_or(&name);
                let mut state = self.state();
                let known = [&name, bare]
                    .into_iter()
                    .find(|name| state.known.contains(*name));
                let name = known.map_or_else(|| key.pseudonym(bare), |name| key.name(name));
                if state.calls.len() >= MAX_CALLS {
                    state.calls.clear();
                }
                state.calls.insert(msg.id()?.clone(), name.clone());
                Some(name)
            }
            Kind::Result | Kind::Error if called => self.state().calls.remove(msg.id()?),
            _ => None,
        }
    }

    /// Learns the names in a list that the server sent.
    pub(super) fn learn(&self, msg: &Message) {
        let list = match (msg.kind(), msg.about()) {
            (Kind::Result, Some("tools/list")) => "tools",
            (Kind::Result, Some("prompts/list")) => "prompts",
            _ => return,
        };
        let raw = msg.raw();
        let Some(at) = msg.field(&[list]) else { return };
        if json::shape(raw, at.start as usize) != json::Shape::Array {
            return;
        }
        let mut state = self.state();
        for item in json::items(raw, at.start as usize) {
            let name = (json::shape(raw, item) == json::Shape::Object)
                .then(|| json::member(raw, item, "name"))
                .flatten()
                .filter(|at| json::shape(raw, at.start as usize) == json::Shape::String);
            if let Some(at) = name
                && state.known.len() < MAX_KNOWN
            {
                state
                    .known
                    .insert(json::decode(at.unquoted().of(raw)).into_owned());
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The method a message is about: as it is if the protocol has it, else its digest.
pub(super) fn method(msg: &Message, key: &PayloadKey) -> Option<Name> {
    let method = msg.about().filter(|method| !method.is_empty())?;
    let known = [Way::ToModel, Way::ToUpstream]
        .into_iter()
        .any(|way| is_known(way, method, true) || is_known(way, method, false));
    Some(match known {
        true => key.name(method),
        false => key.pseudonym(method),
    })
}

/// The id of a message: a number, or a text of our own, as it is; of any other text the digest.
pub(super) fn id(msg: &Message, key: &PayloadKey) -> Option<Id> {
    let text = std::str::from_utf8(msg.id()?).ok()?;
    Some(match text.parse() {
        Ok(number) => Id::Number(number),
        Err(_) if [msg.from, msg.to].contains(&Peer::Gateway) => {
            Id::Name(key.name(text.trim_matches('"')))
        }
        Err(_) => Id::Name(key.pseudonym(text.trim_matches('"'))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> PayloadKey {
        PayloadKey::new([1; 32])
    }

    fn call(tool: &str) -> Message {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":"marie","method":"tools/call","params":{{"name":"{tool}"}}}}"#
        );
        Message::own(text, Peer::Client, Peer::Upstream(0))
    }

    #[test]
    fn only_what_a_server_listed_is_a_name() {
        let names = Names::new("a");
        let mut list = Message::result(
            b"1",
            r#"{"tools":[{"name":"send_mail"},{"name":7},8,{"title":"x"}]}"#,
            Peer::Upstream(0),
            Peer::Client,
        );
        list.set_answers("tools/list".into());
        names.learn(&list);
        let tool = |tool| names.tool(&call(tool), &key()).unwrap().to_string();
        assert_eq!(tool("send_mail"), "send_mail");
        assert_eq!(tool("a__send_mail"), "send_mail");
        assert!(tool("marie_curie").starts_with("hmac-"));
    }

    #[test]
    fn an_answer_is_of_the_tool_that_was_called() {
        let names = Names::new("a");
        let asked = names.tool(&call("x"), &key());
        let mut answer = Message::result(b"\"marie\"", "{}", Peer::Upstream(0), Peer::Client);
        answer.set_answers("tools/call".into());
        assert_eq!(names.tool(&answer, &key()), asked);
        assert_eq!(names.tool(&answer, &key()), None);
    }

    #[test]
    fn methods_and_ids_of_others_are_digested() {
        let msg = call("x");
        assert_eq!(method(&msg, &key()).unwrap().as_str(), "tools/call");
        assert!(matches!(id(&msg, &key()), Some(Id::Name(id)) if id.as_str().starts_with("hmac-")));
        let odd = r#"{"jsonrpc":"2.0","id":7,"method":"marie"}"#;
        let odd = Message::own(odd, Peer::Client, Peer::Upstream(0));
        assert!(method(&odd, &key()).unwrap().as_str().starts_with("hmac-"));
        assert_eq!(id(&odd, &key()), Some(Id::Number(7)));
    }
}
