//! The one thread that writes: takes entries from the queue, chains them, and commits in groups.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use cloak_stages::audit::{Chain, Entry, Event, Name, Repaired, Session, Stamp, repair};
use jiff::Timestamp;

use super::directory::{Day, Lock, days};
use super::files::{Append, Files};
use super::log::{Fsync, Options, Shared};
use super::recover::{PUBLIC_KEY, Recovered, first_seq};
use super::signing::Signing;
use super::warning::Warning;

/// The most bytes that are written at once, apart from the last entry of a batch.
const BATCH_BYTES: usize = 1 << 20;
/// While the log cannot be written, it is tried again after this long, then after twice as long.
const FIRST_RETRY: Duration = Duration::from_millis(20);
const LAST_RETRY: Duration = Duration::from_secs(2);
/// How often a log that is to be closed tries to write what it still has.
const CLOSING_TRIES: u32 = 5;
const DAY_MICROS: i64 = 86_400_000_000;

/// What goes through the queue.
pub(super) enum Item {
    Entry(Stamp, Box<Entry>),
    /// To be answered once all entries before it are committed.
    Flush(SyncSender<()>),
    Close,
}

pub(super) struct Writer {
    pub(super) dir: PathBuf,
    pub(super) options: Options,
    pub(super) files: Box<dyn Files>,
    pub(super) shared: Arc<Shared>,
    pub(super) session: Session,
    pub(super) _lock: Lock,
    chain: Chain,
    signing: Option<Signing>,
    /// Whether a new day began since old days were removed.
    prune_due: bool,
    /// Days since 1970 of the file that is written.
    day: i64,
    file: Option<Box<dyn Append>>,
    pending: Vec<u8>,
    last: (i64, u64),
    /// Entries since the last checkpoint that are more than a record of that checkpoint.
    uncovered: u64,
    next_checkpoint: Option<Instant>,
}

impl Writer {
    /// A writer that goes on where `found` ends.
    pub(super) fn new(
        (dir, lock): (PathBuf, Lock),
        options: Options,
        files: Box<dyn Files>,
        shared: Arc<Shared>,
        session: Session,
        found: &Recovered,
    ) -> Self {
        let signing = options
            .key
            .clone()
            .map(|key| Signing::new(key, found.tree.clone().unwrap_or_default()));
        let next_checkpoint = Instant::now().checked_add(options.checkpoint_every);
        Self {
            dir,
            _lock: lock,
            options,
            files,
            shared,
            session,
            chain: found.chain.clone(),
            signing,
            prune_due: true,
            day: found
                .day
                .as_ref()
                .and_then(|day| day_number(&day.date))
                .unwrap_or(i64::MIN),
            file: None,
            pending: Vec::new(),
            last: (i64::MIN, 0),
            uncovered: 0,
            next_checkpoint,
        }
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
            let start = self.pending.len();
            let repaired = repair(&mut self.chain, &stamp, &found.torn, &mut self.pending);
            let line = match repaired {
                Repaired::Absorbed => {
                    [&found.torn, &self.pending[start..self.pending.len() - 1]].concat()
                }
                Repaired::SetAside => self.pending[start + 1..self.pending.len() - 1].to_vec(),
            };
            self.count(&line);
            self.options.warn(&Warning::Repaired {
                dir: self.dir.clone(),
                bytes: found.torn.len(),
            });
        }
        // These belong to the file that was torn, whatever day it is.
        self.try_commit(&mut 0)?;
        self.pending.clear();
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
        self.try_commit(&mut 0)?;
        self.pending.clear();
        self.committed();
        if let Some(signing) = &self.signing {
            let public = format!("{}\n", signing.key.key.public());
            self.files
                .replace(&self.dir.join(PUBLIC_KEY), public.as_bytes())?;
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
        if self.commit(true) {
            self.checkpoint();
        }
    }

