//! The verifier: reads a log from its first line to its last and says which entry breaks.

mod entries;
mod lines;
mod report;
mod trees;

use std::collections::BTreeMap;

use lines::Unread;
pub use report::Report;
use trees::Kept;

use super::finding::{Finding, Problem, Severity};
use super::keyring::Keyring;
use super::name::Digest;
use super::note::VerifierKey;
use super::tree::{TileAt, TileStore, Tree};

/// Reads logs; see the [module](super).
///
/// It holds one line, the edge of the tree and at most [`Verifier::MAX_FINDINGS`] findings.
#[derive(Debug)]
pub struct Verifier<S> {
    store: S,
    keys: Keyring,
    due: Due,
    /// A line that is no entry, until the next one tells whether it was torn by a crash.
    unread: Option<Unread>,
    tree: Tree,
    /// Whether the tree still has a leaf for each entry at its place.
    comparable: bool,
    /// Whether a root was another one, so that all later ones are too.
    diverged: bool,
    /// Whether the hashes of removed entries are missing.
    no_history: bool,
    kept: BTreeMap<u64, Vec<Kept>>,
    latest: Option<(String, u64)>,
    missing_tiles: Vec<TileAt>,
    removed: Removed,
    clock: Clock,
    report: Report,
}

/// What the next line has to be.
#[derive(Debug)]
struct Due {
    seq: u64,
    /// The hash that the line before states, and the one it has; `None` where any will do.
    hashes: Option<[Digest; 2]>,
}

/// A file, and a line in it.
type Place = (String, u64);

/// Entries at the beginning that are not there.
#[derive(Debug, Default)]
struct Removed {
    until: u64,
    place: Option<Place>,
    recorded: bool,
}

#[derive(Debug, Default)]
struct Clock {
    utc: String,
    mono: u64,
    open: bool,
}

impl Verifier<()> {
    /// The most findings that are told one by one.
    pub const MAX_FINDINGS: usize = 1000;
}

impl<S: TileStore> Verifier<S> {
    /// A verifier that trusts these keys; without any, the keys that the log itself names.
    ///
    /// The tiles in `store` are compared with the entries, and give the hashes of removed days.
    pub fn new(keys: &[VerifierKey], store: S) -> Self {
        Self {
            store,
            keys: Keyring::new(keys),
            due: Due {
                seq: 0,
                hashes: Some([Digest::GENESIS; 2]),
            },
            unread: None,
            tree: Tree::new(),
            comparable: true,
            diverged: false,
            no_history: false,
            kept: BTreeMap::new(),
            latest: None,
            missing_tiles: Vec::new(),
            removed: Removed::default(),
            clock: Clock::default(),
            report: Report::default(),
        }
    }

    /// Ends the verification.
    pub fn finish(mut self) -> Report {
        self.settle_unread(None);
        if self.tree.size() == 0 {
            self.compare_kept();
        }
        if self.removed.until > 0 && !self.removed.recorded {
            let place = self.removed.place.take();
            self.found(
                place,
                0,
                Problem::Missing {
                    from: 0,
                    to: self.removed.until - 1,
                },
            );
        }
        let end = self.due.seq;
        if self.no_history && !self.kept.is_empty() {
            self.found(None, self.report.first, Problem::NoHistory);
        }
        for Kept {
            name,
            note,
            checkpoint,
        } in std::mem::take(&mut self.kept).into_values().flatten()
        {
            let size = checkpoint.size;
            match self.keys.signed(&note, checkpoint, name.clone()) {
                Err(problem) => self.found(None, size.saturating_sub(1), problem),
                Ok(_) if size > end => self.found(
                    None,
                    end,
                    Problem::TailMissing {
                        from: end,
                        size,
                        source_name: name,
                    },
                ),
                Ok(_) => {}
            }
        }
        let covered = self.report.covered;
        match self.latest.take() {
            Some((source_name, size)) if size < covered => {
                self.found(None, size, Problem::OldCheckpoint { source_name, size });
            }
            None if covered > 0 => self.found(None, covered, Problem::NoCheckpoint),
            _ => {}
        }
        self.report.keys = self.keys.used;
        self.report.keys_named = self.keys.named;
        self.report
    }

    fn found(&mut self, place: Option<Place>, entry: u64, problem: Problem) {
        if self.report.findings.len() < Verifier::MAX_FINDINGS {
            self.report.findings.push(Finding {
                place,
                entry,
                problem,
            });
        } else {
            self.report.more[usize::from(problem.severity() == Severity::Broken)] += 1;
        }
    }
}
