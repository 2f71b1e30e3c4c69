//! The commands over a log: `cloakllm-gateway audit …`.

mod filter;
mod keygen;
mod prove;
mod report;
mod show;
mod table;
mod tail;
mod verify;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use cloak_stages::audit::{BadKey, VerifierKey};

use super::clock::Clock;
use super::key::KeyError;

/// What can be done with an audit log. To be mounted as a subcommand.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check the hash chain, the Merkle tree and the checkpoints; say which entry breaks
    Verify(verify::Args),
    /// Show entries as a table
    Show(show::Args),
    /// Make a proof about one entry, or that an older log is the beginning of this one
    Prove(prove::ProveArgs),
    /// Check a proof; needs no log
    Check(prove::CheckArgs),
    /// Write a self-contained HTML page: what was protected, for whom, how fast, and is the log whole
    Report(report::Args),
    /// Show the last entries, and with -f those that come
    Tail(tail::Args),
    /// Make the key that signs checkpoints
    Keygen(keygen::Args),
}

/// What a command works with, apart from its own options.
pub struct Context<'a> {
    /// The directory of the configuration, for commands that are given none.
    pub default_dir: Option<&'a Path>,
    /// The clock, for times such as "2h".
    pub clock: &'a dyn Clock,
    /// Where output goes.
    pub out: &'a mut dyn Write,
    /// Asked now and then by what runs until it is stopped.
    pub stopped: &'a dyn Fn() -> bool,
}

/// What came of a command; the exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is well: 0.
    Good,
    /// The log or the proof is not what it should be: 1.
    Bad,
}

/// Why a command could not do its work: exit code 2.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No directory was named.
    #[error("name the directory of the audit log, or set audit.dir in the configuration")]
    NoDirectory,
    /// The directory holds no log.
    #[error("{} holds no audit log (no audit_*.jsonl)", .0.display())]
    NoLog(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The output cannot be written, or the log cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A key was given that is none.
    #[error("--key {text}: {source}")]
    Key {
        /// What was given.
        text: String,
        /// What is wrong with it.
        source: BadKey,
    },
    /// A key file cannot be used.
    #[error("{0}")]
    KeyFile(#[from] KeyError),
    /// A time was given that is none.
    #[error(
        "{0} is no time: give 2026-12-01, 2026-12-01T07:30:00Z, or how long ago, such as 90m, 2h or 7d"
    )]
    Time(String),
    /// A proof cannot be made.
    #[error("{0}")]
    NoProof(String),
    /// A proof cannot be read.
    #[error("{}: this is no proof: {source}", path.display())]
    BadProof {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A proof is checked against keys, and none was given.
    #[error(
        "name the key you trust with --key: whoever can write a proof can also write a key into it"
    )]
    NoKey,
}

impl AuditCommand {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// See [`CommandError`].
    pub fn run(&self, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
        match self {
            Self::Verify(args) => verify::run(args, context),
            Self::Show(args) => show::run(args, context),
            Self::Prove(args) => prove::prove(args, context),
            Self::Check(args) => prove::check(args, context),
            Self::Report(args) => report::run(args, context),
            Self::Tail(args) => tail::run(args, context),
            Self::Keygen(args) => keygen::run(args, context),
        }
    }
}

impl Context<'_> {
    /// The directory that a command works on.
    fn dir(&self, named: Option<&Path>) -> Result<PathBuf, CommandError> {
        let dir = named
            .or(self.default_dir)
            .ok_or(CommandError::NoDirectory)?
            .to_owned();
        let days = super::directory::days(&dir).map_err(|source| CommandError::File {
            path: dir.clone(),
            source,
        })?;
        let lanes = super::directory::existing_lanes(&dir);
        if days.is_empty() && lanes.len() == 1 {
            Err(CommandError::NoLog(dir))
        } else {
            Ok(dir)
        }
    }
}

/// A key given as its text, or as a file that holds it.
fn keys(given: &[String]) -> Result<Vec<VerifierKey>, CommandError> {
    given
        .iter()
        .map(|text| {
            let parsed = text
                .parse()
                .or_else(|error| match std::fs::read_to_string(text) {
                    Ok(file) => file.trim_end().parse(),
                    Err(_) => Err(error),
                });
            parsed.map_err(|source| CommandError::Key {
                text: text.clone(),
                source,
            })
        })
        .collect()
}

fn read(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|source| CommandError::File {
        path: path.to_owned(),
        source,
    })
}
