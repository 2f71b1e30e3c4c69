//! What each stage costs, by switching them in one after the other.

use std::sync::Arc;

use anyhow::ensure;
use bytes::{Bytes, BytesMut};
use cloak_stages::detect::{Detectors, Settings};
use cloak_stages::frame::JsonLines;
use cloak_stages::note::Silent;
use cloak_stages::offload::Work;
use cloak_stages::protect::{Mode, Protect};
use cloak_stages::tripwire::Tripwire;
use cloak_stages::vault::{InMemory, Vault};
use serde::Serialize;
use tokio_util::codec::Decoder;

use super::chart::{Bars, Chart};
use super::inside::{answer, policy, read_answer, timed, written};
use super::output::{Outcome, Output, Progress};
use super::size::Size;
use super::table::{Table, digits, megabytes, time};
use super::workload::Kind;

/// Measures what each stage costs, in this process: each line of a table adds one to those above.
#[derive(Debug, clap::Args)]
pub(super) struct Stages {
    /// The kinds of text
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    kinds: Vec<Kind>,

    /// Their sizes
    #[arg(long, value_delimiter = ',', default_value = "200,5KB,500KB")]
    sizes: Vec<Size>,

    /// How often each is measured. The fastest counts: what disturbs a run only makes it slower
    #[arg(long, value_name = "N", default_value_t = 7)]
    runs: usize,

    /// Bytes that go through in a run: small messages go many times
    #[arg(long, value_name = "SIZE", default_value = "1MB")]
    volume: Size,

    /// Threads that share a large text
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,

    /// Another seed, other texts
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: Output,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    threads: usize,
    cells: Vec<Cell>,
}

/// One kind and size.
#[derive(Debug, Serialize)]
pub(super) struct Cell {
    pub(super) kind: Kind,
    pub(super) size: Size,
    /// Bytes of the line.
    bytes: usize,
    /// In the order in which they are switched in.
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) stage: &'static str,
    /// Microseconds a message with all stages up to this one.
    pub(super) total: f64,
    /// What this one added to that.
    pub(super) added: f64,
}

/// A pipeline: from a line to what leaves.
type Pipeline = Box<dyn Fn(&Bytes) -> Bytes + Send + Sync>;

