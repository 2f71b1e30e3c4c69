//! A log that is being written, and the handles through which it is.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cloak_stages::audit::{Entry, PayloadKey, Recorder, Session, Stamp, Unrecorded};
use zeroize::Zeroizing;

use super::clock::{Clock, SystemClock};
use super::directory::{self, Lock};
use super::files::{Disk, Files};
use super::key::KeyFile;
use super::recover::recover;
use super::warning::Warning;
use super::writer::{Item, Writer};

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
    /// Whether nothing may happen unrecorded: [`Handle::record`] then says so when it cannot.
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

/// Why a log cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system refuses.
    #[error("audit.dir: {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The directory is a symbolic link.
    #[error("audit.dir: {} is a symbolic link; name the directory it leads to", .0.display())]
    Symlink(PathBuf),
    /// It is no directory.
    #[error("audit.dir: {} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// Anybody may write to it.
    #[error("audit.dir: anybody may write to {}; run `chmod o-w` on it, or name another directory", .0.display())]
    WorldWritable(PathBuf),
    /// Every lane is in use or damaged.
    #[error("audit.dir: every log below {} is in use by another gateway or damaged; run `cloakllm-gateway audit verify`", .0.display())]
    NoLane(PathBuf),
}

/// A log that is being written; whoever holds it closes it.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
    handle: Handle,
    writer: Option<JoinHandle<()>>,
}

impl Log {
    /// Opens the log in `dir` and goes on with its chain.
    ///
    /// While another process writes there, or if what is there is damaged, the chain is another
    /// one in a directory below, `lane-2` and so on, that names the session it is linked with.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(dir: &Path, options: Options) -> Result<(Self, Handle), OpenError> {
        Self::open_on(dir, options, || Box::new(Disk))
    }

    /// Like [`Log::open`], on another file system.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open_on(
        dir: &Path,
        options: Options,
        files: impl Fn() -> Box<dyn Files>,
    ) -> Result<(Self, Handle), OpenError> {
        directory::prepare(dir)?;
        let session = random_session(dir)?;
        let mut linked = None;
        for (number, lane) in directory::lanes(dir) {
            directory::prepare(&lane)?;
            let holder = directory::holder(&lane);
            let Some(lock) = Lock::take(&lane, session)? else {
                linked = linked.or(holder);
                continue;
            };
            let mut files = files();
            let found = match recover(&lane, options.key.is_some(), &mut *files) {
                Ok(found) => found,
                Err(damage) => {
                    linked = linked.or(holder);
                    options.warn(&Warning::Damaged {
                        dir: lane,
                        why: damage.to_string(),
                    });
                    continue;
                }
            };
            let shared = Arc::new(Shared::default());
            let place = (lane.clone(), lock);
            let mut writer = Writer::new(
                place,
                options.clone(),
                files,
                shared.clone(),
                session,
                &found,
            );
            let failed = |source| OpenError::Io {
                path: lane.clone(),
                source,
            };
            writer.begin(&found, number, linked).map_err(failed)?;

            let (queue, entries) = sync_channel(options.queue);
            let thread = std::thread::Builder::new()
                .name("audit".to_owned())
                .spawn(move || writer.run(&entries));
            let payload_key = match &options.key {
                Some(file) => PayloadKey::derived(file.key.seed()),
                None => PayloadKey::new(*random(dir)?),
            };
            let handle = Handle {
                open: Some(Arc::new(Open {
                    queue,
                    shared,
                    options,
                    payload_key,
                })),
                session,
            };
            let log = Self {
                dir: lane.clone(),
                handle: handle.clone(),
                writer: Some(thread.map_err(failed)?),
            };
            return Ok((log, handle));
        }
        Err(OpenError::NoLane(dir.to_owned()))
    }

    /// The directory that is written to: the one named, or a lane below it.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes what is in the queue, signs a last checkpoint, and ends the writer. Handles that are
    /// still there record nothing any more.
    ///
    /// It waits for the disk, for at most about a second if that cannot be written.
    ///
    /// # Errors
    ///
    /// If entries are lost because the disk could not be written.
    pub fn close(mut self) -> Result<(), CloseError> {
        self.end();
        let missed = self.handle.missed();
        if self.handle.is_healthy() && missed == 0 {
            Ok(())
        } else {
            Err(CloseError { missed })
        }
    }

    fn end(&mut self) {
        let Some(writer) = self.writer.take() else {
            return;
        };
        let Some(open) = &self.handle.open else {
            return;
        };
        open.shared.closing.store(true, Ordering::Relaxed);
        // A queue that is full is being emptied, or the writer is about to give up.
        let give_up = Instant::now() + Duration::from_secs(5);
        let mut close = Item::Close;
        while let Err(TrySendError::Full(again)) = open.queue.try_send(close) {
            if Instant::now() > give_up {
                open.shared.healthy.store(false, Ordering::Relaxed);
                return;
            }
            close = again;
            std::thread::sleep(Duration::from_millis(5));
        }
        if writer.join().is_err() {
            open.shared.healthy.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.end();
    }
}

