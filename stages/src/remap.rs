//! Ids that mean something to one peer only, exchanged for ids that mean something to the other.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::filter::{Filter, Flow};
use crate::json::{self, Span};
use crate::message::{Kind, Message, Peer};

/// Most requests that may be in flight to one peer in either direction.
pub const MAX_IN_FLIGHT: usize = 10_000;

/// Gives every request an id of our own on the link inside, and its answer the sender's id again,
/// in the JSON type it had.
///
/// Request ids, progress tokens and the ids in cancellations are exchanged, in both directions. An
/// answer is let through only when it answers a request that went out on this very link, so that
/// no server can answer for another. What is cancelled is forgotten; an answer that comes all the
/// same is dropped. When the link ends, every request in flight is answered with an error, and
/// every question that the peer asked is withdrawn.
///
/// Ids towards the upstream are numbers counted from 1. Those towards the client are strings, the
/// link's name and a number: `"fs:12"`, so that an answer tells which link it is for.
pub struct Remap {
    name: Arc<str>,
    calls: BTreeMap<u64, Call>,
    /// The number of a call by sender and id.
    numbers: HashMap<(Peer, Bytes), u64>,
    next: u64,
    /// What the upstream asked the client.
    asked: BTreeMap<u64, Call>,
    /// Shared by all links of one name, so that an answer to a question asked before a restart
    /// answers nothing asked after it.
    questions: Arc<AtomicU64>,
    stray: Box<dyn FnMut(Stray) + Send>,
}

struct Call {
    from: Peer,
    id: Bytes,
    method: Bytes,
    progress: Option<Bytes>,
}

/// A message that belongs to nothing in flight, and was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stray {
    /// An answer to nothing that was asked.
    Answer,
    /// Cancels nothing that was asked.
    Cancellation,
    /// Progress of nothing that was asked, or not to be reported.
    Progress,
}

