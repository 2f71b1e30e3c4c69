//! How the cost grows: with the size of a text, the values in it, and the age of the session.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::ensure;
use cloak_stages::detect::{Detectors, Settings};
use serde::Serialize;

use super::chart::{Axis, Chart, Lines};
use super::fit::Growth;
use super::inside::{Inside, answer, call};
use super::output::{Outcome, Output, Progress};
use super::size::Size;
use super::table::{Table, digits, time};
use super::workload::{Dice, Kind};

/// Bytes of a text that values are put into, in the sweep over how many they are.
const FILLED: usize = 1_000_000;

/// Values in the messages of the sweep over the age of the session.
const VALUES: usize = 100;

/// Bytes of those messages.
const MESSAGE: usize = 20_000;

/// Values in a message that makes a session older.
const STEP: usize = 5_000;

/// Up to this age a session is made anew for each run, as a run makes it older.
const YOUNG: usize = 20_000;

/// Measures how the cost grows, in this process, and fits the exponent.
#[derive(Debug, clap::Args)]
pub(super) struct Scale {
    /// The kinds of text whose size grows
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    kinds: Vec<Kind>,

    /// Their sizes
    #[arg(long, value_delimiter = ',', default_value = "5KB,50KB,500KB,5MB,50MB")]
    sizes: Vec<Size>,

    /// How many values there are in a text of 1 MB
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1000,2000,4000,8000,16000"
    )]
    values: Vec<usize>,

    /// How many values the session knows already
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "10,100,1000,10000,100000,1000000"
    )]
    ages: Vec<usize>,

    /// How often each is measured. The fastest counts: what disturbs a run only makes it slower
    #[arg(long, value_name = "N", default_value_t = 7)]
    runs: usize,

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
    runs: usize,
    sweeps: Vec<Sweep>,
}

