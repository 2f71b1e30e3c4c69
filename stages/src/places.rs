//! Every string, number and key of a message, with what the table says about its place.

use crate::json::{self, Shape, Span};
use crate::message::{Kind, Message};
use crate::surfaces::{ERROR, META, Node, RESULT, Way, surface};

/// What is done with a string, a number or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Sanitised or restored.
    Data,
    /// Kept; only the tripwire looks at it.
    Keep,
    /// Kept; the tripwire reports what it finds.
    Schema,
    /// As data, in a URI.
    Uri,
    /// Base64 of the MIME type that the string content at this span names. Empty: unknown.
    Blob(Span),
}

/// Is told what stands where. Spans of strings and keys are without their quotes; `field` is the
/// nearest key above.
pub(crate) trait Visit {
    fn string(&mut self, at: Span, field: Span, what: What);

    fn number(&mut self, at: Span, field: Span, what: What);

    /// A key that is data, or a key within a schema. `object` is where the object starts.
    fn key(&mut self, at: Span, object: usize, what: What);

    /// The whole of a tool's output schema.
    fn output_schema(&mut self, at: Span) {
        let _ = at;
    }

    /// Forget everything: it has to be told again, otherwise.
    fn again(&mut self);
}

/// Visits all of a message on its way.
pub(crate) fn visit(msg: &Message, way: Way, visitor: &mut impl Visit) {
    let raw = msg.raw();
    let node = body(msg, way);
    let mut walk = Walk {
        raw,
        visitor,
        ambiguous: false,
    };
    walk.message(msg.kind(), &node);
    if walk.ambiguous {
        // Its readers may disagree about what it is. So nothing of it is skipped.
        walk.visitor.again();
        walk.message(msg.kind(), &Node::Data);
    }
}

/// Visits all of a JSON text that stands in a string. All of it is data.
pub(crate) fn visit_text(text: &[u8], visitor: &mut impl Visit) {
    let at = text.iter().position(|byte| !byte.is_ascii_whitespace());
    let mut walk = Walk {
        raw: text,
        visitor,
        ambiguous: false,
    };
    walk.data(at.unwrap_or(0), Span::default(), What::Data);
}

/// What the table says about params, result or error.
fn body(msg: &Message, way: Way) -> Node {
    let back = match way {
        Way::ToModel => Way::ToUpstream,
        Way::ToUpstream => Way::ToModel,
    };
    let known = |way| msg.about().and_then(|method| surface(way, method));
    match msg.kind() {
        Kind::Request | Kind::Notification => known(way).map_or(Node::Data, |known| known.params),
        Kind::Result => known(back)
            .and_then(|known| known.result)
            .unwrap_or(Node::Data),
        Kind::Error => ERROR,
    }
}

struct Walk<'a, V> {
    raw: &'a [u8],
    visitor: &'a mut V,
    /// A member that decides what an object is stands twice.
    ambiguous: bool,
}

