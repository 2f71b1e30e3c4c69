//! What the people who run the gateway must hear about their log.

use std::path::PathBuf;

/// A warning; its text says what to do. None of them holds a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Writing fails.
    #[error(
        "the audit log in {} cannot be written: {error}; {}, and writing is tried again",
        dir.display(),
        if *.required { "calls are refused (audit.required is true)" } else { "traffic passes, its events are counted as a gap" }
    )]
    CannotWrite {
        /// The directory.
        dir: PathBuf,
        /// What the system says.
        error: String,
        /// Whether calls are refused now.
        required: bool,
    },
    /// Writing works again.
    #[error("the audit log can be written again")]
    Recovered,
    /// Entries were lost, and the log says so now.
    #[error("{missed} events are missing from the audit log, which records that gap")]
    Gap {
        /// How many.
        missed: u64,
    },
    /// Entries come faster than they can be written.
    #[error("the audit log does not keep up: its queue is full, events are being counted as a gap")]
    QueueFull,
    /// The writer is gone.
    #[error(
        "the audit log's writer has died; nothing is recorded until the gateway is started again"
    )]
    WriterDied,
    /// No checkpoint could be made.
    #[error("no checkpoint of the audit log in {} could be made: {error}; entries are recorded, the next checkpoint will cover them", dir.display())]
    Checkpoint {
        /// The directory.
        dir: PathBuf,
        /// What the system says.
        error: String,
    },
    /// Old days could not be removed.
    #[error("old days of the audit log in {} could not be removed: {error}", dir.display())]
    Prune {
        /// The directory.
        dir: PathBuf,
        /// What the system says.
        error: String,
    },
    /// A crash had torn the last line.
    #[error("the last line of the audit log in {} was torn by a crash ({bytes} bytes); it is kept and accounted for", dir.display())]
    Repaired {
        /// The directory.
        dir: PathBuf,
        /// How long it was.
        bytes: usize,
    },
    /// A lane cannot be gone on with, so another one is used.
    #[error("the audit log in {} is left as it is, and another one begun beside it: {why}; run `cloakllm-gateway audit verify`", dir.display())]
    Damaged {
        /// The directory.
        dir: PathBuf,
        /// What is wrong.
        why: String,
    },
}