/// One thing that grows.
#[derive(Debug, Serialize)]
pub(super) struct Sweep {
    pub(super) what: String,
    /// What `x` of the points counts.
    pub(super) variable: Variable,
    pub(super) points: Vec<Point>,
    /// Of the cost with the variable: 1 is linear, 0 is not at all.
    pub(super) growth: Option<Growth>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Variable {
    Bytes,
    Values,
    Age,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Point {
    pub(super) x: f64,
    /// Microseconds.
    pub(super) micros: f64,
}

impl Scale {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        ensure!(self.runs > 0, "--runs must be above 0");
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()?;
        let found = pool.install(|| self.measure())?;
        self.output.show(&found)
    }

    fn measure(&self) -> anyhow::Result<Found> {
        let detectors = Arc::new(Detectors::new(&Settings::default())?);
        let mut progress = Progress::new(self.kinds.len() + 2);
        let mut sweeps = Vec::new();
        for &kind in &self.kinds {
            progress.step(format_args!("{kind} of growing size"));
            sweeps.extend(self.sizes(kind, &detectors));
        }
        progress.step("more and more values in a text");
        sweeps.extend(self.values(&detectors));
        progress.step("a session that grows old");
        sweeps.extend(self.ages(&detectors));
        drop(progress);
        Ok(Found {
            threads: self.threads,
            runs: self.runs,
            sweeps,
        })
    }

    /// Each text is new to its session: every value in it gets a token.
    fn sizes(&self, kind: Kind, detectors: &Arc<Detectors>) -> Option<Sweep> {
        let largest = self.sizes.iter().max()?;
        let text = kind.text(largest.0, self.seed);
        let cut = |size: &Size| answer(&text[..text.floor_char_boundary(size.0)]);
        let answers: Vec<_> = self.sizes.iter().map(cut).collect();
        let fastest = self.fastest(answers.len(), |index| {
            Inside::new(detectors)
                .to_model(&answers[index])
                .0
                .as_secs_f64()
        });
        let lengths = answers.iter().map(|answer| answer.len() as f64);
        let sweep = Sweep::new(format!("{kind}, by size"), Variable::Bytes);
        Some(sweep.with(lengths.zip(fastest), 0.0))
    }

    /// One text, with more and more addresses in it, all different. What the text costs without
    /// any is not part of the growth.
    fn values(&self, detectors: &Arc<Detectors>) -> Option<Sweep> {
        self.values.first()?;
        let filled = |count: &usize| answer(&with_addresses(FILLED, 0..*count));
        let answers: Vec<_> = [0].iter().chain(&self.values).map(filled).collect();
        let fastest = self.fastest(answers.len(), |index| {
            Inside::new(detectors)
                .to_model(&answers[index])
                .0
                .as_secs_f64()
        });
        let counts = self.values.iter().map(|count| *count as f64);
        let sweep = Sweep::new(
            "1 MB of prose, by the values in it".to_owned(),
            Variable::Values,
        );
        Some(sweep.with(counts.zip(fastest[1..].iter().copied()), fastest[0]))
    }

    /// The same messages in sessions that know more and more values.
    fn ages(&self, detectors: &Arc<Detectors>) -> Vec<Sweep> {
        const WORKS: [&str; 3] = [
            "20 KB with 100 known values, by the values of the session",
            "20 KB with 100 new values, by the values of the session",
            "a call with 100 tokens, by the values of the session",
        ];
        let mut fastest = vec![[f64::INFINITY; WORKS.len()]; self.ages.len()];
        let mut dice = Dice::new(self.seed);
        for (&age, fastest) in self.ages.iter().zip(&mut fastest) {
            let mut session = None;
            for _ in 0..self.runs {
                let inside = session.take().unwrap_or_else(|| aged(detectors, age));
                let mut known = || dice.below(age as u64) as usize;
                let known: Vec<_> = (0..VALUES).map(|_| known()).collect();
                let tokens = known.iter().map(|n| format!("[EMAIL_{n}]"));
                let tokens = call(&spread(MESSAGE, tokens.collect()));
                let (there, _) = inside.to_model(&answer(&with_addresses(MESSAGE, known)));
                let (back, _) = inside.to_upstream(&tokens);
                let before = inside.vault.len();
                let new = answer(&with_addresses(MESSAGE, before..before + VALUES));
                let (first, _) = inside.to_model(&new);
                for (least, took) in fastest.iter_mut().zip([there, first, back]) {
                    *least = least.min(took.as_secs_f64());
                }
                session = (age > YOUNG).then_some(inside);
            }
        }
        let sweep = |(index, what): (usize, &str)| {
            let ages = self.ages.iter().map(|age| *age as f64);
            let times = fastest.iter().map(|works| works[index]);
            Sweep::new(what.to_owned(), Variable::Age).with(ages.zip(times), 0.0)
        };
        WORKS.into_iter().enumerate().map(sweep).collect()
    }

    /// The fastest of some runs of each work, in seconds. They take turns.
    fn fastest(&self, works: usize, mut run: impl FnMut(usize) -> f64) -> Vec<f64> {
        let mut fastest = vec![f64::INFINITY; works];
        for _ in 0..self.runs {
            for (index, least) in fastest.iter_mut().enumerate() {
                *least = run(index).min(*least);
            }
        }
        fastest
    }
}

impl Sweep {
    fn new(what: String, variable: Variable) -> Self {
        Self {
            what,
            variable,
            points: Vec::new(),
            growth: None,
        }
    }

    /// With these measurements in seconds, of which `fixed` does not grow.
    fn with(mut self, measured: impl Iterator<Item = (f64, f64)>, fixed: f64) -> Self {
        let point = |(x, seconds): (f64, f64)| Point {
            x,
            micros: (seconds - fixed) * 1e6,
        };
        self.points = measured.map(point).collect();
        let points: Vec<_> = self.points.iter().map(|p| (p.x, p.micros)).collect();
        self.growth = Growth::of(&points);
        self
    }

