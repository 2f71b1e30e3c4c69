//! Several messages on one line: the batches of JSON-RPC 2.0 section 6.
//!
//! MCP has them in revision 2025-03-26 only. A batch is taken apart before anything looks at it,
//! and its answers are put together again, so that no stage ever sees one.

use std::collections::VecDeque;

use bytes::{BufMut, Bytes, BytesMut};

use crate::json::{self, NotJson, Shape};
use crate::message::{Kind, Message};

/// The MCP revision that has batches.
const REVISION: &str = "2025-03-26";

/// Most messages in one batch.
pub const MAX_BATCH: usize = 10_000;

/// The messages in the batch `raw`. None when `raw` is not an array.
///
/// # Errors
///
/// When `raw` is not JSON.
pub fn split(raw: &Bytes) -> Result<Option<Vec<Bytes>>, NotJson> {
    let start = raw
        .iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .unwrap_or(0);
    if json::shape(raw, start) != Shape::Array {
        return Ok(None);
    }
    json::check(raw)?;
    let parts = json::items(raw, start).take(MAX_BATCH + 1);
    Ok(Some(
        parts.map(|at| raw.slice(at..json::skip(raw, at))).collect(),
    ))
}

/// Which batches of a client are not fully answered yet.
#[derive(Debug, Default)]
pub struct Batches {
    allowed: bool,
    open: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    /// Ids of requests without an answer.
    waiting: Vec<Bytes>,
    answers: Vec<Bytes>,
}

impl Batches {
    /// Whether the revision that was agreed on has batches.
    #[must_use]
    pub fn allowed(&self) -> bool {
        self.allowed
    }

    /// A batch with requests of these ids came in; `answers` are those to what else was in it.
    /// Returns the batch of answers if they are all there are.
    pub fn opened(&mut self, waiting: Vec<Bytes>, answers: Vec<Bytes>) -> Option<Bytes> {
        self.open.push_back(Open { waiting, answers });
        self.complete(self.open.len() - 1)
    }

    /// The call `id` was cancelled and will not be answered. Returns the batch if it was the last.
    pub fn cancelled(&mut self, id: &[u8]) -> Option<Bytes> {
        self.close(id, None)
    }

    /// Takes `bytes`, the rendered form of `msg`, if it belongs to a batch, and returns what is to
    /// be sent now: itself, nothing yet, or the complete batch.
    pub fn answer(&mut self, msg: &Message, bytes: Bytes) -> Option<Bytes> {
        self.notice(msg);
        match msg.id() {
            Some(id) if matches!(msg.kind(), Kind::Result | Kind::Error) && self.waits_for(id) => {
                self.close(id, Some(bytes))
            }
            _ => Some(bytes),
        }
    }

    /// Whether an answer with this id has to be collected.
    #[must_use]
    pub fn waits_for(&self, id: &[u8]) -> bool {
        self.open
            .iter()
            .any(|open| open.waiting.iter().any(|waiting| waiting == id))
    }

    /// Learns from the answer to `initialize` which revision was agreed on.
    pub fn notice(&mut self, msg: &Message) {
        if msg.kind() == Kind::Result && msg.about() == Some("initialize") {
            self.allowed = msg.text(&["protocolVersion"]).as_deref() == Some(REVISION);
        }
    }

    fn close(&mut self, id: &[u8], answer: Option<Bytes>) -> Option<Bytes> {
        let at = self
            .open
            .iter()
            .position(|open| open.waiting.iter().any(|wait| wait == id))?;
        let open = &mut self.open[at];
        let place = open.waiting.iter().position(|waiting| waiting == id)?;
        open.waiting.swap_remove(place);
        open.answers.extend(answer);
        self.complete(at)
    }

    /// The answers of a batch, once they are all there; None as well if there are none at all.
    fn complete(&mut self, at: usize) -> Option<Bytes> {
        if !self.open.get(at)?.waiting.is_empty() {
            return None;
        }
        let answers = self.open.remove(at)?.answers;
        if answers.is_empty() {
            return None;
        }
        let mut out =
            BytesMut::with_capacity(answers.iter().map(|one| one.len() + 1).sum::<usize>() + 1);
        for (at, one) in answers.iter().enumerate() {
            out.put_u8(if at == 0 { b'[' } else { b',' });
            out.put_slice(one);
        }
        out.put_u8(b']');
        Some(out.freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Peer;

    fn answer(id: &str) -> (Message, Bytes) {
        let msg = Message::result(id.as_bytes(), "{}", Peer::Upstream(0), Peer::Client);
        let bytes = msg.clone().into_bytes().unwrap();
        (msg, bytes)
    }

    #[test]
    fn batches_are_split_by_their_items() {
        let parts = split(&Bytes::from_static(b" [ {\"id\":1} , 2,[3] ]"))
            .unwrap()
            .unwrap();
        assert_eq!(parts, ["{\"id\":1}", "2", "[3]"]);
        assert_eq!(split(&Bytes::from_static(b"{}")).unwrap(), None);
        assert!(split(&Bytes::from_static(b"[1,")).is_err());
    }

    #[test]
    fn answers_wait_for_each_other() {
        let mut batches = Batches::default();
        let ids = vec!["1".into(), "\"1\"".into(), "3".into()];
        assert_eq!(batches.opened(ids, vec![]), None);
        let (one, bytes) = answer("1");
        assert_eq!(batches.answer(&one, bytes), None);
        let (other, bytes) = answer("9");
        assert_eq!(
            batches.answer(&other, bytes.clone()),
            Some(bytes),
            "not of the batch"
        );
        assert_eq!(batches.cancelled(b"3"), None);
        let (last, bytes) = answer("\"1\"");
        let whole = batches.answer(&last, bytes).unwrap();
        let wanted =
            r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"1","result":{}}]"#;
        assert_eq!(whole, wanted);
    }

    #[test]
    fn what_needs_no_waiting_is_answered_at_once() {
        let mut batches = Batches::default();
        assert_eq!(batches.opened(vec![], vec![]), None);
        let refused = vec!["{}".into(), "{}".into()];
        assert_eq!(batches.opened(vec![], refused).unwrap(), "[{},{}]");
        assert!(!batches.waits_for(b"1"));
    }

    #[test]
    fn only_one_revision_has_them() {
        let mut batches = Batches::default();
        for (version, allowed) in [
            ("2024-11-05", false),
            ("2025-03-26", true),
            ("2025-06-18", false),
        ] {
            let result = format!(r#"{{"protocolVersion":"{version}"}}"#);
            let mut msg = Message::result(b"0", &result, Peer::Gateway, Peer::Client);
            msg.set_answers("initialize".into());
            batches.notice(&msg);
            assert_eq!(batches.allowed(), allowed, "{version}");
        }
    }
}
