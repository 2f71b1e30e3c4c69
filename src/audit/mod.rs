//! The audit log on disk: one directory, one writer, files a day, and the commands that read them.
//!
//! ```text
//! Handle ─record─┐
//! Handle ─record─┼─ bounded queue ─> Writer: digest, chain, group ─> Committer: write, fsync ─> file of the day
//! Handle ─record─┘                        └─ now and then: tiles, checkpoint
//! ```
//!
//! What an entry is, how lines are chained and what a verification finds is in
//! [`cloak_stages::audit`]; here are the files, the clock and the thread.

mod clock;
mod command;
mod committer;
mod directory;
mod files;
mod handle;
mod key;
mod log;
mod options;
mod queue;
mod reading;
mod recover;
mod shared;
mod signing;
mod warning;
mod writer;

pub use clock::{Clock, Now, SystemClock};
pub use command::{AuditCommand, CommandError, Context, Verdict};
pub use files::{Append, Disk, Files};
pub use handle::Handle;
pub use key::{KeyError, KeyFile};
pub use log::{CloseError, Log, OpenError};
pub use options::{Fsync, Options};
pub use queue::Payloads;
pub use reading::{Verified, entries, verify};
pub use warning::Warning;
