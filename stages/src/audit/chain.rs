//! The chain: each entry's line holds the hash of the line before it.
//!
//! A line is the canonical JSON of an entry in the schema of the CloakLLM SDK's `AuditEntry`, with
//! its own hash as the last member. So the rule fits in one sentence: *take the last member off a
//! line, and its SHA-256 is the hash that was taken off and that the next line names.* What the
//! SDK's schema has no field for is in `metadata`.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use super::canonical::Object;
use super::entry::Entry;
use super::name::Digest;

/// The members of a line before its hash, in canonical order.
pub(super) const KEYS: &[&str] = &[
    "categories",
    "certificate_hash",
    "entity_count",
    "entity_details",
    "event_id",
    "event_type",
    "key_id",
    "latency_ms",
    "metadata",
    "mode",
    "model",
    "prev_hash",
    "prompt_hash",
    "provider",
    "risk_assessment",
    "sanitized_hash",
    "seq",
    "timestamp",
    "timing",
    "tokens_used",
    HASH_KEY,
];

pub(super) const HASH_KEY: &str = "entry_hash";
/// What stands before the 64 digits of a line's own hash; `"}` stands after them.
pub(super) const HASH_MEMBER: &[u8] = b",\"entry_hash\":\"";

/// A session of the gateway: 128 random bits, the same in all entries of one conversation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Session(pub u128);

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// When an event happened and in which session; the caller owns the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub utc_micros: i64,
    /// Microseconds since the process started, from a clock that is never set.
    pub mono_micros: u64,
    /// The session it belongs to.
    pub session: Session,
}

/// The end of a chain, to which entries are added.
#[derive(Clone, Debug)]
pub struct Chain {
    seq: u64,
    head: Digest,
    clock_text: ClockText,
}

impl Chain {
    /// A chain without entries.
    #[must_use]
    pub fn genesis() -> Self {
        Self::resume(0, Digest::GENESIS)
    }

    /// A chain of `entries` entries, the last of which has the hash `head`.
    #[must_use]
    pub fn resume(entries: u64, head: Digest) -> Self {
        Self {
            seq: entries,
            head,
            clock_text: ClockText::default(),
        }
    }

    /// The number of entries; also the sequence number of the next one.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.seq
    }

    /// Whether no entry was written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seq == 0
    }

    /// The hash of the last entry.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.head
    }

    /// Appends the entry's line to `out`, without a newline, and returns its hash.
    pub fn append(&mut self, stamp: &Stamp, entry: &Entry, out: &mut Vec<u8>) -> Digest {
        let start = out.len();
        self.body(stamp, entry, out);
        let hash = Digest::of(&out[start..]);
        out.pop();
        out.extend_from_slice(HASH_MEMBER);
        out.extend_from_slice(&hash.hex());
        out.extend_from_slice(b"\"}");
        self.seq += 1;
        self.head = hash;
        hash
    }

    fn body(&mut self, stamp: &Stamp, entry: &Entry, out: &mut Vec<u8>) {
        let found = entry
            .categories
            .values()
            .fold(0, |sum: u64, count| sum.saturating_add(*count));
        let tokens = &entry.tokens[..entry.tokens.len().min(Entry::MAX_TOKENS)];
        let mut line = Object::open(out);

        let mut categories = Object::open(line.key(KEYS[0]));
        for (category, count) in &entry.categories {
            categories.number(category.as_str(), *count);
        }
        categories.close();

        line.null("certificate_hash");
        line.number("entity_count", found);
        line.key("entity_details").extend_from_slice(b"[]");
        line.text("event_id", event_id(stamp.session, self.seq, &mut [0; 36]));
        line.text("event_type", entry.event.as_str());
        line.null("key_id");
        line.millis("latency_ms", micros(entry.latency));
        metadata(Object::open(line.key("metadata")), stamp, entry);
        line.text_or_null("mode", (found > 0).then_some("tokenize"));
        line.null("model");
        line.digest("prev_hash", Some(&self.head));
        line.digest("prompt_hash", entry.before.as_ref());
        line.null("provider");
        line.null("risk_assessment");
        line.digest("sanitized_hash", entry.after.as_ref());
        line.number("seq", self.seq);
        line.text("timestamp", self.clock_text.of(stamp.utc_micros));
        timing(&mut line, entry);
        line.tokens("tokens_used", tokens);
        line.close();
    }
}