impl Stages {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        ensure!(self.runs > 0, "--runs must be above 0");
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()?;
        let found = pool.install(|| self.measure())?;
        self.output.show(&found)
    }

    fn measure(&self) -> anyhow::Result<Found> {
        let ladder = ladder()?;
        let mut progress = Progress::new(self.kinds.len() * self.sizes.len());
        let mut cells = Vec::new();
        for &kind in &self.kinds {
            for &size in &self.sizes {
                progress.step(format_args!("{kind}, {size}"));
                let line = answer(&kind.text(size.0, self.seed));
                let times = self.times(&ladder, &line);
                let before = std::iter::once(0.0).chain(times.iter().copied());
                let steps = ladder.iter().zip(&times).zip(before);
                let step =
                    |((stage, total), before): ((&(&'static str, Pipeline), &f64), f64)| Step {
                        stage: stage.0,
                        total: *total,
                        added: total - before,
                    };
                cells.push(Cell {
                    kind,
                    size,
                    bytes: line.len(),
                    steps: steps.map(step).collect(),
                });
            }
        }
        Ok(Found {
            threads: self.threads,
            cells,
        })
    }

    /// Microseconds a message, the fastest of the runs. The pipelines take turns.
    fn times(&self, ladder: &[(&str, Pipeline)], line: &Bytes) -> Vec<f64> {
        let messages = (self.volume.0 / line.len()).max(1);
        let mut fastest = vec![f64::INFINITY; ladder.len()];
        // One run more: the first makes the session know its values.
        for _ in 0..=self.runs {
            for ((_, pipeline), least) in ladder.iter().zip(&mut fastest) {
                let (took, ()) = timed(|| {
                    for _ in 0..messages {
                        std::hint::black_box(pipeline(std::hint::black_box(line)));
                    }
                });
                *least = least.min(took.as_secs_f64() * 1e6 / messages as f64);
            }
        }
        fastest
    }
}

/// The pipelines, each with one stage more than the one before.
fn ladder() -> anyhow::Result<Vec<(&'static str, Pipeline)>> {
    let everything = Arc::new(Detectors::new(&Settings::default())?);
    let nothing = Arc::new(Detectors::new(&nothing())?);
    let protect = |detectors: &Arc<Detectors>, mode| {
        let vault = Vault::new(detectors, InMemory::default());
        let silent = Arc::new(Silent);
        (
            Protect::new(Arc::clone(detectors), vault.clone(), policy(mode), silent),
            vault,
        )
    };
    let (walk, _) = protect(&nothing, Mode::Redact);
    let (detect, _) = protect(&everything, Mode::Redact);
    let (tokens, _) = protect(&everything, Mode::Tokenize);
    let (last, vault) = protect(&everything, Mode::Tokenize);
    let tripwire = Tripwire::new(everything, vault, &policy(Mode::Tokenize), Arc::new(Silent));
    Ok(vec![
        ("frame: find the end of the line", Box::new(frame)),
        (
            "message: check the JSON, read its head, write it",
            Box::new(|line| written(read_answer(&frame(line)))),
        ),
        ("walk: decode and visit the strings", through(walk)),
        ("detect: look for values, mark them", through(detect)),
        ("vault: give them tokens", through(tokens)),
        (
            "tripwire: look again at what leaves",
            through((last, tripwire)),
        ),
    ])
}

/// Settings that look for nothing.
fn nothing() -> Settings {
    Settings {
        detect_emails: false,
        detect_phones: false,
        detect_ssns: false,
        detect_credit_cards: false,
        detect_api_keys: false,
        detect_ip_addresses: false,
        detect_iban: false,
        detect_il_id: false,
        detect_mac: false,
        detect_crypto: false,
        detect_fields: false,
        ..Settings::default()
    }
}

fn through(work: impl Work) -> Pipeline {
    Box::new(move |line| {
        let mut msg = read_answer(&frame(line));
        work.to_model(&mut msg);
        written(msg)
    })
}

/// The line as it comes out of a buffer that was read.
fn frame(line: &Bytes) -> Bytes {
    let mut buffer = BytesMut::with_capacity(line.len() + 1);
    buffer.extend_from_slice(line);
    buffer.extend_from_slice(b"\n");
    match JsonLines::new(usize::MAX).decode(&mut buffer) {
        Ok(Some(cloak_stages::frame::Frame::Line(line))) => line,
        _ => unreachable!("the buffer holds one line"),
    }
}

impl Outcome for Found {
    const COMMAND: &'static str = "stages";

    fn tables(&self) -> Vec<Table> {
        let mut table = Table::new(
            format!(
                "What each stage adds, in this process on {} thread(s)",
                self.threads
            ),
            3,
            &["text", "size", "stage", "adds", "in all", "MB/s", "share"],
        );
        for cell in &self.cells {
            let whole = cell.steps.last().map_or(0.0, |step| step.total);
            for step in &cell.steps {
                table.row([
                    cell.kind.to_string(),
                    cell.size.to_string(),
                    step.stage.to_owned(),
                    time(step.added),
                    time(step.total),
                    megabytes(cell.bytes as f64 / step.total * 1e6),
                    format!("{} %", digits(100.0 * step.added / whole)),
                ]);
            }
        }
        table.note = Some("MB/s: with all stages up to that one.".to_owned());
        vec![table]
    }

    fn charts(&self) -> Vec<Chart> {
        let mut sizes: Vec<_> = self.cells.iter().map(|cell| cell.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let chart = |size: Size| {
            let cells = || self.cells.iter().filter(|cell| cell.size == size);
            let parts = cells().next().into_iter().flat_map(|cell| &cell.steps);
            let bar = |cell: &Cell| {
                let added = cell.steps.iter().map(|step| step.added);
                (cell.kind.to_string(), added.collect())
            };
            Chart::Bars(Bars {
                title: format!("Texts of {size}: what each stage adds to a message"),
                parts: parts.map(|step| step.stage.to_owned()).collect(),
                bars: cells().map(bar).collect(),
                show: time,
            })
        };
        sizes.into_iter().map(chart).collect()
    }
}
