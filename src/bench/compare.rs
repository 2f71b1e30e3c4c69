//! The same work through two commands, call by call.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::Serialize;

use super::chart::{Axis, Chart, Lines};
use super::fit::Ratio;
use super::output::{Outcome, Output, Progress};
use super::size::Size;
use super::stats::{Summary, Times};
use super::subject::{Bench, Mode, Open, Target, words};
use super::table::{Table, digits, or_dash, time};
use super::workload::Kind;

/// Calls of each side before any counts.
const WARM_UP: usize = 2;

/// Compares the gateway with another command that stands before the same server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each call through the gateway is followed or preceded by the same call through the baseline, and
the ratio is that of the two times. Give --gateway and {config} to compare two builds:

  cloak-bench compare --baseline 'old/cloakllm-gateway --config {config}'")]
pub(super) struct Compare {
    #[command(flatten)]
    target: Target,

    /// The command to compare with: {server} stands for the server's command line, {config} for
    /// the path of the gateway's configuration [default: the built-in relay]
    #[arg(long, value_name = "CMD")]
    baseline: Option<String>,

    /// What the gateway does
    #[arg(long, value_enum, default_value_t = Mode::Protecting)]
    mode: Mode,

    /// The kinds of text
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    kinds: Vec<Kind>,

    /// Their sizes
    #[arg(long, value_delimiter = ',', default_value = "200,5KB,50KB,500KB")]
    sizes: Vec<Size>,

    /// Most pairs of calls for each kind and size
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pairs: usize,

    /// Seconds for each kind and size; three pairs are made in any case
    #[arg(long, value_name = "S", default_value_t = 4.0)]
    seconds: f64,

    #[command(flatten)]
    output: Output,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    mode: Mode,
    baseline: String,
    cells: Vec<Cell>,
}

/// One kind and size.
#[derive(Debug, Serialize)]
struct Cell {
    kind: Kind,
    /// Bytes of the text.
    size: Size,
    /// Microseconds of a round trip.
    gateway: Summary,
    baseline: Summary,
    /// The gateway's time as a multiple of the baseline's.
    ratio: Ratio,
    /// The same for processor time of the two processes, without servers, over all pairs.
    cpu_ratio: Option<f64>,
}

/// One of the two.
struct Side {
    open: Open,
    params: String,
    times: Times,
    cpu: Option<Duration>,
}

impl Compare {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        ensure!(self.pairs > 0, "--pairs must be above 0");
        let bench = self.target.prepare()?;
        let (name, command) = self.baseline(&bench)?;
        let mut ours = Side::new(bench.open(self.mode)?);
        let mut theirs = Side::new(bench.open_command("the baseline", &command)?);
        let mut progress = Progress::new(self.kinds.len() * self.sizes.len());
        let mut cells = Vec::new();
        for &kind in &self.kinds {
            for &size in &self.sizes {
                progress.step(format_args!("{kind}, {size}"));
                let arguments = bench.arguments(kind, size)?;
                let ratios = self.pairs(&mut ours, &mut theirs, &arguments)?;
                let used = ours.cpu.zip(theirs.cpu);
                cells.push(Cell {
                    kind,
                    size,
                    gateway: ours.times.summary(),
                    baseline: theirs.times.summary(),
                    ratio: Ratio::of(ratios).expect("a pair was measured"),
                    cpu_ratio: used.map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64()),
                });
            }
        }
        drop(progress);
        self.output.show(&Found {
            mode: self.mode,
            baseline: name,
            cells,
        })
    }

    fn baseline(&self, bench: &Bench<'_>) -> anyhow::Result<(String, Vec<String>)> {
        let Some(line) = &self.baseline else {
            return Ok(("the built-in relay".to_owned(), bench.command(Mode::Relay)?));
        };
        let config = bench.config("baseline", true)?;
        let mut command = Vec::new();
        for word in words(line)? {
            if word == "{server}" {
                command.extend(bench.command(Mode::Direct)?);
            } else {
                command.push(word.replace("{config}", &config.to_string_lossy()));
            }
        }
        Ok((line.clone(), command))
    }

    fn pairs(
        &self,
        ours: &mut Side,
        theirs: &mut Side,
        arguments: &str,
    ) -> anyhow::Result<Vec<f64>> {
        for side in [&mut *ours, &mut *theirs] {
            side.begin(arguments);
            for _ in 0..WARM_UP {
                side.call()?;
            }
            side.begin(arguments);
        }
        let begun = Instant::now();
        let mut ratios = Vec::new();
        while ratios.len() < self.pairs
            && (ratios.len() < 3 || begun.elapsed().as_secs_f64() < self.seconds)
        {
            // Who goes first takes turns, so that going first is nobody's advantage.
            let (our, their) = if ratios.len() % 2 == 0 {
                let our = ours.call()?;
                (our, theirs.call()?)
            } else {
                let their = theirs.call()?;
                (ours.call()?, their)
            };
            ratios.push(our.as_secs_f64() / their.as_secs_f64().max(1e-9));
        }
        Ok(ratios)
    }
}

