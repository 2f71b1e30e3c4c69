//! A message is the bytes that arrived plus a list of edits.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use crate::edits::{Edits, Overlap};
use crate::json::{self, NotJson, Shape, Span};
use crate::vouch::{Reading, Vouched};

/// One JSON-RPC 2.0 message on its way through the gateway.
///
/// Nothing is parsed into a typed model: bytes that no stage edits leave as they came.
#[derive(Clone)]
pub struct Message {
    raw: Bytes,
    edits: Edits,
    kind: Kind,
    /// The JSON text of the id, as it will leave.
    id: Option<Bytes>,
    id_at: Option<Span>,
    method: Option<Bytes>,
    body: Option<Span>,
    vouched: Vouched,
    /// Of an answer: the method of the request it answers, once a [`Remap`](crate::remap::Remap)
    /// has seen it.
    answers: Option<Bytes>,
    /// Which call in flight on its link this belongs to, as an answer to it or as its progress.
    /// Messages of one call keep their order; those of different calls may overtake each other.
    pub call: Option<u64>,
    /// Whether the audit log, if there is one, tells of it already.
    pub told: bool,
    /// How long reading and checking it took, as far as whoever reads it has a clock.
    pub read_in: Duration,
    /// Who sent it.
    pub from: Peer,
    /// Who shall get it.
    pub to: Peer,
}

impl Message {
    /// Checks that `raw` is one JSON-RPC message, and reads its head.
    ///
    /// Members are looked up by their decoded name, and one that stands twice is refused: two
    /// readers that disagree about a message's method are a way around a gateway.
    pub fn parse(raw: Bytes, from: Peer, to: Peer) -> Result<Self, BadMessage> {
        let mut head = Head::default();
        json::check_members(&raw, |key, value| head.note(key.of(&raw), value))?;
        if json::shape(&raw, first_byte(&raw)) != Shape::Object {
            return Err(BadMessage::NotAnObject);
        }
        if let Some(name) = head.twice {
            return Err(BadMessage::Twice(name));
        }
        let kind = head.kind(&raw)?;
        let id_at = head.id.filter(|id| id.of(&raw) != b"null");
        let method = head.method.map(|method| {
            // Copied: a call of 50 MB must not live on because its method is remembered.
            Bytes::from(json::decode(method.unquoted().of(&raw)).into_owned())
        });
        Ok(Self {
            kind,
            id: id_at.map(|id| Bytes::copy_from_slice(id.of(&raw))),
            id_at,
            method,
            // By kind: a stray `params` in an answer is not what the answer says.
            body: match kind {
                Kind::Request | Kind::Notification => head.params,
                Kind::Result => head.result,
                Kind::Error => head.error,
            },
            raw,
            edits: Edits::new(),
            vouched: Vouched::default(),
            answers: None,
            call: None,
            told: false,
            read_in: Duration::ZERO,
            from,
            to,
        })
    }

    /// A message of our own making.
    ///
    /// # Panics
    ///
    /// When `text` is not a JSON-RPC message; it is the caller who wrote it.
    #[must_use]
    pub fn own(text: impl Into<Bytes>, from: Peer, to: Peer) -> Self {
        Self::parse(text.into(), from, to).expect("a message we wrote is JSON-RPC")
    }

