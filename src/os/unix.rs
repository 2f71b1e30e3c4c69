//! Linux and macOS.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// Bytes that a pipe holds, where the system lets us choose. Fewer, larger reads and writes.
#[cfg(target_os = "linux")]
const PIPE: usize = 1 << 20;

/// Our standard input, without a thread in between where it is a pipe or a socket.
///
/// Some clients give their servers sockets: Node.js does.
pub(crate) fn stdin() -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let fd = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(match Kind::of(&fd)? {
        Kind::Pipe => {
            widen(&fd);
            Box::new(pipe::Receiver::from_owned_fd(fd)?)
        }
        Kind::Socket => Box::new(socket(fd)?),
        Kind::Other => Box::new(tokio::io::stdin()),
    })
}

/// Our standard output, as [`stdin`].
pub(crate) fn stdout() -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    let fd = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(match Kind::of(&fd)? {
        Kind::Pipe => {
            widen(&fd);
            Box::new(pipe::Sender::from_owned_fd(fd)?)
        }
        Kind::Socket => Box::new(socket(fd)?),
        Kind::Other => Box::new(tokio::io::stdout()),
    })
}

fn socket(fd: OwnedFd) -> io::Result<tokio::net::UnixStream> {
    let stream = UnixStream::from(fd);
    stream.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(stream)
}

enum Kind {
    Pipe,
    Socket,
    Other,
}

impl Kind {
    fn of(fd: &OwnedFd) -> io::Result<Self> {
        let kind = std::fs::File::from(fd.try_clone()?).metadata()?.file_type();
        Ok(if kind.is_fifo() {
            Self::Pipe
        } else if kind.is_socket() {
            Self::Socket
        } else {
            Self::Other
        })
    }
}

/// Gives the pipe a larger buffer. Where that is not allowed it stays as it is.
pub(crate) fn widen(pipe: impl AsFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE);
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

/// Has the child start a process group, so that it can be ended together with its children.
pub(crate) fn in_group_of_its_own(command: &mut Command) {
    command.process_group(0);
}

/// A child and all that it started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        Self(
            child
                .id()
                .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)),
        )
    }

    /// Asks all of them to end.
    pub(crate) fn terminate(self) {
        self.signal(Signal::TERM);
    }

    /// Ends all of them.
    pub(crate) fn kill(self) {
        self.signal(Signal::KILL);
    }

    /// Whether any of them is still there.
    pub(crate) fn is_alive(self) -> bool {
        self.0
            .is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    fn signal(self, signal: Signal) {
        if let Some(group) = self.0 {
            // The only failure is that nobody is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Resolves when somebody asks us to end.
pub(crate) async fn terminated() -> io::Result<&'static str> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
        _ = hangup.recv() => "SIGHUP",
    })
}
