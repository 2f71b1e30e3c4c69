//! One answer out of many: lists that every server contributes to, and questions put to each.

use bytes::Bytes;
use cloak_stages::json::{self, Shape};
use cloak_stages::{Kind, Message, Peer};

use super::names;

/// Most pages of one server's list.
const MAX_PAGES: usize = 1000;

/// What is asked of several servers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gather {
    Level,
    Prompts,
    Resources,
    Templates,
    Tools,
}

impl Gather {
    pub(super) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "logging/setLevel" => Self::Level,
            "prompts/list" => Self::Prompts,
            "resources/list" => Self::Resources,
            "resources/templates/list" => Self::Templates,
            "tools/list" => Self::Tools,
            _ => return None,
        })
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Level => "logging/setLevel",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Tools => "tools/list",
        }
    }

    /// The capability a server needs to be asked.
    pub(super) fn capability(self) -> &'static str {
        match self {
            Self::Level => "logging",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
            Self::Tools => "tools",
        }
    }

    /// The member of the result that holds the list.
    fn member(self) -> Option<&'static str> {
        match self {
            Self::Level => None,
            Self::Prompts => Some("prompts"),
            Self::Resources => Some("resources"),
            Self::Templates => Some("resourceTemplates"),
            Self::Tools => Some("tools"),
        }
    }

    /// The member of an item that tells where to ask for it.
    fn key(self) -> Option<&'static str> {
        match self {
            Self::Resources => Some("uri"),
            Self::Templates => Some("uriTemplate"),
            _ => None,
        }
    }
}

/// One request of the client's that several servers are asked for.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) gather: Gather,
    /// The client's request.
    pub(super) id: Bytes,
    /// Whether names get the server's name in front.
    prefix: bool,
    /// The parameters that every server gets, a JSON text.
    params: Option<Bytes>,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    lane: u16,
    pages: usize,
    cursors: Vec<Bytes>,
    items: Vec<Bytes>,
    /// What the items' keys say.
    keys: Vec<String>,
    state: Progress,
}

#[derive(Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    Done,
    Failed { code: i64 },
}

/// What follows from a server's answer.
pub(super) enum Next {
    /// Ask this server for the page with this cursor, a JSON text.
    Page(Bytes),
    /// Nothing more from this server.
    Wait,
}

impl Round {
    pub(super) fn new(
        gather: Gather,
        id: Bytes,
        params: Option<Bytes>,
        prefix: bool,
        lanes: Vec<u16>,
    ) -> Self {
        let part = |lane| Part {
            lane,
            pages: 0,
            cursors: Vec::new(),
            items: Vec::new(),
            keys: Vec::new(),
            state: Progress::Waiting,
        };
        Self {
            gather,
            id,
            prefix,
            params,
            parts: lanes.into_iter().map(part).collect(),
        }
    }

    /// The request for one page; `serial` and the lane are in its id.
    pub(super) fn request(&self, serial: u64, lane: u16, cursor: Option<&Bytes>) -> Message {
        let method = self.gather.method();
        let params = match (cursor, &self.params) {
            (Some(cursor), _) => {
                format!(
                    r#","params":{{"cursor":{}}}"#,
                    String::from_utf8_lossy(cursor)
                )
            }
            (None, Some(params)) => format!(r#","params":{}"#, String::from_utf8_lossy(params)),
            (None, None) => String::new(),
        };
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":"round:{serial}:{lane}","method":"{method}"{params}}}"#
        );
        Message::own(text, Peer::Gateway, Peer::Upstream(lane))
    }

    /// Servers that have not answered yet.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u16> {
        self.parts
            .iter()
            .filter(|part| part.state == Progress::Waiting)
            .map(|part| part.lane)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.waiting().next().is_none()
    }

    /// Gives up on those servers that have not answered and for which `on` is true.
    pub(super) fn give_up(&mut self, on: impl Fn(u16) -> bool) {
        for part in &mut self.parts {
            if part.state == Progress::Waiting && on(part.lane) {
                part.state = Progress::Failed { code: -32000 };
            }
        }
    }

    /// Takes the answer of `lane`, which is called `name`.
    pub(super) fn take(&mut self, lane: u16, name: &str, msg: &Message) -> Next {
        let (gather, prefix) = (self.gather, self.prefix);
        let Some(part) = self.parts.iter_mut().find(|part| part.lane == lane) else {
            return Next::Wait;
        };
        if msg.kind() == Kind::Error {
            let code = msg
                .field(&["code"])
                .and_then(|at| std::str::from_utf8(at.of(msg.raw())).ok()?.parse().ok());
            part.state = Progress::Failed {
                code: code.unwrap_or_default(),
            };
            return Next::Wait;
        }
        part.state = Progress::Done;
        let Some(member) = gather.member() else {
            return Next::Wait;
        };
        part.collect(gather, prefix.then_some(name), member, msg);
        part.pages += 1;
        let cursor = msg
            .field(&["nextCursor"])
            .map(|at| msg.raw().slice(at.range()));
        let Some(cursor) = cursor.filter(|cursor| cursor.starts_with(b"\"")) else {
            return Next::Wait;
        };
        if part.pages >= MAX_PAGES || part.cursors.contains(&cursor) {
            let method = gather.method();
            tracing::warn!(
                upstream = name,
                method,
                pages = part.pages,
                "the list never ends; cut"
            );
            return Next::Wait;
        }
        part.cursors.push(cursor.clone());
        part.state = Progress::Waiting;
        Next::Page(cursor)
    }

    /// What the servers said of their resources or templates, for those that did answer.
    pub(super) fn keys(&mut self) -> impl Iterator<Item = (u16, Vec<String>)> {
        self.parts
            .iter_mut()
            .filter(|part| part.state == Progress::Done)
            .map(|part| (part.lane, std::mem::take(&mut part.keys)))
    }

    /// The answer to the client, and the servers that are missing in it.
    pub(super) fn answer(&self) -> (Message, Vec<u16>) {
        let missing: Vec<u16> = self
            .parts
            .iter()
            .filter(|part| matches!(part.state, Progress::Failed { code } if code != -32601))
            .map(|part| part.lane)
            .collect();
        let any = self.parts.iter().any(|part| part.state == Progress::Done);
        let mut msg = match (any, self.gather.member()) {
            (true, Some(member)) => self.list(member),
            (true, None) => Message::result(&self.id, "{}", Peer::Gateway, Peer::Client),
            (false, _) if missing.is_empty() => {
                let why = format!("no server offers {}", self.gather.method());
                Message::error(&self.id, -32601, &why, Peer::Gateway, Peer::Client)
            }
            (false, _) => {
                let why = format!("no server answered {}", self.gather.method());
                Message::error(&self.id, -32603, &why, Peer::Gateway, Peer::Client)
            }
        };
        msg.set_answers(self.gather.method().into());
        (msg, missing)
    }

    fn list(&self, member: &str) -> Message {
        let items = || self.parts.iter().flat_map(|part| &part.items);
        let size: usize = items().map(|item| item.len() + 1).sum();
        let mut text = Vec::with_capacity(size + self.id.len() + 64);
        text.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        text.extend_from_slice(&self.id);
        text.extend_from_slice(format!(r#","result":{{"{member}":["#).as_bytes());
        for (place, item) in items().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            text.extend_from_slice(item);
        }
        text.extend_from_slice(b"]}}");
        Message::own(text, Peer::Gateway, Peer::Client)
    }
}

