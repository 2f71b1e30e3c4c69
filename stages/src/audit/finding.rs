//! What a verification found, in words for people.

use std::fmt;

use super::line::BadLine;
use super::name::Digest;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The log is whole, and tells of something an auditor will ask about.
    Notice,
    /// The log is not what was written.
    Broken,
}

/// One finding and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, and the line in it, counted from 1; neither for what is missing at the end.
    pub place: Option<(String, u64)>,
    /// The number of the entry; of a line that is no entry, the number that was due.
    pub entry: u64,
    /// What is wrong with it.
    pub problem: Problem,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}", self.entry)?;
        if let Some((file, line)) = &self.place {
            write!(f, " ({file}:{line})")?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// Everything a verification can find.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The line is no entry.
    #[error("{0}")]
    BadLine(BadLine),
    /// The line was altered after it was written.
    #[error("the entry was altered: it states the hash {}… and has {}…", short(.stated), short(.actual))]
    Altered {
        /// The hash in the line.
        stated: Digest,
        /// The hash of the line.
        actual: Digest,
    },
    /// The entry was written after another entry than the one that stands before it.
    #[error(
        "the entry does not follow from the one before it: that one was replaced, or the chain starts anew here"
    )]
    Unlinked,
    /// Entries that were there are not.
    #[error("{} missing", entries(*.from, *.to))]
    Missing {
        /// The first that is missing.
        from: u64,
        /// The last that is missing.
        to: u64,
    },
    /// The entry stands at the wrong place.
    #[error("the entry is out of order: entry {due} was due here")]
    OutOfOrder {
        /// The number that was due.
        due: u64,
    },
    /// The entry stands there twice.
    #[error("the entry is there twice")]
    Twice,
    /// A checkpoint covers entries that are not there.
    #[error("{} missing: the checkpoint in {source_name} was signed over {size} entries", entries(*.from, size - 1))]
    TailMissing {
        /// The first entry that is missing.
        from: u64,
        /// The size of the checkpoint.
        size: u64,
        /// Where the checkpoint was read.
        source_name: String,
    },
    /// The entries up to a checkpoint are not those it was signed over.
    #[error("the entries up to here are not those that the checkpoint in {source_name} was signed over: at least one of the entries {since} to {} was replaced", size - 1)]
    OtherTree {
        /// The first entry that no earlier checkpoint covers.
        since: u64,
        /// The size of the checkpoint.
        size: u64,
        /// Where the checkpoint was read.
        source_name: String,
    },
    /// A checkpoint cannot be read.
    #[error("the checkpoint in {source_name} cannot be read")]
    BadCheckpoint {
        /// Where it was read.
        source_name: String,
    },
    /// A checkpoint bears no signature of a key that is trusted here.
    #[error("the checkpoint in {source_name} is not signed by {}", if *.named { "any of the given keys" } else { "the key that the log names" })]
    BadSignature {
        /// Where it was read.
        source_name: String,
        /// Whether keys were given from outside.
        named: bool,
    },
    /// The checkpoint on file is older than one the log records.
    #[error(
        "the checkpoint in {source_name} is of {size} entries, older than one the log itself records: it was put back"
    )]
    OldCheckpoint {
        /// Where it was read.
        source_name: String,
        /// Its size.
        size: u64,
    },
    /// The log records checkpoints, and the latest is not on file.
    #[error(
        "the log's latest checkpoint is not on file: nothing shows whether entries were cut off after the last one recorded"
    )]
    NoCheckpoint,
    /// The key was replaced and the one before did not sign that.
    #[error("the signing key was replaced by one that the key before it did not sign for")]
    KeyNotSigned,
    /// A tile holds another hash than the entry has.
    #[error(
        "the entry is not the one whose hash was stored in {path}: one of the two was replaced"
    )]
    OtherTile {
        /// The path of the tile.
        path: String,
    },
    /// A tile is not there.
    #[error("{path} is missing: the entries are whole, but proofs about them cannot be made")]
    NoTile {
        /// The path of the tile.
        path: String,
    },
    /// The hashes of removed days are not there.
    #[error(
        "older entries were removed, and the tiles that keep their hashes cannot be read: checkpoints cannot be compared"
    )]
    NoHistory,
    /// Entries were lost before they were written, and the log says so.
    #[error(
        "{missed} events were not recorded here, because the log could not be written or its queue was full"
    )]
    Gap {
        /// How many.
        missed: u64,
    },
    /// A crash tore a line, and the log says so.
    #[error("{bytes} bytes of an unfinished line were left by a crash and are accounted for")]
    Repaired {
        /// How many bytes.
        bytes: u64,
    },
    /// A process ended without closing the log.
    #[error("the process before did not close the log: it was killed, or the machine stopped")]
    NotClosed,
    /// The clock went back.
    #[error("the clock went back from {before} to {now}")]
    ClockBack {
        /// The time of the entry before.
        before: String,
        /// The time of this one.
        now: String,
    },
    /// The clock that is never set went back, within one process.
    #[error(
        "the time since the start of the process went back from {before} to {now} microseconds"
    )]
    MonotonicBack {
        /// Microseconds of the entry before.
        before: u64,
        /// Microseconds of this one.
        now: u64,
    },
}

impl Problem {
    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::NoTile { .. }
            | Self::NoCheckpoint
            | Self::Gap { .. }
            | Self::Repaired { .. }
            | Self::NotClosed
            | Self::ClockBack { .. }
            | Self::MonotonicBack { .. } => Severity::Notice,
            _ => Severity::Broken,
        }
    }
}

fn short(digest: &Digest) -> String {
    digest.to_string()[..12].to_owned()
}

fn entries(from: u64, to: u64) -> String {
    if from == to {
        format!("entry {from} is")
    } else {
        format!("entries {from} to {to} are")
    }
}
