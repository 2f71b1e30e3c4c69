//! Round trips through a gateway process, beside those without one.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::Serialize;

use super::chart::{Axis, Chart, Lines};
use super::output::{Outcome, Output, Progress};
use super::session::{Refused, Session};
use super::size::Size;
use super::stats::{Summary, Times, median};
use super::subject::{Bench, Mode, Open, Target};
use super::table::{Table, digits, megabytes, or_dash, time};
use super::workload::Kind;

/// Each mode gets its turn this many times for each text, so that a busy moment of the machine
/// falls on all of them.
const ROUNDS: u32 = 10;

/// Fewest calls that a figure is made of, however long they take.
const LEAST: u64 = 5;

/// Below this, waiting for a time is done by looking at the clock: a sleep ends too late.
const SPIN: Duration = Duration::from_micros(100);

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

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    /// Calls a second, or null where each waited for the one before.
    rate: Option<f64>,
    starts: Vec<Start>,
    cells: Vec<Cell>,
}

/// How a mode starts.
#[derive(Debug, Serialize)]
struct Start {
    mode: Mode,
    /// Microseconds until `initialize` was answered.
    initialized: Summary,
    /// Bytes of memory held then.
    idle_memory: Option<u64>,
}

/// One kind, size and mode.
#[derive(Debug, Serialize)]
struct Cell {
    kind: Kind,
    /// Bytes of the text.
    size: Size,
    mode: Mode,
    /// Bytes of the answer, as a line.
    answer: usize,
    /// Microseconds of a round trip.
    times: Summary,
    /// Answers' bytes in each second of measuring.
    bytes_per_second: f64,
    /// Microseconds of processor time of the process called, without the server behind it.
    cpu_per_call: Option<f64>,
    /// Most bytes of memory that process held.
    peak_memory: Option<u64>,
    /// The error with which such a call is answered; then nothing was measured.
    refused: Option<String>,
}

/// A cell while it is measured.
struct Cellar {
    times: Times,
    spent: Duration,
    bytes: u64,
    answer: usize,
    cpu: Option<Duration>,
    refused: Option<String>,
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

impl Cellar {
    fn new() -> Self {
        Self {
            times: Times::new(),
            spent: Duration::ZERO,
            bytes: 0,
            answer: 0,
            cpu: Some(Duration::ZERO),
            refused: None,
        }
    }

    /// Call after call, each when the one before was answered, for `turn` or `most` calls; `least`
    /// calls in any case.
    fn closed(
        &mut self,
        session: &mut Session,
        params: &str,
        turn: Duration,
        most: u64,
        least: u64,
    ) -> anyhow::Result<()> {
        let before = session.meter.cpu();
        let begun = Instant::now();
        let mut calls = 0;
        while calls < most && (calls < least || begun.elapsed() < turn) {
            let trip = session.trip("tools/call", params)?;
            self.add(trip.took, trip.bytes);
            self.spent += trip.took;
            calls += 1;
        }
        self.count_cpu(before, session);
        Ok(())
    }

    /// `calls` calls at a steady `rate`. Each is due at its time, and its time counts from then.
    fn open(
        &mut self,
        session: &mut Session,
        params: &str,
        rate: f64,
        calls: u64,
    ) -> anyhow::Result<()> {
        let before = session.meter.cpu();
        let (mut asker, mut reader) = session.split();
        let first = asker.next_id();
        let begun = Instant::now();
        let due = |call: u64| begun + Duration::from_secs_f64(call as f64 / rate);
        std::thread::scope(|scope| {
            let asked = scope.spawn(move || -> anyhow::Result<()> {
                for call in 0..calls {
                    wait_until(due(call));
                    asker.ask("tools/call", params)?;
                }
                Ok(())
            });
            for _ in 0..calls {
                let (id, bytes, at) = reader.answer()?;
                let call = id.checked_sub(first).filter(|call| *call < calls);
                ensure!(call.is_some(), "an answer came to a call that was not made");
                self.add(at - due(call.unwrap_or_default()), bytes);
            }
            asked.join().expect("asking does not panic")
        })?;
        self.spent += begun.elapsed();
        self.count_cpu(before, session);
        Ok(())
    }

    fn add(&mut self, took: Duration, bytes: usize) {
        self.times.add(took);
        self.bytes += bytes as u64;
        self.answer = bytes;
    }

    fn count_cpu(&mut self, before: Option<Duration>, session: &Session) {
        let used = before.and_then(|before| session.meter.cpu()?.checked_sub(before));
        self.cpu = self.cpu.zip(used).map(|(sum, used)| sum + used);
    }

    fn close(self, kind: Kind, size: Size, mode: Mode, session: &Session) -> Cell {
        let times = self.times.summary();
        Cell {
            kind,
            size,
            mode,
            answer: self.answer,
            bytes_per_second: self.bytes as f64 / self.spent.as_secs_f64().max(1e-9),
            cpu_per_call: self
                .cpu
                .filter(|_| times.samples > 0)
                .map(|cpu| cpu.as_secs_f64() * 1e6 / times.samples as f64),
            peak_memory: session.meter.peak(),
            refused: self.refused,
            times,
        }
    }
}

fn wait_until(time: Instant) {
    if let Some(rest) = time.checked_duration_since(Instant::now() + SPIN) {
        std::thread::sleep(rest);
    }
    while Instant::now() < time {
        std::hint::spin_loop();
    }
}

impl Found {
    /// What the same text takes without anything between.
    fn direct(&self, cell: &Cell) -> Option<f64> {
        let same = |other: &&Cell| {
            other.mode == Mode::Direct && (other.kind, other.size) == (cell.kind, cell.size)
        };
        let direct = self.cells.iter().find(same)?;
        (cell.mode != Mode::Direct).then_some(direct.times.p50)
    }