impl Part {
    /// Keeps the items of one page, byte for byte but for their names.
    fn collect(&mut self, gather: Gather, prefix: Option<&str>, member: &str, msg: &Message) {
        let raw = msg.raw();
        let Some(list) = msg.field(&[member]) else {
            return;
        };
        for at in json::items(raw, list.start as usize) {
            let item = raw.slice(at..json::skip(raw, at));
            if let Some(key) = gather.key().and_then(|key| json::member(&item, 0, key))
                && json::shape(&item, key.start as usize) == Shape::String
            {
                self.keys
                    .push(json::decode(key.unquoted().of(&item)).into_owned());
            }
            self.items.push(match prefix {
                Some(server) if matches!(gather, Gather::Tools | Gather::Prompts) => {
                    let Some((renamed, length)) = names::prefixed(&item, server) else {
                        tracing::warn!(upstream = server, "an item without a name is left out");
                        continue;
                    };
                    if length > names::LONG {
                        tracing::warn!(
                            upstream = server,
                            length,
                            "a tool's name is longer than some model providers accept",
                        );
                    }
                    renamed.into()
                }
                _ => item,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(result: &str) -> Message {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"x","result":{result}}}"#);
        Message::own(text, Peer::Upstream(0), Peer::Gateway)
    }

    fn round(gather: Gather, lanes: Vec<u16>) -> Round {
        Round::new(gather, "7".into(), None, true, lanes)
    }

    fn text(msg: &Message) -> &str {
        std::str::from_utf8(msg.raw()).unwrap()
    }

    #[test]
    fn pages_are_drained_and_servers_keep_their_order() {
        let mut round = round(Gather::Tools, vec![0, 1]);
        assert!(matches!(
            round.take(1, "b", &page(r#"{"tools":[{"name":"z"}]}"#)),
            Next::Wait
        ));
        let first = page(r#"{"tools":[{"name":"x","n":1.0}],"nextCursor":""}"#);
        let Next::Page(cursor) = round.take(0, "a", &first) else {
            panic!("there is more")
        };
        let ask = round.request(5, 0, Some(&cursor));
        assert!(text(&ask).contains(r#""id":"round:5:0""#));
        assert!(text(&ask).ends_with(r#""params":{"cursor":""}}"#));
        assert!(!round.is_complete());
        round.take(0, "a", &page(r#"{"tools":[{"name":"y"}]}"#));
        assert!(round.is_complete());
        let (answer, missing) = round.answer();
        assert_eq!(
            text(&answer),
            r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a__x","n":1.0},{"name":"a__y"},{"name":"b__z"}]}}"#,
        );
        assert!(missing.is_empty());
    }

    #[test]
    fn a_cursor_that_comes_again_ends_the_list() {
        let mut round = round(Gather::Resources, vec![0]);
        let same = page(r#"{"resources":[{"uri":"a:\u0031"}],"nextCursor":"c"}"#);
        assert!(matches!(round.take(0, "a", &same), Next::Page(_)));
        assert!(matches!(round.take(0, "a", &same), Next::Wait));
        assert_eq!(
            round.keys().next(),
            Some((0, vec!["a:1".to_owned(), "a:1".to_owned()]))
        );
    }

    #[test]
    fn one_server_that_fails_does_not_fail_the_list() {
        let mut round = round(Gather::Prompts, vec![0, 1, 2]);
        let error = |code| Message::error(b"1", code, "x", Peer::Upstream(0), Peer::Gateway);
        round.take(0, "a", &error(-32601));
        round.take(1, "b", &error(-32000));
        round.take(2, "c", &page(r#"{"prompts":[]}"#));
        let (answer, missing) = round.answer();
        assert!(text(&answer).contains(r#""result":{"prompts":[]}"#));
        assert_eq!(missing, [1]);
        let mut none = Round::new(Gather::Prompts, "7".into(), None, true, vec![0, 1]);
        none.take(0, "a", &error(-32601));
        none.give_up(|_| true);
        assert!(text(&none.answer().0).contains("-32603"));
    }
}
