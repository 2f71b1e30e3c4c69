//! A record of what was protected, which holds no value and shows every tampering.
//!
//! ```text
//! Entry ──> Chain ──> line of JSON ──> file of the day         (hash of the line before)
//!                          └─> Tree ──> tiles, root ──> Checkpoint ──> signed Note
//! lines, tiles, note ──> Verifier ──> Report: which entry breaks
//!                    └─> Proof: one entry, or one prefix, checked without the log
//! ```
//!
//! All of it is pure: files, clocks and random numbers are the caller's. The lines are entries of
//! the CloakLLM SDK, so that its verifier accepts them too.
//!
//! ```
//! use cloak_stages::audit::{Chain, Entry, Event, Session, Stamp, Verifier};
//!
//! let stamp = Stamp { utc_micros: 1_796_110_200_000_000, mono_micros: 0, session: Session(42) };
//! let mut log = Vec::new();
//! let mut chain = Chain::genesis();
//! for event in [Event::SessionStart, Event::SessionEnd] {
//!     chain.append(&stamp, &Entry::new(event), &mut log);
//!     log.push(b'\n');
//! }
//!
//! let mut verifier = Verifier::new(&[], |_: &str| None);
//! verifier.read("audit_2026-12-01.jsonl", &log[..])?;
//! let report = verifier.finish();
//! assert!(report.is_intact() && report.entries == 2);
//! # Ok::<(), std::io::Error>(())
//! ```

mod canonical;
mod chain;
mod checkpoint;
mod entry;
mod finding;
mod keyring;
mod line;
mod name;
mod note;
mod proof;
mod repair;
mod tree;
mod verify;

pub use chain::{Chain, Session, Stamp};
pub use checkpoint::{BadCheckpoint, Checkpoint};
pub use entry::{Direction, Entry, Event, Fact, Outcome, Recorder, Unrecorded};
pub use finding::{Finding, Problem, Severity};
pub use keyring::{checkpoint_entry, endorse, endorsement, key_change};
pub use line::{BadLine, Line, MAX_LINE_BYTES, StoredEntry, StoredFact, StoredMetadata, read_line};
pub use name::{Digest, Id, Name, PayloadKey, Token};
pub use note::{BadKey, BadNote, Note, Signature, SignerKey, VerifierKey};
pub use proof::{BadProof, Proof, Proven};
pub use repair::{Repaired, repair};
pub use tree::{Tile, TileAt, TileStore, Tree, leaf_hash, node_hash, subtree_hash};
pub use verify::{Report, Verifier};
