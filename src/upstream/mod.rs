//! Upstream servers as processes.

mod output;
mod process;
mod stderr;

use std::io;
use std::sync::Arc;

use cloak_stages::Peer;
use tokio::process::ChildStdin;

use crate::config::Upstream;
use crate::pipe::Pipe;

pub use output::Output;
pub use process::Process;
pub use stderr::{Clean, unchanged};

/// Starts the server `spec` as `peer`. `clean` makes what it writes to its standard error fit to be
/// shown; lines of more than `max` bytes are refused.
///
/// # Errors
///
/// When the program cannot be started. Must be called within a tokio runtime.
pub fn start(
    spec: &Upstream,
    peer: Peer,
    max: usize,
    clean: Clean,
) -> io::Result<(Process, Pipe<Output, ChildStdin>)> {
    let name: Arc<str> = spec.name.as_str().into();
    let (process, stdin, stdout) = Process::start(spec, &name, clean)?;
    Ok((process, Pipe::new(peer, name, stdout, stdin, max)))
}
