//! `audit keygen`.

use std::path::PathBuf;

use super::{CommandError, Context, Verdict};
use crate::audit::key::KeyFile;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to write the private key to; not in the log's directory, which others will read
    path: PathBuf,
    /// The name of the log, such as example.eu/gateway; else a random one
    #[arg(long, conflicts_with = "replace")]
    name: Option<String>,
    /// Rotate: the key that is there signs for the new one and is kept beside it
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(args: &Args, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
    let made = KeyFile::generate(&args.path, args.name.as_deref(), args.replace)?;
    writeln!(context.out, "{}", made.key.public())?;
    Ok(Verdict::Good)
}
