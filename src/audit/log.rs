//! A log that is being written: opening it, and closing it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cloak_stages::audit::{PayloadKey, Session};
use zeroize::Zeroizing;

use super::directory::{self, Lock};
use super::files::{Disk, Files};
use super::handle::Handle;
use super::options::Options;
use super::queue::Item;
use super::recover::recover;
use super::shared::Shared;
use super::warning::Warning;
use super::writer::Writer;

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
            let payload_key = match &options.key {
                Some(file) => PayloadKey::derived(file.key.seed()),
                None => PayloadKey::new(*random(dir)?),
            };
            let failed = |source| OpenError::Io {
                path: lane.clone(),
                source,
            };
            let mut writer = Writer::new(
                (lane.clone(), lock),
                (options.clone(), payload_key.clone()),
                files,
                Arc::clone(&shared),
                session,
                &found,
            )
            .map_err(failed)?;
            writer.begin(&found, number, linked).map_err(failed)?;

            let (queue, entries) = sync_channel(options.queue);
            let thread = std::thread::Builder::new()
                .name("audit".to_owned())
                .spawn(move || writer.run(&entries));
            let handle = Handle::new(queue, shared, options, payload_key, session);
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
        let (Some(writer), Some((queue, shared))) = (self.writer.take(), self.handle.to_writer())
        else {
            return;
        };
        shared.close();
        // A queue that is full is being emptied, or the writer is about to give up.
        let give_up = Instant::now() + Duration::from_secs(5);
        let mut close = Item::Close;
        while let Err(TrySendError::Full(again)) = queue.try_send(close) {
            if Instant::now() > give_up {
                return shared.give_up();
            }
            close = again;
            std::thread::sleep(Duration::from_millis(5));
        }
        if writer.join().is_err() {
            shared.give_up();
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
