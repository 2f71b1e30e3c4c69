//! `audit tail`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::filter::{Filter, Ready};
use super::show::Last;
use super::table::{self, Row};
use super::{CommandError, Context, Verdict};
use crate::audit::directory::{days, existing_lanes};
use crate::audit::reading::entry_of;

/// How often it looks for new entries.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory of the log
    #[arg(long)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    /// Go on with the entries that come, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// How many of the last entries to begin with
    #[arg(short = 'n', long, default_value_t = 10)]
    last: usize,
    /// Write the entries as they are, a line of JSON each
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
    let dir = context.dir(args.dir.as_deref())?;
    let filter = args.filter.ready(context.clock)?;
    let mut read_until = HashMap::new();
    let mut last = Last::new(args.last);
    new_entries(&dir, &mut read_until, &filter, |row| last.push(row))?;
    write(args, context, &last.sorted(), true)?;
    while args.follow && !(context.stopped)() {
        std::thread::sleep(PAUSE);
        let mut rows = Vec::new();
        new_entries(&dir, &mut read_until, &filter, |row| rows.push(row))?;
        rows.sort();
        write(args, context, &rows, false)?;
    }
    Ok(Verdict::Good)
}

fn write(
    args: &Args,
    context: &mut Context<'_>,
    rows: &[(Row, String)],
    heads: bool,
) -> io::Result<()> {
    if args.json {
        rows.iter()
            .try_for_each(|(_, line)| writeln!(context.out, "{line}"))?;
    } else {
        let rows: Vec<_> = rows.iter().map(|(row, _)| row.clone()).collect();
        table::write(context.out, &rows, heads)?;
    }
    context.out.flush()
}

/// Calls `each` with the whole lines that were appended to any file since it was last asked.
fn new_entries(
    dir: &Path,
    read_until: &mut HashMap<PathBuf, u64>,
    filter: &Ready<'_>,
    mut each: impl FnMut((Row, String)),
) -> io::Result<()> {
    for lane in existing_lanes(dir) {
        for day in days(&lane)? {
            let from = read_until.entry(day.path.clone()).or_default();
            let mut file = File::open(&day.path)?;
            if file.metadata()?.len() == *from {
                continue;
            }
            file.seek(SeekFrom::Start(*from))?;
            let mut file = BufReader::new(file);
            let mut line = Vec::new();
            // A line that is still being written is read when it is whole.
            while file.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
                *from += line.len() as u64;
                entry_of(&line, &mut |entry, text| {
                    if filter.admits(entry) {
                        each((Row::of(entry), text.to_owned()));
                    }
                    Ok(())
                })?;
                line.clear();
            }
        }
    }
    Ok(())
}
