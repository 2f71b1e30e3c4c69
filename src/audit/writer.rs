//! The thread that chains: takes entries from the queue and hands them on in groups, to be
//! committed.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cloak_stages::audit::{Chain, Entry, Event, Name, PayloadKey, Session, Stamp, repair};
use jiff::Timestamp;

use super::committer::{Committer, Group};
use super::directory::{Day, Lock, days};
use super::files::Files;
use super::options::{Fsync, Options};
use super::queue::Item;
use super::recover::{PUBLIC_KEY, Recovered, first_seq};
use super::shared::Shared;
use super::signing::Signing;
use super::warning::Warning;

/// The most bytes that are committed at once, apart from the last entry of a batch. The disk takes
/// about as long for a sync as for some megabytes.
const BATCH_BYTES: usize = 4 << 20;
const DAY_MICROS: i64 = 86_400_000_000;

pub(super) struct Writer {
    pub(super) dir: PathBuf,
    options: Options,
    files: Arc<Mutex<Box<dyn Files>>>,
    shared: Arc<Shared>,
    session: Session,
    payload_key: PayloadKey,
    chain: Chain,
    signing: Option<Signing>,
    /// Whether a new day began since old days were removed.
    prune_due: bool,
    /// Days since 1970 of the file that is written.
    day: i64,
    path: Arc<PathBuf>,
    pending: Vec<u8>,
    /// Who waits for what is pending.
    waiting: Vec<SyncSender<()>>,
    last: (i64, u64),
    /// Entries since the last checkpoint that are more than a record of that checkpoint.
    uncovered: u64,
    next_checkpoint: Option<Instant>,
    committer: Committer,
    /// Dropped last.
    _lock: Lock,
}

impl Writer {
    /// A writer that goes on where `found` ends.
    ///
    /// # Errors
    ///
    /// If the system has no thread for it.
    pub(super) fn new(
        (dir, lock): (PathBuf, Lock),
        (options, payload_key): (Options, PayloadKey),
        files: Box<dyn Files>,
        shared: Arc<Shared>,
        session: Session,
        found: &Recovered,
    ) -> io::Result<Self> {
        let signing = options
            .key
            .clone()
            .map(|key| Signing::new(key, found.tree.clone().unwrap_or_default()));
        let next_checkpoint = Instant::now().checked_add(options.checkpoint_every);
        let files = Arc::new(Mutex::new(files));
        let committer = Committer::start(
            dir.clone(),
            Arc::clone(&files),
            options.clone(),
            Arc::clone(&shared),
        )?;
        let day = found.day.as_ref();
        Ok(Self {
            options,
            files,
            shared,
            session,
            payload_key,
            chain: found.chain.clone(),
            signing,
            prune_due: true,
            day: day
                .and_then(|day| day_number(&day.date))
                .unwrap_or(i64::MIN),
            path: Arc::new(day.map(|day| day.path.clone()).unwrap_or_default()),
            pending: Vec::new(),
            waiting: Vec::new(),
            last: (i64::MIN, 0),
            uncovered: 0,
            next_checkpoint,
            committer,
            dir,
            _lock: lock,
        })
    }

    /// Writes what the opening of a log has to say, beginning with what a crash left. One attempt:
    /// a log that cannot be written at its start is not opened.
    pub(super) fn begin(
        &mut self,
        found: &Recovered,
        lane: u32,
        linked: Option<Session>,
    ) -> io::Result<()> {
        if found.lacks_newline {
            self.pending.push(b'\n');
        }
        if !found.torn.is_empty() {
            let stamp = self.stamp();
            repair(&mut self.chain, &stamp, &found.torn, &mut self.pending);
            self.count();
            self.options.warn(&Warning::Repaired {
                dir: self.dir.clone(),
                bytes: found.torn.len(),
            });
        }
        // These belong to the file that was torn, whatever day it is.
        self.commit_once()?;
        if let (Some((checkpoint, note)), Some(key)) = (&found.checkpoint, &found.key)
            && checkpoint.size == self.chain.len()
            && let Some(signature) = note.signature_of(key)
        {
            self.add_own(&cloak_stages::audit::checkpoint_entry(
                checkpoint, key, signature,
            ));
        }
        self.add_own(&self.opened(lane, linked));
        if let Some(change) = self
            .signing
            .as_ref()
            .and_then(|signing| signing.key_change(found.key.as_ref()))
        {
            self.add_own(&change);
        }
        self.commit_once()?;
        if let Some(signing) = &self.signing {
            let public = format!("{}\n", signing.key.key.public());
            lock(&self.files).replace(&self.dir.join(PUBLIC_KEY), public.as_bytes())?;
        }
        Ok(())
    }

