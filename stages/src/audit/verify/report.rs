//! What a verification came to.

use crate::audit::finding::{Finding, Severity};
use crate::audit::name::Digest;
use crate::audit::note::VerifierKey;

/// What a verification came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Entries that were read.
    pub entries: u64,
    /// Files that were read.
    pub files: u64,
    /// The number of the first entry that is there; more than 0 after old days were removed.
    pub first: u64,
    /// Time of the first and of the last entry.
    pub span: Option<(String, String)>,
    /// Hash of the last entry.
    pub head: Option<Digest>,
    /// Checkpoints whose signature and root are right.
    pub checkpoints: u64,
    /// How many entries the last of them covers.
    pub covered: u64,
    /// The keys whose signatures were accepted.
    pub keys: Vec<VerifierKey>,
    /// Whether the caller named the keys. If not, the log vouches for itself.
    pub keys_named: bool,
    /// What was found, in the order of the log.
    pub findings: Vec<Finding>,
    /// Findings beyond `Verifier::MAX_FINDINGS`: notices, and breaks.
    pub more: [u64; 2],
}

impl Report {
    /// Whether the log is what was written; it may still tell of gaps and crashes.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.more[1] == 0
            && self
                .findings
                .iter()
                .all(|finding| finding.problem.severity() == Severity::Notice)
    }
}
