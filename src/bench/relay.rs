//! The least that any program between two pipes does: read, write, and nothing else.

use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use anyhow::Context;

use super::session::{BUFFER, stdio};
use crate::os;

/// Passes bytes between our standard input and output and a server, unread.
#[derive(Debug, clap::Args)]
pub(super) struct Relay {
    /// The server, with its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    server: Vec<String>,
}

impl Relay {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let [command, words @ ..] = &self.server[..] else {
            anyhow::bail!("there is no server to relay to");
        };
        let mut child = Command::new(command)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command}"))?;
        let (ours, out) = stdio()?;
        let (Some(into), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            anyhow::bail!("{command} has no pipes");
        };
        os::widen(&into);
        os::widen(&from);
        thread::spawn(move || pass(ours, into));
        pass(from, out)?;
        let status = child.wait()?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(1)))
    }
}

/// Copies by reading and writing, as a gateway must; `io::copy` would let the kernel do it.
fn pass(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => to.write_all(&buffer[..read])?,
        }
    }
}