fn metadata(mut metadata: Object<'_>, stamp: &Stamp, entry: &Entry) {
    metadata.count("bytes_in", entry.bytes_in);
    metadata.count("bytes_out", entry.bytes_out);
    if let Some(direction) = entry.direction {
        metadata.text("direction", direction.as_str());
    }
    if !entry.facts.is_empty() {
        let mut facts = Object::open(metadata.key("facts"));
        for (name, fact) in &entry.facts {
            facts.fact(name, fact);
        }
        facts.close();
    }
    metadata.id("id", entry.id.as_ref());
    metadata.name("method", entry.method.as_ref());
    metadata.number("mono_us", stamp.mono_micros);
    if let Some(outcome) = entry.outcome {
        metadata.text("outcome", outcome.as_str());
    }
    metadata.text("session", session_text(stamp.session, &mut [0; 32]));
    metadata.count("strings_changed", entry.strings_changed);
    metadata.count("strings_seen", entry.strings_seen);
    metadata.count(
        "tokens_more",
        entry
            .more_tokens
            .saturating_add(entry.tokens.len().saturating_sub(Entry::MAX_TOKENS) as u64),
    );
    metadata.name("tool", entry.tool.as_ref());
    metadata.name("upstream", entry.upstream.as_ref());
    metadata.close();
}

fn timing(line: &mut Object<'_>, entry: &Entry) {
    if entry.timing.is_empty() {
        return line.null("timing");
    }
    let mut timing = Object::open(line.key("timing"));
    for (stage, spent) in &entry.timing {
        timing.millis(stage.as_str(), micros(*spent));
    }
    timing.close();
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn session_text(session: Session, text: &mut [u8; 32]) -> &str {
    hex(&session.0.to_be_bytes(), text)
}

/// A UUID of version 8 (RFC 9562): 74 bits of the session and 48 of the sequence number.
fn event_id(session: Session, seq: u64, text: &mut [u8; 36]) -> &str {
    let mut bytes = session.0.to_be_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes[10..].copy_from_slice(&seq.to_be_bytes()[2..]);
    let mut digits = [0; 32];
    let digits = hex(&bytes, &mut digits).as_bytes();
    let mut from = 0;
    for (at, byte) in text.iter_mut().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            *byte = b'-';
        } else {
            *byte = digits[from];
            from += 1;
        }
    }
    std::str::from_utf8(text).expect("hexadecimal digits are text")
}

fn hex<'t>(bytes: &[u8; 16], text: &'t mut [u8; 32]) -> &'t str {
    data_encoding::HEXLOWER.encode_mut(bytes, text);
    std::str::from_utf8(text).expect("hexadecimal digits are text")
}

/// The time as the SDK writes it, `2026-12-01T07:30:00.000000+00:00`.
///
/// The part up to the seconds is kept, since many entries share it.
#[derive(Clone, Debug, Default)]
struct ClockText {
    second: Option<i64>,
    text: String,
}

impl ClockText {
    fn of(&mut self, utc_micros: i64) -> &str {
        use fmt::Write;
        let second = utc_micros.div_euclid(1_000_000);
        if self.second != Some(second) {
            // Years beyond 9999 are clamped: a broken clock must not stop the log.
            let time = Timestamp::from_second(second).unwrap_or(Timestamp::MAX);
            self.text = time.strftime("%Y-%m-%dT%H:%M:%S").to_string();
            self.second = Some(second);
        }
        self.text.truncate("2026-12-01T07:30:00".len());
        write!(self.text, ".{:06}+00:00", utc_micros.rem_euclid(1_000_000))
            .expect("a String takes all");
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Direction, Event, Fact, Id, Name, Outcome, PayloadKey, Token};
    use super::*;

    fn stamp(second: i64) -> Stamp {
        Stamp {
            utc_micros: second * 1_000_000 + 42,
            mono_micros: second as u64,
            session: Session(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef),
        }
    }

