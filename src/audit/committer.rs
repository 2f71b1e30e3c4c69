//! The thread that commits: it writes a group of lines and makes it durable, while the
//! [writer](super::writer) already chains the next.

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::files::{Append, Files};
use super::options::Options;
use super::shared::Shared;

/// While the log cannot be written, it is tried again after this long, then after twice as long.
const FIRST_RETRY: Duration = Duration::from_millis(20);
const LAST_RETRY: Duration = Duration::from_secs(2);
/// How often a log that is to be closed waits for the disk, in all groups together: the queue may
/// hold as many groups as entries.
const CLOSING_TRIES: u32 = 5;

/// Lines that are committed together, and how.
pub(super) struct Group {
    /// Whole lines, each with its newline; empty to commit what was written before.
    pub(super) lines: Vec<u8>,
    /// The file they belong to.
    pub(super) path: Arc<PathBuf>,
    /// Whether they have to survive the loss of power.
    pub(super) sync: bool,
    /// How many entries the chain has with them.
    pub(super) entries: u64,
    /// Whether to give up when it fails, as when a log is opened.
    pub(super) once: bool,
    /// Who is answered once they are committed.
    pub(super) waiting: Vec<SyncSender<()>>,
}

/// The near end of that thread. One group is committed at a time.
pub(super) struct Committer {
    groups: Option<SyncSender<Group>>,
    done: Receiver<io::Result<Vec<u8>>>,
    busy: bool,
    spare: Vec<u8>,
    thread: Option<JoinHandle<()>>,
}

impl Committer {
    pub(super) fn start(
        dir: PathBuf,
        files: Arc<Mutex<Box<dyn Files>>>,
        options: Options,
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        let (groups, next) = sync_channel::<Group>(1);
        let (tell, done) = sync_channel(1);
        let mut commit = Commit {
            dir,
            files,
            options,
            shared,
            path: Arc::default(),
            file: None,
            pending: Vec::new(),
            written: 0,
            unsynced: false,
            closing: 0,
        };
        let thread = std::thread::Builder::new()
            .name("audit commit".to_owned())
            .spawn(move || {
                while let Ok(group) = next.recv() {
                    if tell.send(commit.group(group)).is_err() {
                        break;
                    }
                }
            })?;
        Ok(Self {
            groups: Some(groups),
            done,
            busy: false,
            spare: Vec::new(),
            thread: Some(thread),
        })
    }

    /// Hands a group over as soon as the one before is committed. Gives a buffer for the next.
    ///
    /// # Errors
    ///
    /// If the one before was not committed; the lines of both are tried again with the next.
    pub(super) fn submit(&mut self, group: Group) -> io::Result<Vec<u8>> {
        let before = self.drain();
        if let Some(groups) = &self.groups
            && groups.send(group).is_err()
        {
            self.bury();
        }
        self.busy = true;
        before.map(|()| std::mem::take(&mut self.spare))
    }

    /// Waits until everything that was handed over is committed.
    ///
    /// # Errors
    ///
    /// If it could not be, which is so only of a group that was to be tried once, and of a log that
    /// is being closed.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.busy) {
            return Ok(());
        }
        match self.done.recv() {
            Ok(committed) => committed.map(|buffer| self.spare = buffer),
            Err(_) => self.bury(),
        }
    }

    /// The thread is dead, and with it the writer.
    fn bury(&mut self) -> ! {
        self.groups = None;
        let end = self.thread.take().map(JoinHandle::join);
        match end {
            Some(Err(panic)) => resume_unwind(panic),
            _ => unreachable!("the thread ends when it is told to, or in a panic"),
        }
    }
}

impl Drop for Committer {
    /// Nobody else may write to the log before the thread has ended.
    fn drop(&mut self) {
        self.groups = None;
        if let Some(thread) = self.thread.take() {
            // What it had to say was said to whoever waited for the group.
            let _ = thread.join();
        }
    }
}

/// The far end: the file, and what is not written to it yet.
struct Commit {
    dir: PathBuf,
    files: Arc<Mutex<Box<dyn Files>>>,
    options: Options,
    shared: Arc<Shared>,
    path: Arc<PathBuf>,
    file: Option<Box<dyn Append>>,
    pending: Vec<u8>,
    written: usize,
    unsynced: bool,
    /// How often it failed since the log is to be closed.
    closing: u32,
}

impl Commit {
    /// Commits a group, however long it takes; gives back its buffer.
    fn group(&mut self, group: Group) -> io::Result<Vec<u8>> {
        // What a file got a part of goes into that file as a whole, whatever day it is by now.
        if self.path != group.path && self.pending.is_empty() {
            (self.path, self.file) = (group.path, None);
        }
        if self.pending.is_empty() {
            self.pending = group.lines;
        } else {
            self.pending.extend_from_slice(&group.lines);
        }
        let mut retry = FIRST_RETRY;
        while let Err(error) = self.write().and_then(|()| self.sync(group.sync)) {
            if group.once {
                self.forget();
                return Err(error);
            }
            self.shared.failed(&self.options, &self.dir, &error);
            self.closing += u32::from(self.shared.is_closing());
            if self.closing > CLOSING_TRIES {
                return Err(error);
            }
            let closing = self.closing > 0;
            std::thread::sleep(if closing { FIRST_RETRY } else { retry });
            retry = (retry * 2).min(LAST_RETRY);
        }
        self.shared.committed(&self.options, group.entries);
        for waiting in group.waiting {
            // Whoever waits may have given up.
            let _ = waiting.try_send(());
        }
        Ok(self.forget())
    }

    fn forget(&mut self) -> Vec<u8> {
        self.written = 0;
        let mut buffer = std::mem::take(&mut self.pending);
        buffer.clear();
        buffer
    }

    /// Goes on after what is written already, so that a write cut short tears nothing.
    fn write(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
                self.file.insert(files.append_to(&self.path)?)
            }
        };
        while self.written < self.pending.len() {
            self.unsynced = true;
            match file.write(&self.pending[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sync(&mut self, sync: bool) -> io::Result<()> {
        if let Some(file) = &mut self.file
            && sync
            && self.unsynced
        {
            file.sync()?;
            self.unsynced = false;
        }
        Ok(())
    }
}