    /// How many times as much the last point costs as the first: for each byte or value, or in
    /// all where more is not more work.
    fn last_over_first(&self) -> Option<f64> {
        let cost = |point: &Point| match self.variable {
            Variable::Bytes | Variable::Values => point.micros / point.x,
            Variable::Age => point.micros,
        };
        Some(cost(self.points.last()?) / cost(self.points.first()?))
    }
}

/// A session that knows `address(0)` to `address(age - 1)`, in order.
fn aged(detectors: &Arc<Detectors>, age: usize) -> Inside {
    let inside = Inside::new(detectors);
    for first in (0..age).step_by(STEP) {
        let numbers = first..age.min(first + STEP);
        inside.to_model(&answer(&with_addresses(0, numbers)));
    }
    assert_eq!(inside.vault.len(), age, "each address is one value");
    inside
}

/// About `size` bytes of words, with these addresses spread over them.
fn with_addresses(size: usize, numbers: impl IntoIterator<Item = usize>) -> String {
    let addresses = numbers.into_iter().map(|n| format!("user{n}@example.org"));
    spread(size, addresses.collect())
}

fn spread(size: usize, pieces: Vec<String>) -> String {
    const WORDS: &str = "and the river went on below the garden ";
    let taken: usize = pieces.iter().map(String::len).sum();
    let each = size.saturating_sub(taken) / pieces.len().max(1);
    let mut text = String::with_capacity(size + 64);
    let words = |text: &mut String, bytes: usize| {
        let end = text.len() + bytes;
        while text.len() < end {
            text.push_str(WORDS);
        }
        text.truncate(end);
    };
    for piece in &pieces {
        words(&mut text, each);
        let _ = write!(text, " {piece} ");
    }
    if pieces.is_empty() {
        words(&mut text, size);
    }
    text
}

impl Outcome for Found {
    const COMMAND: &'static str = "scale";

    fn tables(&self) -> Vec<Table> {
        let mut points = Table::new(
            format!(
                "What grows, in this process on {} thread(s): the fastest of {} runs",
                self.threads, self.runs
            ),
            2,
            &["what", "at", "time", "each"],
        );
        let mut growth = Table::new(
            "How it grows: cost ∝ variable^exponent",
            1,
            &[
                "what",
                "variable",
                "exponent (95 %)",
                "linear",
                "last/first",
            ],
        );
        for sweep in &self.sweeps {
            for point in &sweep.points {
                let (at, each) = match sweep.variable {
                    Variable::Bytes => (
                        Size(point.x as usize).to_string(),
                        format!("{} ns/B", digits(point.micros * 1e3 / point.x)),
                    ),
                    Variable::Values => (
                        digits(point.x),
                        format!("{} ns", digits(point.micros * 1e3 / point.x)),
                    ),
                    Variable::Age => (digits(point.x), "–".to_owned()),
                };
                points.row([sweep.what.clone(), at, time(point.micros), each]);
            }
            growth.row([
                sweep.what.clone(),
                match sweep.variable {
                    Variable::Bytes => "bytes",
                    Variable::Values => "values",
                    Variable::Age => "age",
                }
                .to_owned(),
                sweep
                    .growth
                    .map_or_else(|| "–".to_owned(), |growth| growth.describe()),
                match sweep.variable {
                    Variable::Bytes | Variable::Values => "1",
                    Variable::Age => "0",
                }
                .to_owned(),
                sweep
                    .last_over_first()
                    .map_or_else(|| "–".to_owned(), digits),
            ]);
        }
        growth.note = Some(
            "linear: the exponent of work that grows with nothing but the text and the values in \
             it. last/first: what the\nlast point costs over the first, for each byte or value; \
             in all where the session grows old."
                .to_owned(),
        );
        vec![points, growth]
    }

    fn charts(&self) -> Vec<Chart> {
        let chart = |variable: Variable, title: &str, name, show| {
            let sweeps = self.sweeps.iter();
            let line = |sweep: &Sweep| {
                let points = sweep.points.iter().map(|point| (point.x, point.micros));
                (sweep.what.clone(), points.collect())
            };
            Chart::Lines(Lines {
                title: title.to_owned(),
                across: Axis { name, show },
                up: Axis {
                    name: "time",
                    show: time,
                },
                lines: sweeps
                    .filter(|sweep| sweep.variable == variable)
                    .map(line)
                    .collect(),
                reference: variable != Variable::Age,
            })
        };
        vec![
            chart(
                Variable::Bytes,
                "By the size of the text (dashed: linear)",
                "bytes of the message",
                |bytes| Size(bytes as usize).to_string(),
            ),
            chart(
                Variable::Values,
                "By the values in a text, beyond the text itself (dashed: linear)",
                "values",
                digits,
            ),
            chart(
                Variable::Age,
                "By what the session knows already",
                "values of the session",
                digits,
            ),
        ]
    }
}
