//! The strict check of RFC 8259 that every message passes before anything looks at it.

use super::marks::Marks;
use super::{MAX_DEPTH, Span};

/// Why a text is not accepted as JSON. Offsets are bytes from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotJson {
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels at byte {0}")]
    Depth(usize),
    /// Something else stands where JSON wants a certain character, or the text ends too early.
    #[error("not JSON at byte {0}")]
    Syntax(usize),
    /// A complete value is followed by something else than white space.
    #[error("something follows the JSON value at byte {0}")]
    Trailing(usize),
    /// Not UTF-8.
    #[error("not UTF-8")]
    Utf8,
}

/// Checks that `text` is one JSON value, with nothing before or after it but white space.
///
/// As strict as RFC 8259, but for one thing: an escaped lone surrogate (`"\ud83d"`) passes, since
/// common serialisers emit it for a string cut within a character, and it need not be decoded.
pub fn check(text: &[u8]) -> Result<(), NotJson> {
    check_members(text, |_, _| {})
}

/// Like [`check`], and hands out each member of the outermost object: the span of its key between
/// the quotes, and the span of its value.
pub fn check_members(text: &[u8], member: impl FnMut(Span, Span)) -> Result<(), NotJson> {
    if simdutf8::basic::from_utf8(text).is_err() {
        return Err(NotJson::Utf8);
    }
    // Control characters are rare, and illegal in strings. Whether there are any at all is found at
    // memory speed, so that the strings need not be searched for them one by one.
    let mut checker = Checker {
        text,
        at: 0,
        control: has_control(text),
        stack: [0; STACK],
        depth: 0,
    };
    checker.run(member)
}

/// One bit a level: set for an object.
const STACK: usize = MAX_DEPTH / 64;

struct Checker<'a> {
    text: &'a [u8],
    at: usize,
    control: bool,
    stack: [u64; STACK],
    depth: usize,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

