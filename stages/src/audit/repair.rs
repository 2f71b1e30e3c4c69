//! A line torn by a crash, finished so that nothing is rewritten and every reader goes on.
//!
//! The torn bytes stay where they are. What a repair appends closes them to whole members of one
//! JSON object and goes on with all members of an entry of its own. Where a member occurs twice the
//! last one counts, for the SDK's verifier as for most readers of JSON; so the line *is* the entry
//! [`Event::LogRepaired`], which holds length and digest of the torn bytes.

use super::chain::{Chain, KEYS, Stamp};
use super::entry::{Entry, Event, Fact};
use super::line::StoredEntry;
use super::name::{Digest, Name};

const TORN_BYTES: Name = Name::literal("torn_bytes");
const TORN_HASH: Name = Name::literal("torn_hash");

/// Deeper than any line of ours.
const MAX_DEPTH: usize = 8;

/// Appends to `out` what makes of the `torn` end of a log a whole line, newline included.
///
/// Bytes that are not the beginning of an entry (a disk can leave zeros) cannot be closed; they get
/// a newline, and the entry that tells of them has a line of its own.
pub fn repair(chain: &mut Chain, stamp: &Stamp, torn: &[u8], out: &mut Vec<u8>) -> Repaired {
    let entry = Entry::new(Event::LogRepaired)
        .fact(TORN_BYTES, torn.len() as u64)
        .fact(TORN_HASH, Fact::Digest(Digest::of(torn)));
    let repaired = if let Some(closing) = closing(torn) {
        out.extend_from_slice(&closing);
        Repaired::Absorbed
    } else {
        out.push(b'\n');
        Repaired::SetAside
    };
    let line_start = out.len();
    chain.append(stamp, &entry, out);
    if matches!(repaired, Repaired::Absorbed) {
        out.remove(line_start);
    }
    out.push(b'\n');
    repaired
}

/// How a torn line was dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repaired {
    /// It is now the beginning of the line that tells of the repair.
    Absorbed,
    /// It stands as a line of its own that is no entry, before the one that tells of the repair.
    SetAside,
}

/// What a repair tells of the torn bytes: how many they were, and their SHA-256.
pub(super) fn facts(entry: &StoredEntry<'_>) -> Option<(u64, Digest)> {
    if Event::parse(entry.event_type) != Some(Event::LogRepaired) {
        return None;
    }
    let digest = Digest::from_hex(entry.text(TORN_HASH.as_str())?.as_bytes())?;
    Some((entry.number(TORN_BYTES.as_str())?, digest))
}

/// The bytes that, between the beginning of one line and the members of another, make one object.
pub(super) fn closing(torn: &[u8]) -> Option<Vec<u8>> {
    let mut scan = Scan {
        open: Vec::new(),
        at: At::Start,
        from: 0,
    };
    for (at, &byte) in torn.iter().enumerate() {
        scan.step(torn, at, byte)?;
    }
    scan.close(torn)
}

struct Scan {
    /// The brackets that are open, as the bytes that close them.
    open: Vec<u8>,
    at: At,
    /// Where the key, number or literal began that the scan is in.
    from: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    Start,
    /// After `{`, or after a comma in an object.
    BeforeKey {
        first: bool,
    },
    Key,
    AfterKey,
    /// After a colon; in a list after `[` (`first`) or a comma.
    BeforeValue {
        first: bool,
    },
    Text,
    Number,
    Literal(&'static str),
    AfterValue,
}

impl Scan {
    fn step(&mut self, torn: &[u8], at: usize, byte: u8) -> Option<()> {
        if self.at == At::Number {
            if matches!(byte, b'0'..=b'9' | b'.') {
                return Some(());
            }
            self.at = At::AfterValue;
        }
        self.at = match (self.at, byte) {
            (At::Start, b'{') => self.descend(b'}')?,
            (At::BeforeKey { .. }, b'"') => {
                self.from = at + 1;
                At::Key
            }
            (At::Key, b'"') => {
                let key = &torn[self.from..at];
                if self.open.len() == 1 && !KEYS.iter().any(|known| known.as_bytes() == key) {
                    return None;
                }
                At::AfterKey
            }
            (At::Text, b'"') => At::AfterValue,
            (At::Key | At::Text, b' '..=b'~') if byte != b'\\' => self.at,
            (At::AfterKey, b':') => At::BeforeValue { first: false },
            (At::BeforeValue { .. }, b'"') => At::Text,
            (At::BeforeValue { .. }, b'{') => self.descend(b'}')?,
            (At::BeforeValue { .. }, b'[') => self.descend(b']')?,
            (At::BeforeValue { .. }, b'0'..=b'9' | b'-') => At::Number,
            (At::BeforeValue { .. }, b'n') => self.literal("null", at),
            (At::BeforeValue { .. }, b't') => self.literal("true", at),
            (At::BeforeValue { .. }, b'f') => self.literal("false", at),
            (At::Literal(word), _) if word.as_bytes()[at - self.from] == byte => {
                if at + 1 - self.from == word.len() {
                    At::AfterValue
                } else {
                    self.at
                }
            }
            (At::AfterValue, b',') => match self.open.last()? {
                b'}' => At::BeforeKey { first: false },
                _ => At::BeforeValue { first: false },
            },
            (At::AfterValue, b'}' | b']') if self.open.last() == Some(&byte) => self.ascend()?,
            (At::BeforeKey { first: true }, b'}') | (At::BeforeValue { first: true }, b']') => {
                self.ascend()?
            }
            _ => return None,
        };
        Some(())
    }

