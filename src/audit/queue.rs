//! What goes through the queue from the handles to the writer.

use std::fmt;
use std::sync::mpsc::SyncSender;

use bytes::Bytes;
use cloak_stages::audit::{Digest, Entry, PayloadKey, Stamp};

/// What goes through the queue.
pub(super) enum Item {
    Entry(Box<Recorded>),
    /// To be answered once all entries before it are committed.
    Flush(SyncSender<()>),
    Close,
}

/// An entry on its way to the writer.
pub(super) struct Recorded {
    pub(super) stamp: Stamp,
    pub(super) entry: Entry,
    pub(super) payloads: Option<Payloads>,
}

impl Recorded {
    /// How many bytes of payloads are to be digested.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.payloads
            .as_ref()
            .map_or(0, |Payloads { before, after }| before.len() + after.len())
    }

    /// Puts digests in the place of the payloads.
    pub(super) fn digest(&mut self, key: &PayloadKey) {
        if let Some(Payloads { before, after }) = self.payloads.take() {
            self.entry.before = Some(key.digest(&before));
            self.entry.after = Some(Digest::of(&after));
        }
    }
}

/// A message before and after it was worked on, of which the entry is to hold the digests.
///
/// Digesting takes longer than all else about an entry, so it is left to the writer. The bytes go
/// no further than that: an [`Entry`] has no room for them.
#[derive(Clone)]
pub struct Payloads {
    before: Bytes,
    after: Bytes,
}

impl Payloads {
    /// A message as it arrived, see [`Entry::before`], and as it left, see [`Entry::after`].
    #[must_use]
    pub fn new(before: &Bytes, after: &Bytes) -> Self {
        // What arrived may be a part of a buffer that is many times as long and would live as long.
        let kept = match before.len() < COPIED {
            true => Bytes::copy_from_slice(before),
            false => before.clone(),
        };
        let unchanged = (before.as_ptr(), before.len()) == (after.as_ptr(), after.len());
        Self {
            after: if unchanged {
                kept.clone()
            } else {
                after.clone()
            },
            before: kept,
        }
    }
}

/// Below this many bytes a payload is copied into the queue.
const COPIED: usize = 16 << 10;

impl fmt::Debug for Payloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Payloads(***)")
    }
}