impl Remap {
    /// For the link called `name`; `questions` counts what upstreams of this name ask the client.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, questions: Arc<AtomicU64>) -> Self {
        Self {
            name: name.into(),
            calls: BTreeMap::new(),
            numbers: HashMap::new(),
            next: 0,
            asked: BTreeMap::new(),
            questions,
            stray: Box::new(|_| {}),
        }
    }

    /// Calls `tell` for each message that is dropped.
    #[must_use]
    pub fn on_stray(mut self, tell: impl FnMut(Stray) + Send + 'static) -> Self {
        self.stray = Box::new(tell);
        self
    }

    /// The name in an id that was given to a client: `fs` for the JSON text `"fs:12"`.
    #[must_use]
    pub fn name_in(id: &[u8]) -> Option<&str> {
        let id = std::str::from_utf8(id)
            .ok()?
            .strip_prefix('"')?
            .strip_suffix('"')?;
        id.rsplit_once(':').map(|(name, _)| name)
    }

    fn drop(&mut self, what: Stray) -> Flow {
        (self.stray)(what);
        Flow::Drop
    }

    /// A request that goes upstream.
    fn call(&mut self, msg: &mut Message) -> Flow {
        let Some(id) = msg.id().cloned() else {
            return Flow::Drop;
        };
        if self.calls.len() >= MAX_IN_FLIGHT {
            let why = format!(
                "more than {MAX_IN_FLIGHT} requests to \"{}\" are unanswered",
                self.name
            );
            msg.refuse(-32000, &why);
            return Flow::Back;
        }
        self.next += 1;
        let number = self.next;
        let ours = number.to_string();
        let call = self.open(msg, id.clone(), &ours);
        self.numbers.insert((call.from, id), number);
        self.calls.insert(number, call);
        Flow::Forward
    }

    /// A question that an upstream asks.
    fn question(&mut self, msg: &mut Message) -> Flow {
        let Some(id) = msg.id().cloned() else {
            return Flow::Drop;
        };
        if self.asked.len() >= MAX_IN_FLIGHT {
            msg.refuse(
                -32000,
                &format!("more than {MAX_IN_FLIGHT} requests are unanswered"),
            );
            return Flow::Back;
        }
        let number = self.questions.fetch_add(1, Ordering::Relaxed) + 1;
        let call = self.open(msg, id, &self.question_id(number));
        self.asked.insert(number, call);
        Flow::Forward
    }

    fn question_id(&self, number: u64) -> String {
        format!("\"{}:{number}\"", self.name)
    }

    /// Writes `ours` over the id and the progress token of `msg`, and returns what stood there.
    fn open(&self, msg: &mut Message, id: Bytes, ours: &str) -> Call {
        msg.set_id(ours.as_bytes());
        let token = msg.field(&["_meta", "progressToken"]);
        if let Some(at) = token {
            msg.edit(at, ours.as_bytes());
        }
        Call {
            from: msg.from,
            id,
            method: Bytes::copy_from_slice(msg.method().unwrap_or_default().as_bytes()),
            progress: token.map(|at| Bytes::copy_from_slice(at.of(msg.raw()))),
        }
    }

    fn answer_to_call(&mut self, msg: &mut Message) -> Flow {
        let Some(number) = msg.id().and_then(|id| number(id)) else {
            return self.drop(Stray::Answer);
        };
        let Some(call) = self.calls.remove(&number) else {
            return self.drop(Stray::Answer);
        };
        msg.call = Some(number);
        msg.set_id(&call.id);
        msg.to = call.from;
        msg.set_answers(call.method);
        self.numbers.remove(&(call.from, call.id));
        Flow::Forward
    }

    fn answer_to_question(&mut self, msg: &mut Message) -> Flow {
        let asked = msg.id().and_then(|id| self.question_number(id));
        let Some(question) = asked.and_then(|number| self.asked.remove(&number)) else {
            return self.drop(Stray::Answer);
        };
        msg.set_id(&question.id);
        msg.set_answers(question.method);
        Flow::Forward
    }

    fn question_number(&self, id: &[u8]) -> Option<u64> {
        let rest = id
            .strip_prefix(b"\"")?
            .strip_prefix(self.name.as_bytes())?
            .strip_prefix(b":")?;
        number(rest.strip_suffix(b"\"")?)
    }

    /// The sender cancels a call.
    fn cancel_call(&mut self, msg: &mut Message) -> Flow {
        let Some(at) = msg.field(&["requestId"]) else {
            return self.drop(Stray::Cancellation);
        };
        let key = (msg.from, Bytes::copy_from_slice(at.of(msg.raw())));
        let Some(number) = self.numbers.remove(&key) else {
            return self.drop(Stray::Cancellation);
        };
        self.calls.remove(&number);
        msg.edit(at, number.to_string().as_bytes());
        Flow::Forward
    }

    /// The upstream withdraws a question.
    fn cancel_question(&mut self, msg: &mut Message) -> Flow {
        let id = msg.field(&["requestId"]);
        let asked = id.and_then(|at| {
            let id = at.of(msg.raw());
            self.asked
                .iter()
                .find(|(_, call)| call.id == id)
                .map(|(number, _)| (at, *number))
        });
        let Some((at, number)) = asked else {
            return self.drop(Stray::Cancellation);
        };
        self.asked.remove(&number);
        msg.edit(at, self.question_id(number).as_bytes());
        Flow::Forward
    }

    fn progress_of_call(&mut self, msg: &mut Message) -> Flow {
        let token = msg.field(&["progressToken"]);
        let number = token.and_then(|at| number(at.of(msg.raw())));
        let call = number.and_then(|number| self.calls.get(&number));
        let (
            Some(at),
            Some(Call {
                from,
                progress: Some(theirs),
                ..
            }),
        ) = (token, call)
        else {
            return self.drop(Stray::Progress);
        };
        msg.to = *from;
        msg.call = number;
        msg.edit(at, theirs);
        Flow::Forward
    }

    fn progress_of_question(&mut self, msg: &mut Message) -> Flow {
        let token = msg.field(&["progressToken"]);
        let asked = token.and_then(|at| self.question_number(at.of(msg.raw())));
        let question = asked.and_then(|number| self.asked.get(&number));
        let (
            Some(at),
            Some(Call {
                progress: Some(theirs),
                ..
            }),
        ) = (token, question)
        else {
            return self.drop(Stray::Progress);
        };
        msg.edit(at, theirs);
        Flow::Forward
    }
}

impl Filter for Remap {
    fn to_upstream(&mut self, msg: &mut Message) -> Flow {
        match (msg.kind(), msg.method()) {
            (Kind::Request, _) => self.call(msg),
            (Kind::Result | Kind::Error, _) => self.answer_to_question(msg),
            (_, Some("notifications/cancelled")) => self.cancel_call(msg),
            (_, Some("notifications/progress")) => self.progress_of_question(msg),
            _ => Flow::Forward,
        }
    }

    fn to_model(&mut self, msg: &mut Message) -> Flow {
        match (msg.kind(), msg.method()) {
            (Kind::Request, _) => self.question(msg),
            (Kind::Result | Kind::Error, _) => self.answer_to_call(msg),
            (_, Some("notifications/cancelled")) => self.cancel_question(msg),
            (_, Some("notifications/progress")) => self.progress_of_call(msg),
            _ => Flow::Forward,
        }
    }

