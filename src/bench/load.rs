//! Many callers at once: who waits for whom, and what grows over time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::Serialize;

use super::chart::{Axis, Chart, Lines};
use super::output::{Outcome, Output, Progress};
use super::size::Size;
use super::stats::{Summary, Times};
use super::subject::{Mode, Open, Target};
use super::table::{Table, digits, megabytes, or_dash, time};
use super::usage::Meter;
use super::workload::{Dice, Kind};

/// How often memory and open files are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Runs many callers through one gateway at a time, with pings and small calls beside large ones.
#[derive(Debug, clap::Args)]
pub(super) struct Load {
    #[command(flatten)]
    target: Target,

    /// What stands between client and server
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "transparent,protecting"
    )]
    modes: Vec<Mode>,

    /// Callers, each of which calls again when it has its answer
    #[arg(long, value_name = "N", default_value_t = 8)]
    callers: usize,

    /// What they ask for: each call takes one of these, at random
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "200,200,200,5KB,5KB,50KB"
    )]
    sizes: Vec<Size>,

    /// What one more caller asks for in the second half; 0 for none
    #[arg(long, default_value = "50MB")]
    large: Size,

    /// The kind of text
    #[arg(long, value_enum, default_value_t = Kind::Prose)]
    kind: Kind,

    /// Seconds, half of them without the large calls
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    duration: f64,

    #[command(flatten)]
    output: Output,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    callers: usize,
    upstreams: usize,
    kind: Kind,
    large: Size,
    runs: Vec<Run>,
}

/// One half of the time in one mode.
#[derive(Debug, Serialize)]
struct Run {
    mode: Mode,
    beside_large: bool,
    /// Microseconds until an answer, by what was asked for.
    waits: Vec<Wait>,
    answers_per_second: f64,
    bytes_per_second: f64,
    /// What the gateway held over the time.
    held: Vec<Held>,
}

#[derive(Debug, Serialize)]
struct Wait {
    what: String,
    times: Summary,
}

/// What the gateway held at some moment.
#[derive(Clone, Copy, Debug, Serialize)]
struct Held {
    /// Seconds since the half began.
    at: f64,
    memory: Option<u64>,
    files: Option<u64>,
}

/// What one caller waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Ask {
    Ping,
    Text(Size),
}

