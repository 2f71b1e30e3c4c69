//! The way into a log.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use cloak_stages::audit::{Entry, PayloadKey, Recorder, Session, Stamp, Unrecorded};

use super::options::Options;
use super::queue::{Item, Payloads, Recorded};
use super::shared::Shared;

/// The way into a log: cheap to clone, usable from any thread, and never waiting for the disk.
#[derive(Clone)]
pub struct Handle {
    open: Option<Arc<Open>>,
    session: Session,
}

struct Open {
    queue: SyncSender<Item>,
    shared: Arc<Shared>,
    options: Options,
    payload_key: PayloadKey,
}

impl Handle {
    pub(super) fn new(
        queue: SyncSender<Item>,
        shared: Arc<Shared>,
        options: Options,
        payload_key: PayloadKey,
        session: Session,
    ) -> Self {
        let open = Open {
            queue,
            shared,
            options,
            payload_key,
        };
        Self {
            open: Some(Arc::new(open)),
            session,
        }
    }

    /// What leads to the writer.
    pub(super) fn to_writer(&self) -> Option<(&SyncSender<Item>, &Shared)> {
        self.open.as_ref().map(|open| (&open.queue, &*open.shared))
    }

    /// A handle that records nothing, for a gateway without a log.
    #[must_use]
    pub fn off() -> Self {
        Self {
            open: None,
            session: Session(0),
        }
    }

    /// A handle whose entries belong to this session.
    #[must_use]
    pub fn for_session(&self, session: Session) -> Self {
        Self {
            open: self.open.clone(),
            session,
        }
    }

    /// Whether there is a log behind this handle.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.open.is_some()
    }

    /// The session that entries of this handle belong to.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session
    }

    /// The secret under which payloads are digested before they are sanitised; see
    /// [`Entry::before`]. It is the same as long as the signing key is; `None` without a log.
    #[must_use]
    pub fn payload_key(&self) -> Option<&PayloadKey> {
        self.open.as_ref().map(|open| &open.payload_key)
    }

    /// Records an entry, stamped with the time of now. It never waits.
    ///
    /// What cannot be recorded is counted, and the log tells of that gap when it can again.
    ///
    /// # Errors
    ///
    /// Only if [`Options::required`] is set: what the entry tells of must then be refused.
    pub fn record(&self, entry: Entry) -> Result<(), Unrecorded> {
        self.put(entry, None)
    }

    /// Records an entry and the digests of what it is about.
    ///
    /// # Errors
    ///
    /// As [`record`](Self::record).
    pub fn record_with(&self, entry: Entry, payloads: Payloads) -> Result<(), Unrecorded> {
        self.put(entry, Some(payloads))
    }

    fn put(&self, entry: Entry, payloads: Option<Payloads>) -> Result<(), Unrecorded> {
        let Some(open) = &self.open else {
            return Ok(());
        };
        let Open {
            queue,
            shared,
            options,
            payload_key,
        } = &**open;
        if options.required && !shared.is_healthy() {
            shared.refused();
            return Err(Unrecorded);
        }
        let now = options.clock.now();
        let mut recorded = Recorded {
            stamp: Stamp {
                utc_micros: now.utc_micros,
                mono_micros: now.mono_micros,
                session: self.session,
            },
            entry,
            payloads,
        };
        if !shared.reserve(recorded.waiting_bytes()) {
            recorded.digest(payload_key);
        }
        match queue.try_send(Item::Entry(Box::new(recorded))) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(item)) => {
                if let Item::Entry(recorded) = item {
                    shared.release(recorded.waiting_bytes());
                }
                shared.overflowed(options);
            }
            Err(TrySendError::Disconnected(_)) => shared.died(options),
        }
        if options.required {
            Err(Unrecorded)
        } else {
            Ok(())
        }
    }

    /// Whether what is recorded now will be written, as far as one knows.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.open
            .as_ref()
            .is_none_or(|open| open.shared.is_healthy())
    }

    /// Entries that were lost and that the log does not tell of yet.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.shared.missing())
    }

    /// How many entries of the chain are committed, as [`Options::fsync`] defines that.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.shared.entries())
    }

    /// Waits until all entries recorded before are committed; false after `limit`.
    pub fn flush(&self, limit: Duration) -> bool {
        let Some(open) = &self.open else { return true };
        let (answer, answered) = sync_channel(1);
        open.queue.send(Item::Flush(answer)).is_ok() && answered.recv_timeout(limit).is_ok()
    }
}

impl Recorder for Handle {
    fn record(&mut self, entry: Entry) -> Result<(), Unrecorded> {
        Self::record(self, entry)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Handle({}, session {})",
            if self.open.is_some() { "open" } else { "off" },
            self.session
        )
    }
}