    /// The error that answers the request whose id is the JSON text `id`. JSON-RPC 2.0 section 5.1.
    #[must_use]
    pub fn error(id: &[u8], code: i32, why: &str, from: Peer, to: Peer) -> Self {
        let id = String::from_utf8_lossy(id);
        let why = json::quote(why);
        Self::own(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{why}}}}}"#),
            from,
            to,
        )
    }

    /// The success that answers the request whose id is the JSON text `id`.
    #[must_use]
    pub fn result(id: &[u8], result: &str, from: Peer, to: Peer) -> Self {
        let id = String::from_utf8_lossy(id);
        Self::own(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            from,
            to,
        )
    }

    /// Turns a request into the error that answers it, and an answer into an error in its place.
    ///
    /// A notification has no answer; it stays as it is, and whoever refuses it drops it.
    pub fn refuse(&mut self, code: i32, why: &str) {
        let Some(id) = self.id.clone() else { return };
        let (from, to) = match self.kind {
            Kind::Request => (self.to, self.from),
            _ => (self.from, self.to),
        };
        let answers = self.method.take().or_else(|| self.answers.take());
        *self = Self {
            answers,
            ..Self::error(&id, code, why, from, to)
        };
    }

    /// Notes that `at` shall read `with` when the message leaves. Until then every stage sees
    /// [`raw`](Self::raw) as it was.
    pub fn edit(&mut self, at: Span, with: &[u8]) {
        self.edits.push(at, with);
    }

    /// Gives the message another id, a JSON text.
    pub fn set_id(&mut self, id: &[u8]) {
        if let Some(at) = self.id_at {
            self.edits.push(at, id);
            self.id = Some(Bytes::copy_from_slice(id));
        }
    }

    /// Says what request this answers.
    pub fn set_answers(&mut self, method: Bytes) {
        self.answers = Some(method);
    }

    /// Notes that the string content at `at` was looked through by every detector, and that an
    /// edit is noted for everything that was found. Spans must be given in rising order.
    pub fn vouch(&mut self, at: Span, read: Reading) {
        self.vouched.push(at, read);
    }

    /// The strings that were [vouched](Self::vouch) for, and where they were edited since.
    #[must_use]
    pub fn vouched(&self) -> &Vouched {
        &self.vouched
    }

    /// Makes the edits, so that the next stage looks at what would really leave.
    ///
    /// # Errors
    ///
    /// When edits overlap, or the edited text is not JSON-RPC any more. Such a message must not
    /// leave.
    pub fn settle(&mut self) -> Result<(), BadMessage> {
        if self.edits.is_empty() {
            return Ok(());
        }
        self.edits.settle()?;
        let mut out = Vec::with_capacity(self.edits.length(&self.raw));
        self.edits.write(&self.raw, &mut out);
        let mut settled = Self::parse(out.into(), self.from, self.to)?;
        self.vouched.carry(&self.edits);
        settled.vouched = std::mem::take(&mut self.vouched);
        settled.answers = self.answers.take();
        settled.call = self.call;
        settled.told = self.told;
        settled.read_in = self.read_in;
        *self = settled;
        Ok(())
    }

    /// The bytes as they will leave, in pieces. Parts that no stage edited are not copied, unless
    /// the message is so small, or the edits so many, that copying is cheaper.
    pub fn into_pieces(mut self) -> Result<Vec<Bytes>, Overlap> {
        /// Below this, one write of copied bytes beats several pieces.
        const SMALL: usize = 16 << 10;
        /// Above this many edits, copying beats keeping track of pieces.
        const MANY: usize = 64;
        if self.edits.is_empty() {
            return Ok(vec![self.raw]);
        }
        self.edits.settle()?;
        if self.raw.len() > SMALL && self.edits.len() <= MANY {
            return Ok(self.edits.pieces(&self.raw));
        }
        let mut out = Vec::with_capacity(self.edits.length(&self.raw));
        self.edits.write(&self.raw, &mut out);
        Ok(vec![out.into()])
    }

    /// The bytes as they will leave.
    pub fn into_bytes(self) -> Result<Bytes, Overlap> {
        let mut pieces = self.into_pieces()?;
        Ok(if pieces.len() == 1 {
            pieces.remove(0)
        } else {
            pieces.concat().into()
        })
    }

    /// The bytes that arrived.
    #[must_use]
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// Whether any stage edited it.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        !self.edits.is_empty()
    }

    /// Request, notification, result or error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The JSON text of the id as it will leave, quotes and all. `null` counts as none.
    #[must_use]
    pub fn id(&self) -> Option<&Bytes> {
        self.id.as_ref()
    }

    /// The method's name, decoded.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        self.method
            .as_deref()
            .and_then(|method| std::str::from_utf8(method).ok())
    }

    /// The method this message is about: its own, or that of the request it answers, if known.
    #[must_use]
    pub fn about(&self) -> Option<&str> {
        self.method().or_else(|| {
            self.answers
                .as_deref()
                .and_then(|method| std::str::from_utf8(method).ok())
        })
    }

    /// Where `params`, `result` or `error` stands in [`raw`](Self::raw).
    #[must_use]
    pub fn body(&self) -> Option<Span> {
        self.body
    }

    /// The value in [`raw`](Self::raw) that `path`, a chain of member names, leads to from the body.
    #[must_use]
    pub fn field(&self, path: &[&str]) -> Option<Span> {
        path.iter().try_fold(self.body?, |at, name| {
            json::member(&self.raw, at.start as usize, name)
        })
    }

    /// The decoded string that `path` leads to, if there is a string.
    #[must_use]
    pub fn text(&self, path: &[&str]) -> Option<String> {
        let at = self.field(path)?;
        (json::shape(&self.raw, at.start as usize) == Shape::String)
            .then(|| json::decode(at.unquoted().of(&self.raw)).into_owned())
    }
}

