//! Moving about in a text that [`check`](super::check) has accepted.
//!
//! Nothing here checks again: on other texts the answers are wrong, though never out of bounds.

use super::marks::Marks;
use super::{Span, same_text};

/// What kind of value starts at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `[…]`
    Array,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
    /// A number.
    Number,
    /// `{…}`
    Object,
    /// `"…"`
    String,
}

/// The shape of the value that starts at `at`.
#[must_use]
pub fn shape(text: &[u8], at: usize) -> Shape {
    match text.get(at) {
        Some(b'{') => Shape::Object,
        Some(b'[') => Shape::Array,
        Some(b'"') => Shape::String,
        Some(b't' | b'f') => Shape::Bool,
        Some(b'n') | None => Shape::Null,
        Some(_) => Shape::Number,
    }
}

/// One past the value that starts at `at`.
#[must_use]
pub fn skip(text: &[u8], at: usize) -> usize {
    match shape(text, at) {
        Shape::String => end_of_string(text, at),
        Shape::Object | Shape::Array => {
            let mut depth = 0_usize;
            let mut at = at;
            while let Some(&byte) = text.get(at) {
                match byte {
                    b'"' => {
                        at = end_of_string(text, at);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
            at
        }
        _ => {
            let stop =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            // At least one byte, so that a walk over text that is no JSON ends, too.
            let rest = text.get(at + 1..).unwrap_or_default();
            rest.iter()
                .position(stop)
                .map_or(text.len(), |more| at + 1 + more)
        }
    }
}

/// One past the closing quote of the string whose opening quote is at `at`.
#[inline]
pub(super) fn end_of_string(text: &[u8], at: usize) -> usize {
    let mut marks = Marks::new(text, at + 1);
    while let Some(at) = marks.next() {
        if text[at] == b'"' {
            return at + 1;
        }
        marks.pass(at + 2);
    }
    text.len()
}

#[inline]
fn space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = text.get(at) {
        at += 1;
    }
    at
}

/// The members of the object that starts at `at`: the key between its quotes, and where the value
/// starts. Before the next member is asked for, [`Members::past`] may tell where this value ends,
/// so that a caller who walked it need not have it walked twice.
#[must_use]
pub fn members(text: &[u8], at: usize) -> Members<'_> {
    Members {
        text,
        at: if shape(text, at) == Shape::Object {
            at + 1
        } else {
            text.len()
        },
        open: None,
    }
}

/// See [`members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a [u8],
    at: usize,
    open: Option<usize>,
}

impl Members<'_> {
    /// The value handed out last ends before `end`.
    pub fn past(&mut self, end: usize) {
        self.open = None;
        self.at = end;
    }

    /// One past the object, once every member was handed out.
    #[must_use]
    pub fn end(&self) -> usize {
        self.at
    }
}

impl Iterator for Members<'_> {
    type Item = (Span, usize);

    fn next(&mut self) -> Option<(Span, usize)> {
        if let Some(at) = self.open.take() {
            self.at = skip(self.text, at);
        }
        self.at = space(self.text, self.at);
        if self.text.get(self.at) == Some(&b',') {
            self.at = space(self.text, self.at + 1);
        }
        if self.text.get(self.at) != Some(&b'"') {
            self.at = (self.at + 1).min(self.text.len());
            return None;
        }
        let key_end = end_of_string(self.text, self.at);
        if key_end < self.at + 2 {
            self.at = self.text.len();
            return None;
        }
        let key = Span::new(self.at + 1, key_end - 1);
        let colon = space(self.text, key_end);
        let value = space(self.text, colon + 1).min(self.text.len());
        self.open = Some(value);
        Some((key, value))
    }
}

/// Where each item of the array at `at` starts. [`Items::past`] serves as [`Members::past`] does.
#[must_use]
pub fn items(text: &[u8], at: usize) -> Items<'_> {
    Items {
        text,
        at: if shape(text, at) == Shape::Array {
            at + 1
        } else {
            text.len()
        },
        open: None,
    }
}

/// See [`items`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    text: &'a [u8],
    at: usize,
    open: Option<usize>,
}

impl Items<'_> {
    /// The item handed out last ends before `end`.
    pub fn past(&mut self, end: usize) {
        self.open = None;
        self.at = end;
    }

    /// One past the array, once every item was handed out.
    #[must_use]
    pub fn end(&self) -> usize {
        self.at
    }
}

impl Iterator for Items<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if let Some(at) = self.open.take() {
            self.at = skip(self.text, at);
        }
        self.at = space(self.text, self.at);
        if self.text.get(self.at) == Some(&b',') {
            self.at = space(self.text, self.at + 1);
        }
        if matches!(self.text.get(self.at), None | Some(b']')) {
            self.at = (self.at + 1).min(self.text.len());
            return None;
        }
        self.open = Some(self.at);
        Some(self.at)
    }
}

/// The value of the member called `name` (compared decoded) of the object at `at`.
///
/// Of a name that stands twice the last is taken, as nearly every parser does.
#[must_use]
pub fn member(text: &[u8], at: usize, name: &str) -> Option<Span> {
    let (_, value) = members(text, at)
        .filter(|(key, _)| same_text(key.of(text), name.as_bytes()))
        .last()?;
    Some(Span::new(value, skip(text, value)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_and_items_are_found_with_any_white_space() {
        let text = br#" { "a" : [ 1 , "x]" , { } ] , "b":{"c":"}"},"d":null } "#;
        let all: Vec<_> = members(text, 1)
            .map(|(key, at)| (key.of(text), &text[at..skip(text, at)]))
            .collect();
        let wanted: [(&[u8], &[u8]); 3] = [
            (b"a", br#"[ 1 , "x]" , { } ]"#),
            (b"b", br#"{"c":"}"}"#),
            (b"d", b"null"),
        ];
        assert_eq!(all, wanted);
        let list = member(text, 1, "a").unwrap();
        let inner: Vec<_> = items(text, list.start as usize)
            .map(|at| &text[at..skip(text, at)])
            .collect();
        assert_eq!(inner, [&b"1"[..], br#""x]""#, b"{ }"]);
    }

    #[test]
    fn names_are_compared_decoded_and_the_last_counts() {
        let text = br#"{"n\u0061me":1,"name":2,"names":3}"#;
        assert_eq!(member(text, 0, "name").unwrap().of(text), b"2");
        assert_eq!(member(text, 0, "nam"), None);
        let escaped = br#"{"n\u0061me":1}"#;
        assert_eq!(member(escaped, 0, "name").unwrap().of(escaped), b"1");
    }

    proptest! {
        #[test]
        fn unchecked_text_does_no_harm(text in "[{}\\[\\]\":,a1 \\\\]{0,40}", at in 0_usize..50) {
            let bytes = text.as_bytes();
            prop_assert!(skip(bytes, at) >= at.min(bytes.len()));
            for (key, value) in members(bytes, at) {
                prop_assert!(key.range().end <= bytes.len() && value <= bytes.len());
            }
            prop_assert!(items(bytes, at).all(|item| item <= bytes.len()));
            let _ = member(bytes, at, "a");
        }
    }

    #[test]
    fn ends_are_told() {
        let text = br#"[{"a":{"b":1}},2]"#;
        let mut inside = members(text, 1);
        while inside.next().is_some() {}
        assert_eq!(inside.end(), 14);
        let mut all = items(text, 0);
        assert_eq!(all.next(), Some(1));
        all.past(14);
        assert_eq!(all.next(), Some(15));
        assert_eq!(all.next(), None);
        assert_eq!(all.end(), text.len());
        assert_eq!(members(text, 0).count(), 0, "an array has no members");
    }
}
