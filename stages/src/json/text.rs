//! What a JSON string says, where each part of it stands, and how to say something else.

use std::borrow::Cow;

use memchr::memchr;

use super::check::hex4;
use super::marks::Marks;

/// What the string content `raw` (without its quotes) says.
///
/// A lone surrogate decodes to U+FFFD; its raw bytes stay as they are unless somebody edits them.
#[must_use]
pub fn decode(raw: &[u8]) -> Cow<'_, str> {
    if memchr(b'\\', raw).is_none() {
        return String::from_utf8_lossy(raw);
    }
    let mut text = Vec::with_capacity(raw.len());
    decode_into(raw, &mut text);
    Cow::Owned(match String::from_utf8(text) {
        Ok(text) => text,
        Err(bad) => String::from_utf8_lossy(bad.as_bytes()).into_owned(),
    })
}

/// Appends what the string content `raw` says to `out`. It is UTF-8 if `raw` is.
pub fn decode_into(raw: &[u8], out: &mut Vec<u8>) {
    // No escape says more bytes than it has.
    out.reserve(raw.len());
    let mut done = 0;
    let mut marks = Marks::new(raw, 0);
    while let Some(at) = marks.next() {
        if raw[at] == b'"' {
            continue;
        }
        out.extend_from_slice(&raw[done..at]);
        let (length, char) = unescape(&raw[at..]);
        match u8::try_from(char) {
            Ok(byte @ 0..0x80) => out.push(byte),
            _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        done = at + length;
        marks.pass(done);
    }
    out.extend_from_slice(&raw[done..]);
}

/// How long the escape at the start of `raw` is, and what it stands for.
#[inline]
fn unescape(raw: &[u8]) -> (usize, char) {
    let char = match raw.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_unit(raw),
        Some(&other) => char::from(other),
        None => return (1, '\\'),
    };
    (2, char)
}

fn unescape_unit(raw: &[u8]) -> (usize, char) {
    let Some(unit) = hex4(raw, 2) else {
        return (2, 'u');
    };
    if (0xd800..0xdc00).contains(&unit)
        && raw.get(6..8) == Some(b"\\u")
        && let Some(low @ 0xdc00..0xe000) = hex4(raw, 8)
    {
        let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return (
            12,
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
        );
    }
    (
        6,
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
    )
}

/// Whether the string content `raw` says `text`.
#[must_use]
pub fn same_text(raw: &[u8], text: &[u8]) -> bool {
    raw == text || (raw.contains(&b'\\') && decode(raw).as_bytes() == text)
}

/// Maps offsets in a decoded string to offsets in its raw spelling, in one forward walk.
///
/// No table is kept: what costs is the distance walked, and only where something was found.
#[derive(Clone, Debug)]
pub struct Offsets<'a> {
    raw: &'a [u8],
    at: usize,
    decoded: usize,
    marks: Marks<'a>,
    /// Where the first escape at or behind `at` stands, or did before it was passed.
    escape: Option<usize>,
}

impl<'a> Offsets<'a> {
    /// Over the string content `raw`.
    #[must_use]
    pub fn new(raw: &'a [u8]) -> Self {
        Self {
            raw,
            at: 0,
            decoded: 0,
            marks: Marks::new(raw, 0),
            escape: None,
        }
    }

    /// Where the next escape stands.
    fn escape(&mut self) -> usize {
        match self.escape {
            Some(escape) if escape >= self.at => escape,
            _ => {
                self.marks.pass(self.at);
                let raw = self.raw;
                let next = self.marks.find(|mark| raw[*mark] == b'\\');
                *self.escape.insert(next.unwrap_or(raw.len()))
            }
        }
    }

    /// Where the character at the decoded offset `wanted` starts. Ask in rising order.
    pub fn raw(&mut self, wanted: usize) -> usize {
        while self.decoded < wanted {
            let plain = self.escape() - self.at;
            let step = plain.min(wanted - self.decoded);
            self.at += step;
            self.decoded += step;
            if self.decoded == wanted || self.at == self.raw.len() {
                break;
            }
            let (length, char) = unescape(&self.raw[self.at..]);
            self.at += length;
            self.decoded += char.len_utf8();
        }
        self.at
    }
}

/// Appends `text` as the content of a JSON string, escaped as RFC 8259 section 7 demands.
pub fn escape(text: &str, out: &mut Vec<u8>) {
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0..0x20 => b'u',
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[done..at]);
        done = at + 1;
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(b"00");
            out.extend([byte >> 4, byte & 15].map(|nibble| HEX[usize::from(nibble)]));
        }
    }
    out.extend_from_slice(&text.as_bytes()[done..]);
}

/// `text` as a JSON string, quotes and all.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'"');
    escape(text, &mut out);
    out.push(b'"');
    String::from_utf8(out).expect("text with ASCII escapes is UTF-8")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn inside(json: &str) -> &[u8] {
        &json.as_bytes()[1..json.len() - 1]
    }

    #[test]
    fn every_escape_is_read() {
        assert_eq!(
            decode(br#"\"\\\/\b\f\n\r\t\u0040\ud83d\ude00"#),
            "\"\\/\u{8}\u{c}\n\r\t@\u{1f600}"
        );
        assert_eq!(decode(br"a\ud83db"), "a\u{fffd}b");
        assert_eq!(decode(br"\ud83d\u0041"), "\u{fffd}A");
        assert!(same_text(br"\u0069d", b"id"));
        assert!(!same_text(br"\u0069d", b"ip"));
    }

    proptest! {
        #[test]
        fn decodes_and_escapes_as_serde_json(text in "(?s).*") {
            let theirs = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(decode(inside(&theirs)), text.as_str());
            let ours: String = serde_json::from_str(&quote(&text)).unwrap();
            prop_assert_eq!(ours, text);
        }

        #[test]
        fn offsets_point_at_the_same_rest(text in "(?s)[\\\\\"\n\u{1}-\u{1f}a-cé\u{1f600}]*", ascii in any::<bool>()) {
            let json = if ascii { ascii_json(&text) } else { serde_json::to_string(&text).unwrap() };
            let raw = inside(&json);
            let mut offsets = Offsets::new(raw);
            for (at, _) in text.char_indices() {
                let there = offsets.raw(at);
                prop_assert_eq!(decode(&raw[there..]), &text[at..]);
            }
            prop_assert_eq!(offsets.raw(text.len()), raw.len());
        }
    }

    /// Everything as `\uXXXX`.
    fn ascii_json(text: &str) -> String {
        let units: String = text
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        format!("\"{units}\"")
    }
}
