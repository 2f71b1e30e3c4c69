//! What the writer and the handles tell each other beside the queue.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::options::Options;
use super::warning::Warning;

/// The most bytes of payloads that wait in the queue to be digested. One that does not fit is
/// digested by whoever brings it.
const MAX_WAITING_BYTES: usize = 8 << 20;

/// The state of a log that is being written.
#[derive(Debug)]
pub(super) struct Shared {
    healthy: AtomicBool,
    closing: AtomicBool,
    missed: AtomicU64,
    committed: AtomicU64,
    /// Bytes of payloads in the queue.
    waiting_bytes: AtomicUsize,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            healthy: AtomicBool::new(true),
            closing: AtomicBool::new(false),
            missed: AtomicU64::new(0),
            committed: AtomicU64::new(0),
            waiting_bytes: AtomicUsize::new(0),
        }
    }
}

impl Shared {
    pub(super) fn is_healthy(&self) -> bool {
        self.healthy.load(Ordering::Relaxed)
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Nothing will be written any more.
    pub(super) fn give_up(&self) {
        self.healthy.store(false, Ordering::Relaxed);
    }

    /// Whether so many bytes of payloads may still go into the queue; if so, they count.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= MAX_WAITING_BYTES;
        if !fits {
            self.release(bytes);
        }
        fits
    }

    /// They are in the queue no more.
    pub(super) fn release(&self, bytes: usize) {
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// How many entries were lost that the log does not tell of.
    pub(super) fn missing(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// How many entries are committed.
    pub(super) fn entries(&self) -> u64 {
        self.committed.load(Ordering::Acquire)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(super) fn take_missed(&self) -> u64 {
        self.missed.swap(0, Ordering::Relaxed)
    }

    pub(super) fn failed(&self, options: &Options, dir: &Path, error: &io::Error) {
        if self.healthy.swap(false, Ordering::Relaxed) {
            let (dir, error) = (dir.to_owned(), error.to_string());
            options.warn(&Warning::CannotWrite {
                dir,
                error,
                required: options.required,
            });
        }
    }

    pub(super) fn committed(&self, options: &Options, entries: u64) {
        self.committed.store(entries, Ordering::Release);
        if !self.healthy.swap(true, Ordering::Relaxed) {
            options.warn(&Warning::Recovered);
        }
    }

    /// One more is lost since the queue is full.
    pub(super) fn overflowed(&self, options: &Options) {
        if self.missed.fetch_add(1, Ordering::Relaxed) == 0 {
            options.warn(&Warning::QueueFull);
        }
    }

    /// One more is lost since nothing can be written, which was told already.
    pub(super) fn refused(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// One more is lost since the writer is dead.
    pub(super) fn died(&self, options: &Options) {
        self.missed.fetch_add(1, Ordering::Relaxed);
        if self.healthy.swap(false, Ordering::Relaxed) && !self.is_closing() {
            options.warn(&Warning::WriterDied);
        }
    }
}