impl Checker<'_> {
    fn run(&mut self, mut member: impl FnMut(Span, Span)) -> Result<(), NotJson> {
        let mut next = Next::Value;
        let mut key = Span::default();
        let mut value_at = 0;
        loop {
            self.space();
            let Some(&byte) = self.text.get(self.at) else {
                let whole = next == Next::CommaOrEnd && self.depth == 0;
                return if whole {
                    Ok(())
                } else {
                    Err(NotJson::Syntax(self.at))
                };
            };
            if self.depth == 1 && matches!(next, Next::Value) {
                value_at = self.at;
            }
            next = match (next, byte) {
                (Next::CommaOrEnd, _) if self.depth == 0 => {
                    return Err(NotJson::Trailing(self.at));
                }
                (Next::CommaOrEnd, b',') => {
                    self.at += 1;
                    if self.in_object() {
                        Next::Key
                    } else {
                        Next::Value
                    }
                }
                (Next::CommaOrEnd | Next::KeyOrEnd, b'}') if self.in_object() => self.close(),
                (Next::CommaOrEnd | Next::ValueOrEnd, b']') if !self.in_object() => self.close(),
                (Next::CommaOrEnd, _) => return Err(NotJson::Syntax(self.at)),
                (Next::Key | Next::KeyOrEnd, b'"') => {
                    let start = self.at + 1;
                    self.string()?;
                    if self.depth == 1 {
                        key = Span::new(start, self.at - 1);
                    }
                    self.space();
                    if self.text.get(self.at) != Some(&b':') {
                        return Err(NotJson::Syntax(self.at));
                    }
                    self.at += 1;
                    Next::Value
                }
                (Next::Key | Next::KeyOrEnd, _) => return Err(NotJson::Syntax(self.at)),
                (_, b'{') => self.open(true)?,
                (_, b'[') => self.open(false)?,
                (_, b'"') => {
                    self.string()?;
                    Next::CommaOrEnd
                }
                (_, b'-' | b'0'..=b'9') => {
                    self.number()?;
                    Next::CommaOrEnd
                }
                (_, b't') => self.word(b"true")?,
                (_, b'f') => self.word(b"false")?,
                (_, b'n') => self.word(b"null")?,
                _ => return Err(NotJson::Syntax(self.at)),
            };
            if self.depth == 1 && next == Next::CommaOrEnd && self.in_object() {
                member(key, Span::new(value_at, self.at));
            }
        }
    }

    fn in_object(&self) -> bool {
        let level = self.depth - 1;
        self.stack[level / 64] >> (level % 64) & 1 == 1
    }

    fn open(&mut self, object: bool) -> Result<Next, NotJson> {
        if self.depth == MAX_DEPTH {
            return Err(NotJson::Depth(self.at));
        }
        let (word, bit) = (self.depth / 64, 1 << (self.depth % 64));
        if object {
            self.stack[word] |= bit;
        } else {
            self.stack[word] &= !bit;
        }
        self.depth += 1;
        self.at += 1;
        Ok(if object {
            Next::KeyOrEnd
        } else {
            Next::ValueOrEnd
        })
    }

    fn close(&mut self) -> Next {
        self.depth -= 1;
        self.at += 1;
        Next::CommaOrEnd
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<Next, NotJson> {
        if !self.text[self.at..].starts_with(word) {
            return Err(NotJson::Syntax(self.at));
        }
        self.at += word.len();
        Ok(Next::CommaOrEnd)
    }

    /// From the opening quote to past the closing one.
    #[inline]
    fn string(&mut self) -> Result<(), NotJson> {
        let start = self.at + 1;
        let mut marks = Marks::new(self.text, start);
        let at = loop {
            let Some(at) = marks.next() else {
                return Err(NotJson::Syntax(self.text.len()));
            };
            if self.text[at] == b'"' {
                break at;
            }
            match self.text.get(at + 1) {
                Some(b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                Some(b'"' | b'\\') => marks.pass(at + 2),
                Some(b'u') if hex4(self.text, at + 2).is_some() => {}
                _ => return Err(NotJson::Syntax(at)),
            }
        };
        if self.control
            && let Some(bad) = self.text[start..at].iter().position(|&byte| byte < 0x20)
        {
            return Err(NotJson::Syntax(start + bad));
        }
        self.at = at + 1;
        Ok(())
    }

    fn number(&mut self) -> Result<(), NotJson> {
        if self.text[self.at] == b'-' {
            self.at += 1;
        }
        match self.text.get(self.at) {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == start {
            Err(NotJson::Syntax(start))
        } else {
            Ok(())
        }
    }
}

/// The value of the four hexadecimal digits at `at`.
pub(super) fn hex4(text: &[u8], at: usize) -> Option<u32> {
    text.get(at..at + 4)?.iter().try_fold(0, |value, &digit| {
        Some(value << 4 | char::from(digit).to_digit(16)?)
    })
}

/// Whether any byte is below 0x20, white space included. Written so that it vectorises.
fn has_control(text: &[u8]) -> bool {
    let mut blocks = text.chunks_exact(256);
    let block = |bytes: &[u8]| bytes.iter().fold(false, |any, &byte| any | (byte < 0x20));
    blocks.any(block) || block(text.chunks_exact(256).remainder())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepts_what_rfc_8259_accepts() {
        for text in [
            "{}",
            "[]",
            "0",
            "-0",
            "1.10",
            "1E5",
            "1e400",
            "18446744073709551616",
            "\"\"",
            "true",
            " [ 1 , {\"a\" : null} ] ",
            r#""\ud83d""#,
            r#""\ud83d\ude00""#,
            r#"{"a":1,"a":2}"#,
        ] {
            assert_eq!(check(text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn refuses_what_rfc_8259_refuses() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "[,]",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "- 1",
            "nul",
            "nope",
            "'a'",
            "\"a",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\n\"",
            "{} {}",
            "[1]]",
            "[}",
            "{]",
            "{\"a\":nope}",
            "{1:2}",
            "NaN",
            "Infinity",
            "\u{feff}{}",
        ] {
            assert!(check(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(check(b"\"\xff\""), Err(NotJson::Utf8));
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert_eq!(check(&nested(MAX_DEPTH)), Ok(()));
        assert_eq!(
            check(&nested(MAX_DEPTH + 1)),
            Err(NotJson::Depth(MAX_DEPTH))
        );
        assert_eq!(
            check(&vec![b'['; 1_000_000]),
            Err(NotJson::Depth(MAX_DEPTH))
        );
    }

    #[test]
    fn members_are_those_of_the_outermost_object() {
        let text = br#" {"a" : {"b":[1,{"c":2}]} ,"d":"x\"y", "e":-1.5e3}"#;
        let mut seen = Vec::new();
        check_members(text, |key, value| seen.push((key.of(text), value.of(text)))).unwrap();
        let wanted: [(&[u8], &[u8]); 3] = [
            (b"a", br#"{"b":[1,{"c":2}]}"#),
            (b"d", br#""x\"y""#),
            (b"e", b"-1.5e3"),
        ];
        assert_eq!(seen, wanted);
        let mut none = 0;
        check_members(br#"[{"a":1},2]"#, |_, _| none += 1).unwrap();
        assert_eq!(none, 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn agrees_with_serde_json(
            value in arbitrary(),
            at in any::<prop::sample::Index>(),
            byte in prop::sample::select(b"\"\\{}[],:0-.eEtnu \x01x\xff".to_vec()),
        ) {
            let mut text = serde_json::to_vec(&value).unwrap();
            prop_assert_eq!(check(&text), Ok(()));
            let at = at.index(text.len());
            text[at] = byte;
            match serde_json::from_slice::<serde_json::Value>(&text) {
                Ok(_) => prop_assert_eq!(check(&text), Ok(())),
                Err(why) => {
                    let why = why.to_string();
                    let looser = why.contains("number out of range") || why.contains("surrogate")
                        || why.contains("unexpected end of hex escape");
                    prop_assert!(check(&text).is_err() || looser, "{why}");
                }
            }
        }
    }

    fn arbitrary() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            ".*".prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::vec((".*", inner), 0..6)
                    .prop_map(|all| serde_json::Value::Object(all.into_iter().collect())),
            ]
        })
    }
}