    fn full_entry() -> Entry {
        let mut entry =
            Entry::new(Event::ToolsCall).fact(Name::literal("code"), Fact::Number(-32601));
        entry.direction = Some(Direction::ToModel);
        entry.outcome = Some(Outcome::Forwarded);
        entry.upstream = Name::parse("fs");
        entry.method = Name::parse("tools/call");
        entry.tool = Name::parse("read_text_file");
        entry.id = Some(Id::Number(7));
        (entry.bytes_in, entry.bytes_out) = (1234, 1200);
        (entry.strings_seen, entry.strings_changed) = (12, 3);
        entry.count(Name::literal("PHONE"), 1);
        entry.count(Name::literal("EMAIL"), 2);
        entry.tokens = vec![Token {
            category: Name::literal("EMAIL"),
            number: 0,
        }];
        entry.before = Some(PayloadKey::new([1; 32]).digest(b"before"));
        entry.after = Some(Digest::of(b"after"));
        entry.latency = Duration::from_micros(1570);
        for (stage, micros) in [("sanitize", 500), ("detect", 70), ("detect", 1000)] {
            entry.spent(Name::literal(stage), Duration::from_micros(micros));
        }
        entry
    }

    #[test]
    fn a_line_is_what_the_schema_says() {
        let mut out = Vec::new();
        let mut chain = Chain::genesis();
        let hash = chain.append(&stamp(1_796_110_200), &full_entry(), &mut out);
        let line = String::from_utf8(out).unwrap();
        let before = PayloadKey::new([1; 32]).digest(b"before");
        let after = Digest::of(b"after");
        let want = [
            r#"{"categories":{"EMAIL":2,"PHONE":1},"certificate_hash":null,"entity_count":3,"entity_details":[],"#,
            r#""event_id":"01234567-89ab-8def-8123-000000000000","event_type":"tools_call","key_id":null,"#,
            r#""latency_ms":1.57,"metadata":{"bytes_in":1234,"bytes_out":1200,"direction":"to_model","#,
            r#""facts":{"code":-32601},"id":7,"method":"tools/call","mono_us":1796110200,"outcome":"forwarded","#,
            r#""session":"0123456789abcdef0123456789abcdef","strings_changed":3,"strings_seen":12,"#,
            r#""tool":"read_text_file","upstream":"fs"},"mode":"tokenize","model":null,"#,
            &format!(r#""prev_hash":"{}","prompt_hash":"{before}","provider":null,"#, "0".repeat(64)),
            &format!(r#""risk_assessment":null,"sanitized_hash":"{after}","seq":0,"#),
            r#""timestamp":"2026-12-01T07:30:00.000042+00:00","timing":{"detect":1.07,"sanitize":0.5},"#,
            &format!(r#""tokens_used":["[EMAIL_0]"],"entry_hash":"{hash}"}}"#),
        ]
        .concat();
        assert_eq!(line, want);
        assert_eq!((chain.len(), chain.head()), (1, hash));
    }

    #[test]
    fn the_hash_is_that_of_the_line_without_it() {
        let mut out = Vec::new();
        let hash = Chain::genesis().append(&stamp(1), &Entry::new(Event::SessionStart), &mut out);
        let text = String::from_utf8(out).unwrap();
        let body = text.replace(&format!(",\"entry_hash\":\"{hash}\""), "");
        assert_eq!(Digest::of(body.as_bytes()), hash);
    }

    #[test]
    fn keys_are_listed_in_the_order_of_the_line() {
        let mut out = Vec::new();
        Chain::genesis().append(&stamp(1), &full_entry(), &mut out);
        let line: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&out).unwrap();
        assert_eq!(line.keys().map(String::as_str).collect::<Vec<_>>(), KEYS);
    }

    #[test]
    fn a_broken_clock_is_written_down_without_a_panic() {
        let mut text = ClockText::default();
        assert_eq!(text.of(-1), "1969-12-31T23:59:59.999999+00:00");
        assert!(text.of(i64::MAX).starts_with("9999-12-"));
        assert!(text.of(i64::MIN).ends_with("+00:00"));
    }
}