impl Side {
    fn new(open: Open) -> Self {
        Self {
            open,
            params: String::new(),
            times: Times::new(),
            cpu: None,
        }
    }

    fn begin(&mut self, arguments: &str) {
        self.params = self.open.params(arguments);
        self.times = Times::new();
        self.cpu = Some(Duration::ZERO);
    }

    fn call(&mut self) -> anyhow::Result<Duration> {
        let meter = self.open.session.meter;
        let before = meter.cpu();
        let trip = self.open.session.trip("tools/call", &self.params)?;
        self.times.add(trip.took);
        let used = before.and_then(|before| meter.cpu()?.checked_sub(before));
        self.cpu = self.cpu.zip(used).map(|(sum, used)| sum + used);
        Ok(trip.took)
    }
}

impl Outcome for Found {
    const COMMAND: &'static str = "compare";

    fn tables(&self) -> Vec<Table> {
        let mut table = Table::new(
            format!("The gateway ({}) against {}", self.mode, self.baseline),
            2,
            &[
                "text",
                "size",
                "pairs",
                "gateway",
                "baseline",
                "ratio (95 %)",
                "CPU ratio",
            ],
        );
        for cell in &self.cells {
            table.row([
                cell.kind.to_string(),
                cell.size.to_string(),
                cell.ratio.pairs.to_string(),
                time(cell.gateway.p50),
                time(cell.baseline.p50),
                cell.ratio.describe(),
                or_dash(cell.cpu_ratio, digits),
            ]);
        }
        table.note = Some(
            "ratio: the gateway's time over the baseline's, the median of the pairs; below 1 the \
             gateway is faster."
                .to_owned(),
        );
        vec![table]
    }

    fn charts(&self) -> Vec<Chart> {
        let mut kinds: Vec<_> = self.cells.iter().map(|cell| cell.kind).collect();
        kinds.dedup();
        let lines = |of: fn(&Cell) -> f64, kind: Kind| {
            let cells = self.cells.iter().filter(|cell| cell.kind == kind);
            cells.map(|cell| (cell.size.0 as f64, of(cell))).collect()
        };
        let chart = |kind: Kind| {
            Chart::Lines(Lines {
                title: format!("{kind}: half of the round trips are faster (dashed: linear)"),
                across: Axis {
                    name: "bytes of the text",
                    show: |bytes| Size(bytes as usize).to_string(),
                },
                up: Axis {
                    name: "round trip",
                    show: time,
                },
                lines: vec![
                    ("gateway".to_owned(), lines(|cell| cell.gateway.p50, kind)),
                    ("baseline".to_owned(), lines(|cell| cell.baseline.p50, kind)),
                ],
                reference: true,
            })
        };
        kinds.into_iter().map(chart).collect()
    }
}
