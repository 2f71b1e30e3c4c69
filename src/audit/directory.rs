//! The directory of a log: who may write to it, its lock, its lanes and its files.
//!
//! ```text
//! DIR/audit_2026-12-01.jsonl   the entries of a day
//! DIR/checkpoint               the latest signed checkpoint
//! DIR/tile/…                   the hashes of the Merkle tree
//! DIR/lock                     held by the process that writes
//! DIR/lane-2/…                 the same again, of a second process at the same time
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cloak_stages::audit::Session;

use super::OpenError;
use super::files::{private, private_dirs};

pub(super) const CHECKPOINT: &str = "checkpoint";
const LOCK: &str = "lock";
/// The most processes that write below one directory at the same time.
const MAX_LANES: u32 = 64;

/// Creates the directory of a log, or refuses one that others can tamper with.
pub(super) fn prepare(dir: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Io {
        path: dir.to_owned(),
        source,
    };
    match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => private_dirs(dir).map_err(failed),
        Err(error) => Err(failed(error)),
        Ok(found) if found.is_symlink() => Err(OpenError::Symlink(dir.to_owned())),
        Ok(found) if !found.is_dir() => Err(OpenError::NotADirectory(dir.to_owned())),
        #[cfg(unix)]
        Ok(found) if std::os::unix::fs::MetadataExt::mode(&found) & 0o002 != 0 => {
            Err(OpenError::WorldWritable(dir.to_owned()))
        }
        Ok(_) => Ok(()),
    }
}

/// The lanes of a log: its own directory first.
pub(super) fn lanes(dir: &Path) -> impl Iterator<Item = (u32, PathBuf)> + use<> {
    let below = dir.to_owned();
    let further = (2..=MAX_LANES).map(move |lane| (lane, below.join(format!("lane-{lane}"))));
    std::iter::once((1, dir.to_owned())).chain(further)
}

/// The lanes that there are, in order.
pub(super) fn existing_lanes(dir: &Path) -> Vec<PathBuf> {
    lanes(dir)
        .filter(|(lane, path)| *lane == 1 || path.is_dir())
        .map(|(_, path)| path)
        .collect()
}

/// The lock of a lane, held as long as it is not dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing the file is not enough: a process that is just being started has a copy of it.
    fn drop(&mut self) {
        // Without a lock there is nothing to give back.
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock, or tells that somebody else has it.
    pub(super) fn take(dir: &Path, session: Session) -> Result<Option<Self>, OpenError> {
        let path = dir.join(LOCK);
        let failed = |source| OpenError::Io {
            path: path.clone(),
            source,
        };
        let mut file = private(
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false),
        )
        .open(&path)
        .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0).map_err(failed)?;
                writeln!(file, "{session}").map_err(failed)?;
                Ok(Some(Self { file }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// The session that holds the lock of a lane, or held it last.
pub(super) fn holder(dir: &Path) -> Option<Session> {
    let text = fs::read_to_string(dir.join(LOCK)).ok()?;
    u128::from_str_radix(text.trim_end(), 16).ok().map(Session)
}

/// A day's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day {
    /// `2026-12-01`.
    pub(super) date: String,
    pub(super) path: PathBuf,
}

impl Day {
    pub(super) fn new(dir: &Path, date: &str) -> Self {
        Self {
            date: date.to_owned(),
            path: dir.join(format!("audit_{date}.jsonl")),
        }
    }

    pub(super) fn name(&self) -> String {
        format!("audit_{}.jsonl", self.date)
    }
}

/// The days of a lane, oldest first: every `audit_*.jsonl`, for that is what the SDK's verifier
/// reads. A file of another name among them is found by its content.
pub(super) fn days(dir: &Path) -> io::Result<Vec<Day>> {
    let mut days = Vec::new();
    for file in fs::read_dir(dir)? {
        let file = file?;
        let name = file.file_name();
        let date = name
            .to_str()
            .and_then(|name| name.strip_prefix("audit_")?.strip_suffix(".jsonl"));
        if let Some(date) = date {
            days.push(Day {
                date: date.to_owned(),
                path: file.path(),
            });
        }
    }
    days.sort();
    Ok(days)
}

/// Reads a tile of a lane.
pub(super) fn tiles(dir: &Path) -> impl FnMut(&str) -> Option<Vec<u8>> + use<> {
    let dir = dir.to_owned();
    move |path| fs::read(dir.join(path)).ok()
}