/// The log was closed without all of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the audit log was closed while it could not be written: its last entries are lost, and {missed} more were never taken"
)]
pub struct CloseError {
    /// Entries that did not even get into the queue.
    pub missed: u64,
}

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
        let Some(open) = &self.open else {
            return Ok(());
        };
        let refused = open.options.required && !open.shared.healthy();
        if !refused {
            let now = open.options.clock.now();
            let stamp = Stamp {
                utc_micros: now.utc_micros,
                mono_micros: now.mono_micros,
                session: self.session,
            };
            match open.queue.try_send(Item::Entry(stamp, Box::new(entry))) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(_)) => {
                    open.shared.missed(&open.options, &Warning::QueueFull)
                }
                Err(TrySendError::Disconnected(_)) => open.shared.died(&open.options),
            }
        } else {
            open.shared.missed.fetch_add(1, Ordering::Relaxed);
        }
        if open.options.required {
            Err(Unrecorded)
        } else {
            Ok(())
        }
    }

    /// Whether what is recorded now will be written, as far as one knows.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.shared.healthy())
    }

    /// Entries that were lost and that the log does not tell of yet.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.open
            .as_ref()
            .map_or(0, |open| open.shared.missed.load(Ordering::Relaxed))
    }

    /// How many entries of the chain are committed, as [`Options::fsync`] defines that.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.open
            .as_ref()
            .map_or(0, |open| open.shared.committed.load(Ordering::Acquire))
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

/// What the writer and the handles tell each other beside the queue.
#[derive(Debug)]
pub(super) struct Shared {
    healthy: AtomicBool,
    closing: AtomicBool,
    missed: AtomicU64,
    committed: AtomicU64,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            healthy: AtomicBool::new(true),
            closing: AtomicBool::new(false),
            missed: AtomicU64::new(0),
            committed: AtomicU64::new(0),
        }
    }
}

impl Shared {
    fn healthy(&self) -> bool {
        self.healthy.load(Ordering::Relaxed)
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

    fn missed(&self, options: &Options, warning: &Warning) {
        if self.missed.fetch_add(1, Ordering::Relaxed) == 0 {
            options.warn(warning);
        }
    }

    fn died(&self, options: &Options) {
        self.missed.fetch_add(1, Ordering::Relaxed);
        if self.healthy.swap(false, Ordering::Relaxed) && !self.is_closing() {
            options.warn(&Warning::WriterDied);
        }
    }
}

fn random_session(dir: &Path) -> Result<Session, OpenError> {
    let bytes = random(dir)?;
    Ok(Session(u128::from_be_bytes(
        *bytes.first_chunk().expect("32 bytes are more than 16"),
    )))
}

fn random(dir: &Path) -> Result<Zeroizing<[u8; 32]>, OpenError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes).map_err(|error| OpenError::Io {
        path: dir.to_owned(),
        source: error.into(),
    })?;
    Ok(bytes)
}
