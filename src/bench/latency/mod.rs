//! Round trips through a gateway process, beside those without one.

mod cell;
mod found;

use std::time::Duration;

use anyhow::ensure;

use super::output::{Output, Progress};
use super::session::Refused;
use super::size::Size;
use super::stats::{Times, median};
use super::subject::{Bench, Mode, Open, Target};
use super::workload::Kind;
use cell::Cellar;
use found::{Found, Start};

/// Each mode gets its turn this many times for each text, so that a busy moment of the machine
/// falls on all of them.
const ROUNDS: u32 = 10;

/// Fewest calls that a figure is made of, however long they take.
const LEAST: u64 = 5;

/// Measures round trips of calls that return a text.
#[derive(Debug, clap::Args)]
pub(super) struct Latency {
    #[command(flatten)]
    target: Target,

    /// What stands between client and server
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Mode::ALL)]
    modes: Vec<Mode>,

    /// The kinds of text
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    kinds: Vec<Kind>,

    /// Their sizes
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "200,5KB,50KB,500KB,5MB,50MB"
    )]
    sizes: Vec<Size>,

    /// Seconds for each kind, size and mode
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,

    /// Most calls for each kind, size and mode
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    samples: u64,

    /// Call so many times a second, whether or not earlier calls were answered; a call's time then
    /// counts from when it was due (which answers coordinated omission). Without it a call is made
    /// when the one before it was answered
    #[arg(long, value_name = "CALLS")]
    rate: Option<f64>,

    /// How often each mode is started, to see how long that takes
    #[arg(long, value_name = "N", default_value_t = 10)]
    starts: usize,

    #[command(flatten)]
    output: Output,
}

impl Latency {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        ensure!(
            self.seconds > 0.0 && self.seconds.is_finite(),
            "--seconds must be above 0"
        );
        ensure!(
            self.rate.is_none_or(|rate| rate > 0.0 && rate.is_finite()),
            "--rate must be above 0"
        );
        ensure!(
            self.samples > 0 && self.starts > 0,
            "there is nothing to do"
        );
        let bench = self.target.prepare()?;
        let mut progress = Progress::new(self.modes.len() + self.kinds.len() * self.sizes.len());
        let mut starts = Vec::new();
        let mut open = Vec::new();
        for &mode in &self.modes {
            progress.step(format_args!("starts of {mode}"));
            let (start, session) = self.start(&bench, mode)?;
            starts.push(start);
            open.push((mode, session));
        }
        let mut cells = Vec::new();
        for &kind in &self.kinds {
            for &size in &self.sizes {
                progress.step(format_args!("{kind}, {size}"));
                let arguments = bench.arguments(kind, size)?;
                let measured = self.cells(&mut open, &arguments)?;
                cells.extend(
                    open.iter_mut().zip(measured).map(|((mode, open), cellar)| {
                        cellar.close(kind, size, *mode, &open.session)
                    }),
                );
            }
        }
        drop(progress);
        self.output.show(&Found {
            rate: self.rate,
            starts,
            cells,
        })
    }

    fn start(&self, bench: &Bench<'_>, mode: Mode) -> anyhow::Result<(Start, Open)> {
        let mut times = Times::new();
        let mut memory = Vec::new();
        let mut last = None;
        for _ in 0..self.starts {
            drop(last.take());
            let open = bench.open(mode)?;
            times.add(open.session.started_in);
            memory.extend(open.session.meter.memory().map(|bytes| bytes as f64));
            last = Some(open);
        }
        let start = Start {
            mode,
            initialized: times.summary(),
            idle_memory: (!memory.is_empty()).then(|| median(&memory) as u64),
        };
        let open = last.expect("it was started once at least");
        Ok((start, open))
    }

    /// Measures one text in all modes, by turns.
    fn cells(&self, open: &mut [(Mode, Open)], arguments: &str) -> anyhow::Result<Vec<Cellar>> {
        let turn = Duration::from_secs_f64(self.seconds / f64::from(ROUNDS));
        let calls = self.samples.div_ceil(u64::from(ROUNDS));
        let mut cellars = Vec::new();
        for (_, open) in &mut *open {
            let params = open.params(arguments);
            // What is slow only once, such as fresh memory, is no part of the figures.
            let mut warm = Cellar::new();
            let warmed = warm.closed(&mut open.session, &params, turn, calls, 1);
            open.session.meter.forget_peak();
            let mut cellar = Cellar::new();
            if let Err(error) = warmed {
                cellar.refused = Some(error.downcast::<Refused>()?.to_string());
            }
            cellars.push(cellar);
        }
        for round in 0..u64::from(ROUNDS) {
            let turns = open.iter_mut().zip(&mut cellars);
            for ((_, open), cellar) in turns.filter(|(_, cellar)| cellar.refused.is_none()) {
                let least = (LEAST * (round + 1)).div_ceil(u64::from(ROUNDS));
                let params = open.params(arguments);
                let left = self.samples - cellar.times.count().min(self.samples);
                match self.rate {
                    None => {
                        let least = least.saturating_sub(cellar.times.count());
                        let session = &mut open.session;
                        cellar.closed(session, &params, turn, calls.min(left), least.min(left))?;
                    }
                    Some(rate) => {
                        let due = ((rate * turn.as_secs_f64()) as u64).max(1).min(left);
                        cellar.open(&mut open.session, &params, rate, due)?;
                    }
                }
            }
        }
        Ok(cellars)
    }
}