    fn descend(&mut self, close: u8) -> Option<At> {
        self.open.push(close);
        (self.open.len() <= MAX_DEPTH).then_some(if close == b'}' {
            At::BeforeKey { first: true }
        } else {
            At::BeforeValue { first: true }
        })
    }

    /// Leaves a bracket; a whole object is nothing torn.
    fn ascend(&mut self) -> Option<At> {
        self.open.pop();
        (!self.open.is_empty()).then_some(At::AfterValue)
    }

    fn literal(&mut self, word: &'static str, at: usize) -> At {
        self.from = at;
        At::Literal(word)
    }

    fn close(mut self, torn: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let outermost = self.open.len() == 1;
        match self.at {
            At::Start => return None,
            At::BeforeKey { .. } if outermost => return Some(out),
            At::BeforeKey { first: true } | At::BeforeValue { first: true } => {
                out.push(self.open.pop()?);
            }
            At::BeforeKey { first: false } => out.extend_from_slice(b"\"\":0"),
            At::Key => {
                if outermost {
                    let begun = &torn[self.from..];
                    let key = KEYS
                        .iter()
                        .find(|known| known.as_bytes().starts_with(begun))?;
                    out.extend_from_slice(&key.as_bytes()[begun.len()..]);
                }
                out.extend_from_slice(b"\":0");
            }
            At::AfterKey => out.extend_from_slice(b":0"),
            At::BeforeValue { first: false } => out.push(b'0'),
            At::Text => out.push(b'"'),
            At::Number if torn.last().is_some_and(u8::is_ascii_digit) => {}
            At::Number => out.push(b'0'),
            At::Literal(word) => out.extend_from_slice(&word.as_bytes()[torn.len() - self.from..]),
            At::AfterValue => {}
        }
        out.extend(self.open.drain(1..).rev());
        out.push(b',');
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Id, Session, Token, read_line};
    use super::*;

    const STAMP: Stamp = Stamp {
        utc_micros: 1_796_110_200_000_000,
        mono_micros: 5,
        session: Session(9),
    };

    fn line() -> Vec<u8> {
        let mut entry = Entry::new(Event::ToolsCall)
            .fact(Name::literal("code"), Fact::Number(-1))
            .fact(
                Name::literal("names"),
                vec![Name::literal("a"), Name::literal("b")],
            );
        entry.id = Some(Id::Number(7));
        entry.count(Name::literal("EMAIL"), 2);
        entry.count(Name::literal("IBAN"), 2);
        entry.tokens = vec![
            Token {
                category: Name::literal("EMAIL"),
                number: 0,
            },
            Token {
                category: Name::literal("IBAN"),
                number: 1,
            },
        ];
        entry.spent(Name::literal("detect"), Duration::from_micros(1570));
        let mut line = Vec::new();
        Chain::genesis().append(&STAMP, &entry, &mut line);
        line
    }

    /// Wherever a line is torn, the repaired line is for a plain JSON reader the repair's entry.
    #[test]
    fn a_line_torn_at_any_byte_is_absorbed() {
        let line = line();
        for end in 1..line.len() {
            check(&line[..end]);
        }
    }

    #[test]
    fn a_repair_torn_at_any_byte_is_absorbed_as_well() {
        let mut twice = line()[..300].to_vec();
        let mut out = Vec::new();
        repair(&mut Chain::genesis(), &STAMP, &twice, &mut out);
        twice.extend_from_slice(&out[..out.len() - 2]);
        for end in 301..twice.len() {
            check(&twice[..end]);
        }
    }

    fn check(torn: &[u8]) {
        let mut chain = Chain::resume(3, Digest::of(b"the entry before"));
        let mut out = torn.to_vec();
        assert_eq!(
            repair(&mut chain, &STAMP, torn, &mut out),
            Repaired::Absorbed,
            "{}",
            torn.escape_ascii()
        );
        assert!(out.starts_with(torn) && out.pop() == Some(b'\n'));

        // As Python's json.loads and serde_json read it: the last of equal members counts.
        let mut plain: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&out).unwrap();
        let hash = plain.remove("entry_hash").unwrap();
        plain.sort_keys();
        assert_eq!(
            Digest::of(serde_json::to_string(&plain).unwrap().as_bytes()).to_string(),
            hash.as_str().unwrap()
        );
        assert_eq!(plain["seq"], 3);

        let read = read_line(&out).unwrap();
        assert_eq!(read.hash, chain.head());
        assert_eq!(read.absorbed, (torn != b"{").then_some(torn.len()));
        assert_eq!(read.entry.event_type, "log_repaired");
    }

    #[test]
    fn what_is_not_ours_is_set_aside() {
        let whole = line();
        for torn in [
            &b"\0\0\0"[..],
            b"hello",
            b"[",
            b"{\"unknown\":1",
            b"{\"categories\":{\"a\\",
            b"{}",
            &whole,
        ] {
            let mut out = Vec::new();
            let repaired = repair(&mut Chain::genesis(), &STAMP, torn, &mut out);
            assert_eq!(repaired, Repaired::SetAside, "{}", torn.escape_ascii());
            assert!(out.starts_with(b"\n{"));
        }
    }
}