    fn ended(&mut self) -> Vec<Message> {
        let why = format!("\"{}\" ended before it answered", self.name);
        let mut last: Vec<Message> = std::mem::take(&mut self.calls)
            .into_iter()
            .map(|(number, call)| {
                let mut msg = Message::error(&call.id, -32000, &why, Peer::Gateway, call.from);
                msg.set_answers(call.method);
                msg.call = Some(number);
                msg
            })
            .collect();
        self.numbers.clear();
        for number in std::mem::take(&mut self.asked).into_keys() {
            let id = self.question_id(number);
            let text = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":{}}}}}"#,
                json::quote(&why),
            );
            last.push(Message::own(text, Peer::Gateway, Peer::Client));
        }
        last
    }
}

impl fmt::Debug for Remap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remap")
            .field("name", &self.name)
            .field("calls", &self.calls.len())
            .field("asked", &self.asked.len())
            .finish_non_exhaustive()
    }
}

/// An id of ours. Some servers send a number back as a string.
fn number(id: &[u8]) -> Option<u64> {
    let bare = match id.strip_prefix(b"\"") {
        Some(rest) => rest.strip_suffix(b"\"")?,
        None => id,
    };
    let plain = bare.iter().all(u8::is_ascii_digit) && bare.first() != Some(&b'0');
    if plain {
        std::str::from_utf8(bare).ok()?.parse().ok()
    } else {
        None
    }
}

/// The JSON text of the id that a message which could not be read seems to have had.
///
/// `head` and `tail` are its first and last bytes. Only good for answering with an error: the text
/// was never checked.
#[must_use]
pub fn salvage_id(head: &[u8], tail: &[u8]) -> Option<Bytes> {
    in_head(head)
        .or_else(|| in_tail(tail))
        .map(Bytes::copy_from_slice)
}

fn in_head(head: &[u8]) -> Option<&[u8]> {
    let start = head.iter().position(|byte| !byte.is_ascii_whitespace())?;
    json::members(head, start)
        .find(|(key, _)| key.of(head) == b"id")
        .and_then(|(_, at)| whole_id(head, at))
}

fn in_tail(tail: &[u8]) -> Option<&[u8]> {
    let key = memchr::memmem::rfind(tail, b"\"id\"")?;
    let colon = key + 4;
    let gap = tail
        .get(colon + 1..)?
        .iter()
        .position(|byte| !byte.is_ascii_whitespace())?;
    if tail.get(colon) == Some(&b':') {
        whole_id(tail, colon + 1 + gap)
    } else {
        None
    }
}