/// Shows no content: messages hold personal data, and a debug print may end in a log.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("kind", &self.kind)
            .field("from", &self.from)
            .field("to", &self.to)
            .field("bytes", &self.raw.len())
            .field("edits", &self.edits.len())
            .finish_non_exhaustive()
    }
}

/// The four shapes of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Failure of a request.
    Error,
    /// Expects no answer.
    Notification,
    /// Expects one answer.
    Request,
    /// Success of a request.
    Result,
}

/// Who speaks with the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// The MCP client, and through it the model.
    Client,
    /// The gateway itself.
    Gateway,
    /// The server at this place in the configuration.
    Upstream(u16),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client => f.write_str("client"),
            Self::Gateway => f.write_str("gateway"),
            Self::Upstream(n) => write!(f, "upstream {n}"),
        }
    }
}

/// Why bytes are not a JSON-RPC message that can be let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadMessage {
    /// Neither a method, nor a result or an error.
    #[error("neither a request nor an answer")]
    Neither,
    /// JSON, but not an object. Arrays are for [`Batches`](crate::batch::Batches).
    #[error("not a JSON object")]
    NotAnObject,
    /// Not JSON.
    #[error(transparent)]
    NotJson(#[from] NotJson),
    /// Stages disagree about it.
    #[error(transparent)]
    Overlap(#[from] Overlap),
    /// A member of the head stands twice.
    #[error("the member \"{0}\" stands twice")]
    Twice(&'static str),
    /// A member of the head is of the wrong type.
    #[error("the member \"{0}\" is of the wrong type")]
    WrongType(&'static str),
}

impl BadMessage {
    /// The JSON-RPC error code that answers it: -32700 for what is not JSON, else -32600.
    #[must_use]
    pub fn code(self) -> i32 {
        if matches!(self, Self::NotJson(_)) {
            -32700
        } else {
            -32600
        }
    }
}

/// Where the members that JSON-RPC defines stand.
#[derive(Default)]
struct Head {
    id: Option<Span>,
    method: Option<Span>,
    params: Option<Span>,
    result: Option<Span>,
    error: Option<Span>,
    twice: Option<&'static str>,
}

impl Head {
    fn note(&mut self, key: &[u8], value: Span) {
        let decoded;
        let key = if key.contains(&b'\\') {
            decoded = json::decode(key);
            decoded.as_bytes()
        } else {
            key
        };
        let (slot, name) = match key {
            b"id" => (&mut self.id, "id"),
            b"method" => (&mut self.method, "method"),
            b"params" => (&mut self.params, "params"),
            b"result" => (&mut self.result, "result"),
            b"error" => (&mut self.error, "error"),
            _ => return,
        };
        if slot.replace(value).is_some() {
            self.twice = Some(name);
        }
    }

    fn kind(&self, raw: &[u8]) -> Result<Kind, BadMessage> {
        let shape = |at: Span| json::shape(raw, at.start as usize);
        if let Some(id) = self.id
            && !matches!(shape(id), Shape::String | Shape::Number | Shape::Null)
        {
            return Err(BadMessage::WrongType("id"));
        }
        let named = match self.method {
            Some(method) if shape(method) != Shape::String => {
                return Err(BadMessage::WrongType("method"));
            }
            method => method.is_some(),
        };
        match (named, self.result, self.error) {
            (true, None, None) if self.id.is_some() => Ok(Kind::Request),
            (true, None, None) => Ok(Kind::Notification),
            (false, Some(_), None) => Ok(Kind::Result),
            (false, None, Some(_)) => Ok(Kind::Error),
            _ => Err(BadMessage::Neither),
        }
    }
}

fn first_byte(raw: &[u8]) -> usize {
    raw.iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Message, BadMessage> {
        Message::parse(text.to_owned().into(), Peer::Client, Peer::Upstream(0))
    }

    #[test]
    fn the_four_kinds() {
        let kind = |text| parse(text).map(|msg| msg.kind());
        assert_eq!(kind(r#"{"id":1,"method":"ping"}"#), Ok(Kind::Request));
        assert_eq!(
            kind(r#"{"method":"notifications/x","params":{}}"#),
            Ok(Kind::Notification)
        );
        assert_eq!(kind(r#"{"result":{},"id":"a"}"#), Ok(Kind::Result));
        assert_eq!(kind(r#"{"id":null,"error":{}}"#), Ok(Kind::Error));
        assert_eq!(kind(r#"{"id":1}"#), Err(BadMessage::Neither));
        assert_eq!(
            kind(r#"{"id":1,"method":"x","result":1}"#),
            Err(BadMessage::Neither)
        );
        assert_eq!(
            kind(r#"{"id":[],"method":"x"}"#),
            Err(BadMessage::WrongType("id"))
        );
        assert_eq!(
            kind(r#"{"id":1,"method":7}"#),
            Err(BadMessage::WrongType("method"))
        );
        assert_eq!(kind("[]"), Err(BadMessage::NotAnObject));
        assert_eq!(kind(" 1"), Err(BadMessage::NotAnObject));
    }

    #[test]
    fn names_are_decoded_and_must_not_stand_twice() {
        let msg = parse(r#"{"\u0069d":7,"m\u0065thod":"pi\u006eg"}"#).unwrap();
        assert_eq!(
            (msg.id().unwrap().as_ref(), msg.method()),
            (&b"7"[..], Some("ping"))
        );
        let twice = parse(r#"{"method":"a","method":"b"}"#);
        assert_eq!(twice.unwrap_err(), BadMessage::Twice("method"));
        assert_eq!(
            parse(r#"{"id":1,"i\u0064":2,"result":0}"#).unwrap_err(),
            BadMessage::Twice("id")
        );
    }

    #[test]
    fn the_body_is_that_of_the_kind() {
        let msg = parse(r#"{"id":1,"params":{"n":1},"result":{"n":2}}"#).unwrap();
        assert_eq!(msg.field(&["n"]).unwrap().of(msg.raw()), b"2");
    }

    #[test]
    fn an_edited_message_keeps_all_other_bytes() {
        let text = r#"{ "jsonrpc":"2.0","id": 1, "method":"x","params":{"n":1.10,"k":1,"k":2} }"#;
        let mut msg = parse(text).unwrap();
        assert_eq!(msg.clone().into_bytes().unwrap(), text);
        msg.set_id(b"\"c-9\"");
        let n = msg.field(&["n"]).unwrap();
        msg.edit(n, b"[2]");
        assert_eq!(msg.id().unwrap().as_ref(), b"\"c-9\"");
        msg.settle().unwrap();
        let wanted = text.replace(": 1,", ": \"c-9\",").replace("1.10", "[2]");
        assert_eq!(msg.raw(), &wanted);
        assert_eq!(msg.into_bytes().unwrap(), wanted);
    }

    #[test]
    fn an_edit_that_breaks_the_json_does_not_settle() {
        let mut msg = parse(r#"{"id":1,"method":"x","params":{"n":1}}"#).unwrap();
        let n = msg.field(&["n"]).unwrap();
        msg.edit(n, b"\"");
        assert!(msg.settle().is_err());
    }

    #[test]
    fn refusals_go_back_where_the_request_came_from() {
        let mut msg = parse(r#"{"id":"a\"b","method":"x"}"#).unwrap();
        msg.refuse(-32601, "no \"x\" here");
        assert_eq!((msg.from, msg.to), (Peer::Upstream(0), Peer::Client));
        assert_eq!(msg.about(), Some("x"));
        let wanted =
            r#"{"jsonrpc":"2.0","id":"a\"b","error":{"code":-32601,"message":"no \"x\" here"}}"#;
        assert_eq!(msg.into_bytes().unwrap(), wanted);
    }

    #[test]
    fn debug_shows_no_content() {
        let msg = parse(r#"{"id":1,"method":"x","params":"marie@example.eu"}"#).unwrap();
        assert!(!format!("{msg:?}").contains("marie"));
    }
}
