//! Upstream servers as processes.

mod process;
mod stderr;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use cloak_stages::{BoxLink, LinkExt, Peer};

use crate::pipe::Pipe;

pub use process::Process;
pub use stderr::Clean;

/// How to start a server.
#[derive(Clone)]
pub struct Spec {
    /// What it is called in logs, errors and prefixes.
    pub name: Arc<str>,
    /// The program: a path, or a name to be looked up on `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables laid over those of the gateway.
    pub env: Vec<(String, String)>,
    /// Its working directory; that of the gateway if none is given.
    pub cwd: Option<PathBuf>,
}

/// A link to a server, and what keeps the server alive.
pub struct Connection {
    /// Messages to and from it.
    pub link: BoxLink,
    /// Its process, if it has one of its own.
    pub process: Option<Process>,
}

/// Starts the server `spec` as `peer` and connects to it. `clean` makes what it writes to its
/// standard error fit to be shown; lines of more than `max` bytes are refused.
///
/// # Errors
///
/// When the program cannot be started. Must be called within a tokio runtime.
pub fn connect(spec: &Spec, peer: Peer, max: usize, clean: Clean) -> io::Result<Connection> {
    let (process, stdin, stdout) = Process::start(spec, clean)?;
    let pipe = Pipe::new(peer, Arc::clone(&spec.name), stdout, stdin, max);
    Ok(Connection {
        link: pipe.erase(),
        process: Some(process),
    })
}