    fn opened(&self, lane: u32, linked: Option<Session>) -> Entry {
        let mut entry = Entry::new(Event::LogOpened).fact(Name::literal("lane"), u64::from(lane));
        if let Some(version) = Name::parse(concat!("v", env!("CARGO_PKG_VERSION"))) {
            entry = entry.fact(Name::literal("version"), version);
        }
        if let Some(signing) = &self.signing {
            entry = entry.fact(Name::literal("key"), signing.key.key.public().clone());
        }
        if let Some(session) = linked {
            entry = entry.fact(Name::literal("linked"), session);
        }
        entry
    }

    /// Runs until the log is closed or nobody can send any more.
    pub(super) fn run(mut self, queue: &Receiver<Item>) {
        let mut open = true;
        while open {
            let wait = self
                .next_checkpoint
                .map(|at| at.saturating_duration_since(Instant::now()));
            match queue.recv_timeout(wait.unwrap_or(Duration::from_secs(3600))) {
                Ok(item) => open = self.batch(item, queue),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => open = false,
            }
            self.gap();
            self.prune_if_due();
            self.checkpoint_if_due();
        }
        self.add_own(&Entry::new(Event::LogClosed));
        if self.commit_all() {
            self.checkpoint();
        }
    }

    /// Commits the item and what is in the queue behind it; false if the log is to be closed.
    fn batch(&mut self, first: Item, queue: &Receiver<Item>) -> bool {
        let mut open = true;
        let mut next = Some(first);
        while let Some(item) = next {
            match item {
                Item::Entry(mut recorded) => {
                    self.shared.release(recorded.waiting_bytes());
                    recorded.digest(&self.payload_key);
                    self.add(recorded.stamp, &recorded.entry);
                    self.uncovered += 1;
                    if self.options.fsync == Fsync::Each {
                        self.commit(true);
                    }
                }
                Item::Flush(answer) => self.waiting.push(answer),
                Item::Close => open = false,
            }
            let full = !open || self.pending.len() >= BATCH_BYTES;
            next = if full { None } else { queue.try_recv().ok() };
        }
        self.commit(self.options.fsync != Fsync::None);
        open
    }

    fn stamp(&self) -> Stamp {
        let now = self.options.clock.now();
        Stamp {
            utc_micros: now.utc_micros,
            mono_micros: now.mono_micros,
            session: self.session,
        }
    }

    fn add_own(&mut self, entry: &Entry) {
        self.add(self.stamp(), entry);
    }

    /// Chains an entry; it is written with the next commit.
    fn add(&mut self, mut stamp: Stamp, entry: &Entry) {
        // Two threads may stamp in one order and queue in the other. That is no clock going back.
        if stamp.mono_micros < self.last.1 {
            stamp.mono_micros = self.last.1;
            stamp.utc_micros = stamp.utc_micros.max(self.last.0);
        }
        self.last = (stamp.utc_micros, stamp.mono_micros);
        // A day that is over is not written to again, or files would not be in order.
        let day = stamp.utc_micros.div_euclid(DAY_MICROS);
        if day > self.day {
            self.commit(true);
            (self.day, self.prune_due) = (day, true);
            self.path = Arc::new(Day::new(&self.dir, &date(day)).path);
        }
        self.chain.append(&stamp, entry, &mut self.pending);
        self.pending.push(b'\n');
        self.count();
    }

    /// Adds the last entry to the tree.
    fn count(&mut self) {
        if let Some(signing) = &mut self.signing {
            signing.push(self.chain.head());
        }
    }

    /// Hands over what is pending, to be committed while this thread goes on.
    fn commit(&mut self, sync: bool) {
        let group = self.group(sync);
        // What fails is tried again with the next group, up to the log's end.
        self.pending = self.committer.submit(group).unwrap_or_default();
    }

