//! A line of a log, read back.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::chain::HASH_MEMBER;
use super::name::Digest;
use super::repair;

/// The longest line that is read, in bytes; the writer's longest is well below.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// A line taken apart.
#[derive(Debug)]
pub struct Line<'a> {
    /// Its members.
    pub entry: StoredEntry<'a>,
    /// The hash its bytes have.
    pub hash: Digest,
    /// The hash it says it has.
    pub stated: Digest,
    /// How many torn bytes stand at its beginning, if more than the bracket that is there anyway.
    pub absorbed: Option<usize>,
}

impl Line<'_> {
    /// Whether this is the entry of a repair that found exactly `torn`, and left it as a line.
    #[must_use]
    pub fn accounts_for(&self, torn: &[u8]) -> bool {
        self.accounts_for_digest(torn.len() as u64, Digest::of(torn))
    }

    pub(super) fn accounts_for_digest(&self, bytes: u64, digest: Digest) -> bool {
        self.absorbed.is_none() && repair::facts(&self.entry) == Some((bytes, digest))
    }
}

/// The members of an entry that a reader of logs works with. Texts are as they are in the line.
#[derive(Debug, Deserialize)]
pub struct StoredEntry<'a> {
    /// Number of the entry in its chain, from 0.
    pub seq: u64,
    /// UTC, in the form `2026-12-01T07:30:00.000000+00:00`.
    pub timestamp: &'a str,
    /// See [`super::Event`].
    pub event_type: &'a str,
    /// Hash of the entry before.
    pub prev_hash: &'a str,
    /// Findings per category.
    #[serde(borrow)]
    pub categories: BTreeMap<&'a str, u64>,
    /// The tokens put in or taken out.
    pub tokens_used: Vec<&'a str>,
    /// Time spent in the gateway, in milliseconds.
    pub latency_ms: f64,
    /// Time per stage, in milliseconds.
    pub timing: Option<BTreeMap<&'a str, f64>>,
    /// Keyed digest of the payload as it arrived, or the empty text.
    pub prompt_hash: &'a str,
    /// SHA-256 of the payload as it left, or the empty text.
    pub sanitized_hash: &'a str,
    /// What only this gateway records.
    pub metadata: StoredMetadata<'a>,
}

/// The `metadata` of an entry.
#[derive(Debug, Deserialize)]
pub struct StoredMetadata<'a> {
    /// Length of the message as it arrived.
    #[serde(default)]
    pub bytes_in: u64,
    /// Length of the message as it left.
    #[serde(default)]
    pub bytes_out: u64,
    /// See [`super::Direction`].
    pub direction: Option<&'a str>,
    /// Facts by name.
    #[serde(borrow, default)]
    pub facts: BTreeMap<&'a str, StoredFact<'a>>,
    /// The JSON-RPC id.
    pub id: Option<StoredFact<'a>>,
    /// The JSON-RPC method.
    pub method: Option<&'a str>,
    /// Microseconds since the process started.
    #[serde(default)]
    pub mono_us: u64,
    /// See [`super::Outcome`].
    pub outcome: Option<&'a str>,
    /// 32 hexadecimal digits.
    #[serde(default)]
    pub session: &'a str,
    /// JSON strings that were changed.
    #[serde(default)]
    pub strings_changed: u64,
    /// JSON strings that were looked at.
    #[serde(default)]
    pub strings_seen: u64,
    /// The tool.
    pub tool: Option<&'a str>,
    /// The server.
    pub upstream: Option<&'a str>,
}

/// A fact, read back.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum StoredFact<'a> {
    /// A whole number.
    Number(i64),
    /// A name, a digest, a key or a signature.
    Text(&'a str),
    /// Some names.
    List(#[serde(borrow)] Vec<&'a str>),
}

impl<'a> StoredEntry<'a> {
    /// The fact of this name, if it is a number that is not negative.
    #[must_use]
    pub fn number(&self, fact: &str) -> Option<u64> {
        match self.metadata.facts.get(fact) {
            Some(StoredFact::Number(number)) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The fact of this name, if it is a text.
    #[must_use]
    pub fn text(&self, fact: &str) -> Option<&'a str> {
        match self.metadata.facts.get(fact) {
            Some(StoredFact::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// Why a line is no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// It is longer than [`MAX_LINE_BYTES`].
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// It does not end with a hash.
    #[error("the line does not end with its own hash: it is cut short, or not an audit entry")]
    NoHash,
    /// It is not JSON, or members are missing or of the wrong kind.
    #[error("the line is not an audit entry in canonical JSON")]
    NotAnEntry,
    /// It begins with bytes that the repair it tells of does not account for.
    #[error("the line begins with bytes that are no torn line of the length and digest it states")]
    NotARepair,
}

/// Takes a line, without its newline, apart and computes its hash.
///
/// The hash covers every byte, so that a line in any other spelling has another one.
///
/// # Errors
///
/// If the line is not an entry. Whether its hash is right is for the caller to see.
pub fn read_line(line: &[u8]) -> Result<Line<'_>, BadLine> {
    if line.len() > MAX_LINE_BYTES {
        return Err(BadLine::TooLong);
    }
    let (before, end) = line.split_last_chunk::<66>().ok_or(BadLine::NoHash)?;
    let before = before.strip_suffix(HASH_MEMBER).ok_or(BadLine::NoHash)?;
    let stated = end
        .strip_suffix(b"\"}")
        .and_then(Digest::from_hex)
        .ok_or(BadLine::NoHash)?;

    let start = memchr::memmem::rfind(before, START).unwrap_or(1);
    let (torn, body) = before.split_at_checked(start).ok_or(BadLine::NotAnEntry)?;
    let hash = Sha256::new_with_prefix(b"{")
        .chain_update(body)
        .chain_update(b"}")
        .finalize();
    let (entry, absorbed) = if torn == b"{" {
        (
            serde_json::from_slice(line).map_err(|_| BadLine::NotAnEntry)?,
            None,
        )
    } else {
        let entry = last_members(line).ok_or(BadLine::NotAnEntry)?;
        let length = absorbed(torn, &entry).ok_or(BadLine::NotARepair)?;
        (entry, Some(length))
    };
    Ok(Line {
        entry,
        hash: Digest(hash.into()),
        stated,
        absorbed,
    })
}

/// How the members of every repair begin, since it counts no findings.
const START: &[u8] = b"\"categories\":{},\"certificate_hash\":null,";

/// Of members that occur twice the last one counts.
fn last_members(line: &[u8]) -> Option<StoredEntry<'_>> {
    let members: BTreeMap<&str, &RawValue> = serde_json::from_slice(line).ok()?;
    StoredEntry::deserialize(MapDeserializer::<_, serde_json::Error>::new(
        members.into_iter(),
    ))
    .ok()
}

/// The length of the torn line within `torn`, which is that line and what closed it.
fn absorbed(torn: &[u8], entry: &StoredEntry<'_>) -> Option<usize> {
    let (bytes, digest) = repair::facts(entry)?;
    let (line, closing) = torn.split_at_checked(usize::try_from(bytes).ok()?)?;
    (Digest::of(line) == digest && repair::closing(line)? == closing).then_some(line.len())
}