/// The string or number at `at`, unless it runs into the end of what is there.
fn whole_id(text: &[u8], at: usize) -> Option<&[u8]> {
    let end = json::skip(text, at);
    let id = Span::new(at, end).of(text);
    let good = match id.first()? {
        b'"' => id.len() > 1 && id.ends_with(b"\"") && json::check(id).is_ok(),
        _ => json::check(id).is_ok() && json::shape(text, at) == json::Shape::Number,
    };
    (good && end < text.len()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remap() -> Remap {
        Remap::new("fs", Arc::default())
    }

    fn from_client(text: &str) -> Message {
        Message::own(text.to_owned(), Peer::Client, Peer::Upstream(0))
    }

    fn from_upstream(text: &str) -> Message {
        Message::own(text.to_owned(), Peer::Upstream(0), Peer::Client)
    }

    fn sent(remap: &mut Remap, text: &str) -> Option<String> {
        let mut msg = from_client(text);
        (remap.to_upstream(&mut msg) == Flow::Forward).then(|| string(msg))
    }

    fn got(remap: &mut Remap, text: &str) -> Option<String> {
        let mut msg = from_upstream(text);
        (remap.to_model(&mut msg) == Flow::Forward).then(|| string(msg))
    }

    fn string(msg: Message) -> String {
        String::from_utf8(msg.into_bytes().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn ids_come_back_as_they_were_typed() {
        let mut remap = remap();
        for (id, ours) in [("1", "1"), ("\"1\"", "2"), ("0", "3"), ("-1.0e0", "4")] {
            let out = sent(&mut remap, &format!(r#"{{"method":"x","id":{id}}}"#)).unwrap();
            assert_eq!(out, format!(r#"{{"method":"x","id":{ours}}}"#));
        }
        for (id, ours) in [("\"1\"", "2"), ("1", "1"), ("-1.0e0", "\"4\""), ("0", "3")] {
            let back = got(&mut remap, &format!(r#"{{"id":{ours},"result":{{}}}}"#)).unwrap();
            assert_eq!(back, format!(r#"{{"id":{id},"result":{{}}}}"#));
        }
    }

    #[test]
    fn nobody_answers_what_was_not_asked() {
        let mut remap = remap();
        sent(&mut remap, r#"{"id":7,"method":"x"}"#).unwrap();
        for id in ["7", "2", "\"01\"", "1.0", "\"x\"", "null"] {
            assert_eq!(
                got(&mut remap, &format!(r#"{{"id":{id},"result":1}}"#)),
                None,
                "{id}"
            );
        }
        assert!(got(&mut remap, r#"{"id":1,"result":1}"#).is_some());
        assert_eq!(
            got(&mut remap, r#"{"id":1,"result":1}"#),
            None,
            "answered twice"
        );
    }

    #[test]
    fn answers_know_what_they_answer() {
        let mut remap = remap();
        let mut msg = Message::own(
            r#"{"id":"a","method":"tools/call"}"#,
            Peer::Gateway,
            Peer::Upstream(0),
        );
        remap.to_upstream(&mut msg);
        let mut answer = from_upstream(r#"{"id":1,"error":{"code":1,"message":"no"}}"#);
        remap.to_model(&mut answer);
        assert_eq!(
            (answer.to, answer.about(), answer.call),
            (Peer::Gateway, Some("tools/call"), Some(1))
        );
    }

    #[test]
    fn progress_is_reported_under_the_callers_token() {
        let mut remap = remap();
        let with = r#"{"id":7,"method":"x","params":{"_meta":{"progressToken":"p"}}}"#;
        let out = sent(&mut remap, with).unwrap();
        assert_eq!(out, with.replace(":7", ":1").replace("\"p\"", "1"));
        sent(&mut remap, r#"{"id":8,"method":"x"}"#).unwrap();
        let note = |token| {
            format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{token}}}}}"#)
        };
        assert_eq!(got(&mut remap, &note("1")), Some(note("\"p\"")));
        assert_eq!(got(&mut remap, &note("2")), None, "nobody asked for it");
        got(&mut remap, r#"{"id":1,"result":1}"#).unwrap();
        assert_eq!(got(&mut remap, &note("1")), None, "the call is over");
    }

    #[test]
    fn cancelled_calls_are_forgotten() {
        let mut remap = remap();
        sent(&mut remap, r#"{"id":"7","method":"x"}"#).unwrap();
        let cancel =
            |id| format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
        assert_eq!(sent(&mut remap, &cancel("7")), None, "another type");
        assert_eq!(sent(&mut remap, &cancel("\"7\"")), Some(cancel("1")));
        assert_eq!(got(&mut remap, r#"{"id":1,"result":1}"#), None);
        assert!(remap.ended().is_empty());
    }

    #[test]
    fn questions_go_to_the_client_and_answers_come_back() {
        let mut remap = remap();
        let asked = got(&mut remap, r#"{"id":0,"method":"roots/list"}"#).unwrap();
        assert_eq!(asked, r#"{"id":"fs:1","method":"roots/list"}"#);
        assert_eq!(Remap::name_in(b"\"fs:1\""), Some("fs"));
        assert_eq!(sent(&mut remap, r#"{"id":"db:1","result":1}"#), None);
        let back = sent(&mut remap, r#"{"id":"fs:1","result":1}"#);
        assert_eq!(back.as_deref(), Some(r#"{"id":0,"result":1}"#));
        got(&mut remap, r#"{"id":"z","method":"roots/list"}"#).unwrap();
        let withdrawn = r#"{"method":"notifications/cancelled","params":{"requestId":"z"}}"#;
        assert_eq!(
            got(&mut remap, withdrawn),
            Some(withdrawn.replace("\"z\"", "\"fs:2\""))
        );
        assert_eq!(sent(&mut remap, r#"{"id":"fs:2","result":1}"#), None);
    }

    #[test]
    fn the_end_answers_everything() {
        let mut remap = remap();
        sent(&mut remap, r#"{"id":"a","method":"x"}"#).unwrap();
        got(&mut remap, r#"{"id":5,"method":"roots/list"}"#).unwrap();
        let last: Vec<String> = remap.ended().into_iter().map(string).collect();
        assert_eq!(last.len(), 2);
        assert!(last[0].contains(r#""id":"a","error""#) && last[0].contains("fs"));
        assert!(last[1].contains(r#""requestId":"fs:1""#));
        assert!(remap.ended().is_empty());
    }

    #[test]
    fn ids_of_unreadable_messages() {
        let id = |text: &str| salvage_id(text.as_bytes(), text.as_bytes());
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":12,"result":{"a":[[[["#).unwrap(),
            "12"
        );
        assert_eq!(
            id(r#"{"result":{"id":3,"x":nope},"jsonrpc":"2.0","id":"a"}"#).unwrap(),
            "\"a\""
        );
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":12"#),
            None,
            "cut: it may have been 123"
        );
        assert_eq!(id("plain text"), None);
        assert_eq!(id(r#"{"id":[1]}"#), None);
    }
}