impl<V: Visit> Walk<'_, V> {
    fn message(&mut self, kind: Kind, body: &Node) {
        let start = self.raw.iter().position(|&byte| byte == b'{').unwrap_or(0);
        let mut members = json::members(self.raw, start);
        while let Some((key, at)) = members.next() {
            let name = json::decode(key.of(self.raw));
            let node = match (&*name, kind) {
                ("jsonrpc" | "method", _) => &Node::Keep,
                ("id", _) => &Node::Opaque,
                ("params", Kind::Request | Kind::Notification)
                | ("result", Kind::Result)
                | ("error", Kind::Error) => body,
                _ => {
                    self.visitor.key(key, start, What::Data);
                    &Node::Data
                }
            };
            members.past(self.value(at, node, key));
        }
    }

    /// Visits the value at `at`, and tells where it ends.
    fn value(&mut self, at: usize, node: &Node, field: Span) -> usize {
        match (node, json::shape(self.raw, at)) {
            (Node::Schema | Node::Output, _) => {
                let end = self.data(at, field, What::Schema);
                if matches!(node, Node::Output) {
                    self.visitor.output_schema(Span::new(at, end));
                }
                end
            }
            (Node::Each(node), Shape::Array) => {
                let mut items = json::items(self.raw, at);
                while let Some(item) = items.next() {
                    items.past(self.value(item, node, field));
                }
                items.end()
            }
            (Node::Each(node), _) => self.value(at, node, field),
            (Node::Keep, Shape::String | Shape::Number) => self.scalar(at, field, What::Keep),
            (Node::Opaque, Shape::String | Shape::Number) => json::skip(self.raw, at),
            (Node::Uri, Shape::String) => self.scalar(at, field, What::Uri),
            (Node::Blob, Shape::String) => self.scalar(at, field, What::Blob(Span::default())),
            (Node::Object(members) | Node::Form(members), Shape::Object) => {
                self.object(at, &[members], None)
            }
            (Node::Result(members), Shape::Object) => self.object(at, &[members, RESULT], None),
            (Node::Page(list, item), Shape::Object) => {
                let page = [(*list, Node::Each(item)), ("nextCursor", Node::Opaque)];
                self.object(at, &[&page, RESULT], None)
            }
            (Node::Keyed(node), Shape::Object) => {
                self.members(at, |walk, key, value| walk.value(value, node, key))
            }
            (Node::Select(by, kinds, otherwise), Shape::Object) => {
                let node = self.kind(at, by).and_then(|kind| find(kinds, &kind));
                self.selected(at, node.unwrap_or(otherwise), by, field)
            }
            _ => self.data(at, field, What::Data),
        }
    }

    /// What the first member called `by` says. That there is no second is seen on the way.
    fn kind(&self, at: usize, by: &str) -> Option<std::borrow::Cow<'_, str>> {
        let (_, value) = json::members(self.raw, at)
            .find(|(key, _)| json::same_text(key.of(self.raw), by.as_bytes()))?;
        let span = Span::new(value, json::skip(self.raw, value));
        match json::shape(self.raw, value) {
            Shape::String => Some(json::decode(span.unquoted().of(self.raw))),
            Shape::Number => Some(String::from_utf8_lossy(span.of(self.raw))),
            _ => None,
        }
    }

    fn selected(&mut self, at: usize, node: &Node, by: &str, field: Span) -> usize {
        match node {
            Node::Object(members) => self.object(at, &[members], Some(by)),
            Node::Result(members) => self.object(at, &[members, RESULT], Some(by)),
            // Only one more selection can stand between: it looks at its own member.
            Node::Each(node) => self.value(at, node, field),
            _ => self.data(at, field, What::Data),
        }
    }

    fn object(&mut self, at: usize, named: &[&[(&str, Node)]], by: Option<&str>) -> usize {
        let raw = self.raw;
        let mut decided = false;
        let mut mime = None;
        self.members(at, |walk, key, value| {
            let name = json::decode(key.of(raw));
            if by == Some(&*name) {
                walk.ambiguous |= decided;
                decided = true;
            }
            let node = named.iter().find_map(|members| find(members, &name));
            match node {
                Some(Node::Blob) if json::shape(raw, value) == Shape::String => {
                    let mime = *mime.get_or_insert_with(|| mime_type(raw, at));
                    walk.scalar(value, key, What::Blob(mime))
                }
                Some(node) => walk.value(value, node, key),
                None if name == "_meta" => walk.meta(value, key),
                None => {
                    walk.visitor.key(key, at, What::Data);
                    walk.data(value, key, What::Data)
                }
            }
        })
    }

    fn meta(&mut self, at: usize, field: Span) -> usize {
        if json::shape(self.raw, at) != Shape::Object {
            return self.data(at, field, What::Data);
        }
        let raw = self.raw;
        self.members(at, |walk, key, value| {
            let name = json::decode(key.of(raw));
            match find(META, &name) {
                Some(node) => walk.value(value, node, key),
                None if belongs_to_mcp(&name) => walk.value(value, &Node::Schema, key),
                None => walk.data(value, key, What::Data),
            }
        })
    }

    /// Hands out key and value of each member, and takes where the value ended.
    fn members(
        &mut self,
        at: usize,
        mut each: impl FnMut(&mut Self, Span, usize) -> usize,
    ) -> usize {
        let mut members = json::members(self.raw, at);
        while let Some((key, value)) = members.next() {
            members.past(each(self, key, value));
        }
        members.end()
    }

    fn data(&mut self, at: usize, field: Span, what: What) -> usize {
        match json::shape(self.raw, at) {
            Shape::Object => self.members(at, |walk, key, value| {
                walk.visitor.key(key, at, what);
                walk.data(value, key, what)
            }),
            Shape::Array => {
                let mut items = json::items(self.raw, at);
                while let Some(item) = items.next() {
                    items.past(self.data(item, field, what));
                }
                items.end()
            }
            _ => self.scalar(at, field, what),
        }
    }

    fn scalar(&mut self, at: usize, field: Span, what: What) -> usize {
        let end = json::skip(self.raw, at);
        match json::shape(self.raw, at) {
            Shape::String => self.visitor.string(Span::new(at + 1, end - 1), field, what),
            Shape::Number => self.visitor.number(Span::new(at, end), field, what),
            _ => {}
        }
        end
    }
}

fn find<'a>(members: &'a [(&str, Node)], name: &str) -> Option<&'a Node> {
    let (_, node) = members.iter().find(|(known, _)| *known == name)?;
    Some(node)
}

/// The content of the `mimeType` of the object at `at`, if there is exactly one.
fn mime_type(raw: &[u8], at: usize) -> Span {
    let mut all = json::members(raw, at)
        .filter(|(key, _)| json::same_text(key.of(raw), b"mimeType"))
        .map(|(_, value)| value);
    match (all.next(), all.next()) {
        (Some(value), None) if json::shape(raw, value) == Shape::String => {
            Span::new(value, json::skip(raw, value)).unquoted()
        }
        _ => Span::default(),
    }
}

/// Whether a `_meta` key is reserved: the second label of its prefix says so. MCP 2025-06-18,
/// "General fields".
fn belongs_to_mcp(key: &str) -> bool {
    let label = key
        .split_once('/')
        .and_then(|(prefix, _)| prefix.split('.').nth(1));
    matches!(label, Some("modelcontextprotocol" | "mcp"))
}
