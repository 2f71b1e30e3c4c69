//! `audit show`.

use std::collections::VecDeque;
use std::path::PathBuf;

use super::filter::Filter;
use super::table::{self, Row};
use super::{CommandError, Context, Verdict};
use crate::audit::reading::entries;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory of the log
    #[arg(long)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    /// Only the last so many; 0 for all
    #[arg(long, default_value_t = 50)]
    last: usize,
    /// Write the entries as they are, a line of JSON each
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
    let dir = context.dir(args.dir.as_deref())?;
    let filter = args.filter.ready(context.clock)?;
    let most = if args.last == 0 {
        usize::MAX
    } else {
        args.last
    };
    if args.json {
        let mut lines = Last::new(most);
        entries(&dir, |entry, line| {
            if filter.admits(entry) {
                lines.push((entry.timestamp.to_owned(), entry.seq, line.to_owned()));
            }
            Ok(())
        })?;
        for (_, _, line) in lines.sorted() {
            writeln!(context.out, "{line}")?;
        }
    } else {
        let mut rows = Last::new(most);
        entries(&dir, |entry, _| {
            if filter.admits(entry) {
                rows.push(Row::of(entry));
            }
            Ok(())
        })?;
        table::write(context.out, &rows.sorted(), true)?;
    }
    Ok(Verdict::Good)
}

/// The last items; lanes are read one after the other and are then merged by time.
pub(super) struct Last<T> {
    items: VecDeque<T>,
    most: usize,
}

impl<T: Ord> Last<T> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            items: VecDeque::new(),
            most,
        }
    }

    pub(super) fn push(&mut self, item: T) {
        // Twice as many, so that sorting is rare and lanes do not push each other out.
        if self.items.len() >= self.most.saturating_mul(2) {
            self.cut();
        }
        self.items.push_back(item);
    }

    fn cut(&mut self) {
        let items = self.items.make_contiguous();
        items.sort();
        let surplus = self.items.len().saturating_sub(self.most);
        self.items.drain(..surplus);
    }

    pub(super) fn sorted(mut self) -> Vec<T> {
        self.cut();
        self.items.into()
    }
}
