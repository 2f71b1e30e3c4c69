//! `audit report`: one HTML file that needs nothing else.

mod chart;
mod gather;
mod page;

use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;

use self::gather::Totals;
use super::filter::Filter;
use super::{CommandError, Context, Verdict, keys};
use crate::audit::reading::{entries, verify};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory of the log
    #[arg(long)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    /// A key you trust, as text or in a file; may be given more than once
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Write the page to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
    let dir = context.dir(args.dir.as_deref())?;
    let filter = args.filter.ready(context.clock)?;
    let lanes = verify(&dir, &keys(&args.keys)?, &[])?;
    let mut totals = Totals::default();
    entries(&dir, |entry, _| {
        if filter.admits(entry) {
            totals.add(entry);
        }
        Ok(())
    })?;
    let now = Timestamp::from_microsecond(context.clock.now().utc_micros)
        .unwrap_or(Timestamp::UNIX_EPOCH);
    let page = page::render(
        &totals,
        &lanes,
        &now.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    );
    match &args.out {
        Some(path) => fs::write(path, page).map_err(|source| CommandError::File {
            path: path.clone(),
            source,
        })?,
        None => context.out.write_all(page.as_bytes())?,
    }
    Ok(if lanes.iter().all(|lane| lane.report.is_intact()) {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}