impl Load {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        ensure!(
            self.callers > 0 && !self.sizes.is_empty(),
            "somebody has to ask for something"
        );
        ensure!(
            self.duration > 0.0 && self.duration.is_finite(),
            "--duration must be above 0"
        );
        let bench = self.target.prepare()?;
        let half = Duration::from_secs_f64(self.duration / 2.0);
        let mut progress = Progress::new(self.modes.len() * 2);
        let mut runs = Vec::new();
        for &mode in &self.modes {
            let mut open = bench.open(mode)?;
            let mut params = HashMap::new();
            for &size in self.sizes.iter().chain([&self.large]) {
                let asked = open.params_of_each(&bench.arguments(self.kind, size)?);
                params.insert(size, asked);
            }
            for beside_large in [false, true] {
                if beside_large && self.large.0 == 0 {
                    continue;
                }
                let what = if beside_large {
                    " beside large calls"
                } else {
                    ""
                };
                progress.step(format_args!("{mode}{what}"));
                runs.push(self.half((mode, &mut open), &params, beside_large, half)?);
            }
        }
        drop(progress);
        self.output.show(&Found {
            callers: self.callers,
            upstreams: self.target.upstreams,
            kind: self.kind,
            large: self.large,
            runs,
        })
    }

    fn half(
        &self,
        (mode, open): (Mode, &mut Open),
        params: &HashMap<Size, Vec<String>>,
        beside_large: bool,
        half: Duration,
    ) -> anyhow::Result<Run> {
        let meter = open.session.meter;
        let (mut asker, mut reader) = open.session.split();
        let mut dice = Dice::new(self.target.seed);
        let mut waiting = HashMap::new();
        let mut times: Vec<(Ask, Times)> = Vec::new();
        let (mut answers, mut bytes) = (0_u64, 0_u64);
        let mut held = Vec::new();
        let begun = Instant::now();
        let mut turn = 0;
        let mut send = |ask: Ask, waiting: &mut HashMap<u64, (Ask, Instant)>| {
            waiting.insert(asker.next_id(), (ask, Instant::now()));
            match ask {
                Ask::Ping => asker.ask("ping", "{}"),
                Ask::Text(size) => {
                    let params = params.get(&size).context("a size that was not prepared")?;
                    // Each server in its turn.
                    turn += 1;
                    asker.ask("tools/call", &params[turn % params.len()])
                }
            }
        };
        send(Ask::Ping, &mut waiting)?;
        if beside_large {
            send(Ask::Text(self.large), &mut waiting)?;
        }
        for _ in 0..self.callers {
            send(Ask::Text(self.any(&mut dice)), &mut waiting)?;
        }
        while !waiting.is_empty() {
            let (id, length, at) = reader.answer()?;
            let (ask, since) = waiting
                .remove(&id)
                .with_context(|| format!("an answer to {id}, which nobody waits for"))?;
            match times.iter_mut().find(|(known, _)| *known == ask) {
                Some((_, times)) => times.add(at - since),
                None => {
                    let mut new = Times::new();
                    new.add(at - since);
                    times.push((ask, new));
                }
            }
            answers += 1;
            bytes += length as u64;
            if held.len() as u32 * LOOK <= begun.elapsed() {
                held.push(Held::now(meter, begun));
            }
            if begun.elapsed() < half {
                // Each caller goes on with what it is there for.
                let next = match ask {
                    Ask::Text(size) if size != self.large => Ask::Text(self.any(&mut dice)),
                    same => same,
                };
                send(next, &mut waiting)?;
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        held.push(Held::now(meter, begun));
        times.sort_by_key(|(ask, _)| *ask);
        let wait = |(ask, times): (Ask, Times)| Wait {
            what: match ask {
                Ask::Ping => "ping".to_owned(),
                Ask::Text(size) => size.to_string(),
            },
            times: times.summary(),
        };
        Ok(Run {
            mode,
            beside_large,
            waits: times.into_iter().map(wait).collect(),
            answers_per_second: answers as f64 / seconds,
            bytes_per_second: bytes as f64 / seconds,
            held,
        })
    }

    fn any(&self, dice: &mut Dice) -> Size {
        self.sizes[dice.below(self.sizes.len() as u64) as usize]
    }
}

impl Held {
    fn now(meter: Meter, begun: Instant) -> Self {
        Self {
            at: begun.elapsed().as_secs_f64(),
            memory: meter.memory(),
            files: meter.files(),
        }
    }
}

impl Outcome for Found {
    const COMMAND: &'static str = "load";

    fn tables(&self) -> Vec<Table> {
        let mut waits = Table::new(
            format!(
                "{} callers of {} at once: how long each waits ({})",
                self.callers,
                match self.upstreams {
                    1 => "one server".to_owned(),
                    many => format!("{many} servers"),
                },
                self.kind
            ),
            3,
            &[
                "mode",
                "beside",
                "asked for",
                "answers",
                "p50",
                "p90",
                "p99",
                "max",
            ],
        );
        let mut held = Table::new(
            "What went through, and what the process held",
            2,
            &[
                "mode",
                "beside",
                "answers/s",
                "MB/s",
                "MB after 1/10",
                "MB at last",
                "most MB",
                "files after 1/10",
                "files at last",
            ],
        );
        for run in &self.runs {
            let beside = if run.beside_large {
                self.large.to_string()
            } else {
                "–".to_owned()
            };
            for wait in &run.waits {
                waits.row([
                    run.mode.to_string(),
                    beside.clone(),
                    wait.what.clone(),
                    wait.times.samples.to_string(),
                    time(wait.times.p50),
                    time(wait.times.p90),
                    time(wait.times.p99),
                    time(wait.times.max),
                ]);
            }
            // What is held from then on is there to stay; before, the first messages are new to it.
            let first = run.held.get(run.held.len() / 10);
            let last = run.held.last();
            let most = run.held.iter().max_by_key(|held| held.memory);
            let memory = |held: Option<&Held>| {
                or_dash(held.and_then(|held| held.memory), |bytes| {
                    megabytes(bytes as f64)
                })
            };
            let files =
                |held: Option<&Held>| or_dash(held.and_then(|held| held.files), |n| n.to_string());
            held.row([
                run.mode.to_string(),
                beside,
                digits(run.answers_per_second),
                megabytes(run.bytes_per_second),
                memory(first),
                memory(last),
                memory(most),
                files(first),
                files(last),
            ]);
        }
        vec![waits, held]
    }

    fn charts(&self) -> Vec<Chart> {
        let chart = |run: &Run| {
            let beside = if run.beside_large {
                format!(", beside {}", self.large)
            } else {
                String::new()
            };
            let line = |wait: &Wait| {
                let Summary { p50, p90, p99, .. } = wait.times;
                (
                    wait.what.clone(),
                    vec![(2.0, p50), (10.0, p90), (100.0, p99)],
                )
            };
            Chart::Lines(Lines {
                title: format!("{}{beside}: waits by how rare they are", run.mode),
                across: Axis {
                    name: "one in so many waits longer",
                    show: digits,
                },
                up: Axis {
                    name: "wait",
                    show: time,
                },
                lines: run.waits.iter().map(line).collect(),
                reference: false,
            })
        };
        self.runs.iter().map(chart).collect()
    }
}