    /// The measured cells of a kind, by mode.
    fn by_mode(&self, kind: Kind) -> Vec<(Mode, Vec<&Cell>)> {
        let modes = self.starts.iter().map(|start| start.mode);
        let of = |mode: Mode| {
            let cells = self.cells.iter();
            let wanted =
                |cell: &&Cell| cell.kind == kind && cell.mode == mode && cell.refused.is_none();
            (mode, cells.filter(wanted).collect())
        };
        modes.map(of).collect()
    }

    fn by_size(&self, kind: Kind) -> Lines {
        let line = |(mode, cells): (Mode, Vec<&Cell>)| {
            let points = cells
                .iter()
                .map(|cell| (cell.size.0 as f64, cell.times.p50));
            (mode.to_string(), points.collect())
        };
        Lines {
            title: format!("{kind}: half of the round trips are faster (dashed: linear)"),
            across: Axis {
                name: "bytes of the text",
                show: |bytes| Size(bytes as usize).to_string(),
            },
            up: Axis {
                name: "round trip",
                show: time,
            },
            lines: self.by_mode(kind).into_iter().map(line).collect(),
            reference: true,
        }
    }

    /// Of the smallest text, where what is in between counts most.
    fn percentiles(&self, kind: Kind) -> Lines {
        let mut size = None;
        let line = |(mode, cells): (Mode, Vec<&Cell>)| {
            let cell = cells.into_iter().min_by_key(|cell| cell.size)?;
            size = Some(cell.size);
            // One in how many is slower.
            let Summary { p50, p90, p99, .. } = cell.times;
            let points = vec![(2.0, p50), (10.0, p90), (100.0, p99)];
            Some((mode.to_string(), points))
        };
        let lines = self.by_mode(kind).into_iter().filter_map(line).collect();
        let size = size.map_or(String::new(), |size| size.to_string());
        Lines {
            title: format!("{kind} of {size}: round trips by how rare they are"),
            across: Axis {
                name: "one in so many takes longer",
                show: digits,
            },
            up: Axis {
                name: "round trip",
                show: time,
            },
            lines,
            reference: false,
        }
    }
}

impl Outcome for Found {
    const COMMAND: &'static str = "latency";

    fn tables(&self) -> Vec<Table> {
        let mut starts = Table::new(
            "From the start of the process until initialize is answered",
            1,
            &["mode", "starts", "p50", "max", "idle MB"],
        );
        for start in &self.starts {
            starts.row([
                start.mode.to_string(),
                start.initialized.samples.to_string(),
                time(start.initialized.p50),
                time(start.initialized.max),
                or_dash(start.idle_memory, |bytes| megabytes(bytes as f64)),
            ]);
        }
        let title = match self.rate {
            None => "Round trips of a call that returns a text".to_owned(),
            Some(rate) => format!(
                "Round trips of a call that returns a text, {} of them due each second",
                digits(rate)
            ),
        };
        let mut cells = Table::new(
            title,
            3,
            &[
                "text", "size", "mode", "calls", "p50", "p90", "p99", "max", "adds", "MB/s", "CPU",
                "peak MB",
            ],
        );
        for cell in &self.cells {
            let names = [
                cell.kind.to_string(),
                cell.size.to_string(),
                cell.mode.to_string(),
            ];
            if cell.refused.is_some() {
                let figures = cells.columns.len() - names.len();
                let refused = std::iter::once("refused".to_owned());
                let nothing = std::iter::repeat_n("–".to_owned(), figures - 1);
                cells.row(names.into_iter().chain(refused).chain(nothing));
                continue;
            }
            let [kind, size, mode] = names;
            cells.row([
                kind,
                size,
                mode,
                cell.times.samples.to_string(),
                time(cell.times.p50),
                time(cell.times.p90),
                time(cell.times.p99),
                time(cell.times.max),
                or_dash(self.direct(cell), |direct| time(cell.times.p50 - direct)),
                megabytes(cell.bytes_per_second),
                or_dash(cell.cpu_per_call, time),
                or_dash(cell.peak_memory, |bytes| megabytes(bytes as f64)),
            ]);
        }
        let mut note =
            "adds: p50 beyond the direct one. CPU: processor time a call of the process \
             called, without the server\nbehind it. MB: 10⁶ bytes."
                .to_owned();
        for cell in &self.cells {
            if let Some(why) = &cell.refused {
                note += &format!("\n{}, {}, {}: {why}", cell.kind, cell.size, cell.mode);
            }
        }
        cells.note = Some(note);
        vec![starts, cells]
    }

    fn charts(&self) -> Vec<Chart> {
        let mut kinds: Vec<_> = self.cells.iter().map(|cell| cell.kind).collect();
        kinds.dedup();
        let mut charts = Vec::new();
        for &kind in &kinds {
            charts.push(Chart::Lines(self.by_size(kind)));
        }
        for kind in kinds {
            charts.push(Chart::Lines(self.percentiles(kind)));
        }
        charts
    }
}