    /// Commits the item and what is in the queue behind it; false if the log is to be closed.
    fn batch(&mut self, first: Item, queue: &Receiver<Item>) -> bool {
        let mut waiting = Vec::new();
        let mut open = true;
        let mut next = Some(first);
        while let Some(item) = next {
            match item {
                Item::Entry(stamp, entry) => {
                    self.add(stamp, &entry);
                    self.uncovered += 1;
                    if self.options.fsync == Fsync::Each {
                        self.commit(true);
                    }
                }
                Item::Flush(answer) => waiting.push(answer),
                Item::Close => open = false,
            }
            let full = !open || self.pending.len() >= BATCH_BYTES;
            next = if full { None } else { queue.try_recv().ok() };
        }
        let sync = self.options.fsync != Fsync::None;
        if self.commit(sync) {
            for answer in waiting {
                // Whoever waits may have given up.
                let _ = answer.try_send(());
            }
        }
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
            (self.day, self.file, self.prune_due) = (day, None, true);
        }
        let start = self.pending.len();
        self.chain.append(&stamp, entry, &mut self.pending);
        if let Some(signing) = &mut self.signing {
            signing.push(&self.pending[start..]);
        }
        self.pending.push(b'\n');
    }

    fn count(&mut self, line: &[u8]) {
        if let Some(signing) = &mut self.signing {
            signing.push(line);
        }
    }

    /// Writes what is pending, however long it takes; false only if the log is to be closed and
    /// still cannot be written.
    fn commit(&mut self, sync: bool) -> bool {
        if self.pending.is_empty() && (self.file.is_none() || !sync) {
            return true;
        }
        let mut written = 0;
        let mut retry = FIRST_RETRY;
        let mut closing = 0;
        while let Err(error) = self
            .try_write(&mut written)
            .and_then(|()| self.try_sync(sync))
        {
            self.shared.failed(&self.options, &self.dir, &error);
            closing += u32::from(self.shared.is_closing());
            if closing > CLOSING_TRIES {
                return false;
            }
            std::thread::sleep(if closing > 0 { FIRST_RETRY } else { retry });
            retry = (retry * 2).min(LAST_RETRY);
        }
        self.pending.clear();
        self.committed();
        true
    }

    fn committed(&self) {
        self.shared.committed(&self.options, self.chain.len());
    }

    fn try_commit(&mut self, written: &mut usize) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.try_write(written)?;
        self.try_sync(true)
    }

    /// Goes on after what is written already, so that a write cut short tears nothing.
    fn try_write(&mut self, written: &mut usize) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let path = Day::new(&self.dir, &date(self.day)).path;
                self.file.insert(self.files.append_to(&path)?)
            }
        };
        while *written < self.pending.len() {
            match file.write(&self.pending[*written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => *written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn try_sync(&mut self, sync: bool) -> io::Result<()> {
        match &mut self.file {
            Some(file) if sync => file.sync(),
            _ => Ok(()),
        }
    }

    /// Records how many entries were lost since this was last asked.
    fn gap(&mut self) {
        let missed = self.shared.take_missed();
        if missed > 0 {
            self.add_own(&Entry::new(Event::Gap).fact(Name::literal("missed"), missed));
            self.uncovered += 1;
            if self.commit(self.options.fsync != Fsync::None) {
                self.options.warn(&Warning::Gap { missed });
            }
        }
    }

    fn checkpoint_if_due(&mut self) {
        let over = self.next_checkpoint.is_some_and(|at| at <= Instant::now());
        if over || self.uncovered >= self.options.checkpoint_entries {
            if self.uncovered > 0
                && self.commit(true)
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
            .checkpoint(&self.dir, &mut *self.files);
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
        if !self.commit(true) || self.signing.is_some() && self.checkpoint().is_none() {
            return Ok(());
        }
        let entry = Entry::new(Event::Pruned)
            .fact(Name::literal("days"), old.len() as u64)
            .fact(Name::literal("first_kept"), first_seq);
        self.add_own(&entry);
        if self.commit(true) {
            for day in old {
                self.files.remove(&day.path)?;
            }
        }
        Ok(())
    }
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
