//! How a log is kept.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::clock::{Clock, SystemClock};
use super::key::KeyFile;
use super::warning::Warning;

/// When entries are made to survive the loss of power. A crash of the gateway loses none that was
/// written, whatever is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// After each group of entries that came together.
    #[default]
    Batch,
    /// After each entry.
    Each,
    /// When the system sees fit, which takes up to half a minute.
    None,
}

/// How a log is kept.
#[derive(Clone)]
pub struct Options {
    /// When entries are made to survive the loss of power.
    pub fsync: Fsync,
    /// Whether nothing may happen unrecorded: `Handle::record` then says so when it cannot.
    pub required: bool,
    /// How many entries may wait for the writer.
    pub queue: usize,
    /// How often a checkpoint is signed, if there is anything new.
    pub checkpoint_every: Duration,
    /// After how many entries a checkpoint is signed anyway.
    pub checkpoint_entries: u64,
    /// How many days are kept besides today; all, if there is no number.
    pub retention_days: Option<u32>,
    /// The key that signs checkpoints. Without it there are none, and nothing shows that the end
    /// of a log was cut off.
    pub key: Option<KeyFile>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Who hears warnings.
    pub warnings: Arc<dyn Fn(&Warning) + Send + Sync>,
}

impl Options {
    pub(super) fn warn(&self, warning: &Warning) {
        (self.warnings)(warning);
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fsync: Fsync::default(),
            required: false,
            queue: 16_384,
            checkpoint_every: Duration::from_secs(60),
            checkpoint_entries: 65_536,
            retention_days: None,
            key: None,
            clock: Arc::new(SystemClock::new()),
            warnings: Arc::new(|warning| eprintln!("warning: {warning}")),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("fsync", &self.fsync)
            .field("required", &self.required)
            .field("queue", &self.queue)
            .field("retention_days", &self.retention_days)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