    fn group(&mut self, sync: bool) -> Group {
        Group {
            lines: std::mem::take(&mut self.pending),
            path: Arc::clone(&self.path),
            sync,
            entries: self.chain.len(),
            once: false,
            waiting: std::mem::take(&mut self.waiting),
        }
    }

    /// Commits everything before it goes on, however long that takes; false only if the log is to
    /// be closed and still cannot be written.
    fn commit_all(&mut self) -> bool {
        self.commit(true);
        self.committer.drain().is_ok()
    }

    fn commit_once(&mut self) -> io::Result<()> {
        let group = self.group(true);
        self.pending = self.committer.submit(Group {
            once: true,
            ..group
        })?;
        self.committer.drain()
    }

    /// Records how many entries were lost since this was last asked.
    fn gap(&mut self) {
        let missed = self.shared.take_missed();
        if missed > 0 {
            self.add_own(&Entry::new(Event::Gap).fact(Name::literal("missed"), missed));
            self.uncovered += 1;
            if self.commit_all() {
                self.options.warn(&Warning::Gap { missed });
            }
        }
    }

    fn checkpoint_if_due(&mut self) {
        let over = self.next_checkpoint.is_some_and(|at| at <= Instant::now());
        if over || self.uncovered >= self.options.checkpoint_entries {
            if self.uncovered > 0
                && self.commit_all()
                && let Some(record) = self.checkpoint()
            {
                self.add_own(&record);
                self.commit(self.options.fsync != Fsync::None);
            }
            self.next_checkpoint = Instant::now().checked_add(self.options.checkpoint_every);
        }
    }

    /// Makes a checkpoint over all entries, which are durable. Gives its record.
    fn checkpoint(&mut self) -> Option<Entry> {
        let made = self
            .signing
            .as_mut()?
            .checkpoint(&self.dir, &mut **lock(&self.files));
        // If it failed, the next one is due as usual.
        self.uncovered = 0;
        made.inspect_err(|error| {
            self.options.warn(&Warning::Checkpoint {
                dir: self.dir.clone(),
                error: error.to_string(),
            })
        })
        .ok()
    }

    /// Removes days that are older than the configuration asks to keep.
    fn prune_if_due(&mut self) {
        let due = std::mem::take(&mut self.prune_due);
        let Some(keep) = self.options.retention_days.filter(|_| due) else {
            return;
        };
        if let Err(error) = self.try_prune(self.day.saturating_sub(i64::from(keep))) {
            self.options.warn(&Warning::Prune {
                dir: self.dir.clone(),
                error: error.to_string(),
            });
        }
    }

    fn try_prune(&mut self, first_kept_day: i64) -> io::Result<()> {
        let days = days(&self.dir)?;
        let first_kept = date(first_kept_day);
        let (old, kept): (Vec<_>, Vec<_>) = days.into_iter().partition(|day| day.date < first_kept);
        let Some(first_seq) = kept
            .first()
            .map(first_seq)
            .transpose()?
            .flatten()
            .filter(|_| !old.is_empty())
        else {
            return Ok(());
        };
        // The tiles keep the hashes of what is removed, so they are stored first.
        if !self.commit_all() || self.signing.is_some() && self.checkpoint().is_none() {
            return Ok(());
        }
        let entry = Entry::new(Event::Pruned)
            .fact(Name::literal("days"), old.len() as u64)
            .fact(Name::literal("first_kept"), first_seq);
        self.add_own(&entry);
        if self.commit_all() {
            for day in old {
                lock(&self.files).remove(&day.path)?;
            }
        }
        Ok(())
    }
}

fn lock(files: &Mutex<Box<dyn Files>>) -> MutexGuard<'_, Box<dyn Files>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `2026-12-01` of the days since 1970.
fn date(day: i64) -> String {
    let midnight = Timestamp::from_second(day.saturating_mul(DAY_MICROS / 1_000_000))
        .unwrap_or(Timestamp::MAX);
    midnight.strftime("%Y-%m-%d").to_string()
}

pub(super) fn day_number(date: &str) -> Option<i64> {
    let midnight: Timestamp = format!("{date}T00:00:00Z").parse().ok()?;
    Some(midnight.as_second().div_euclid(DAY_MICROS / 1_000_000))
}
