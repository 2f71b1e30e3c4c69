//! Where results go: a table for people, JSON for programs.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;

use super::chart::Chart;
use super::page::page;
use super::table::Table;

/// How results are shown.
#[derive(Debug, clap::Args)]
pub(super) struct Output {
    /// Print JSON instead of tables; times are in microseconds
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Write a page with charts, which needs nothing else
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,
}

/// What a command has found out.
pub(super) trait Outcome: Serialize {
    /// The name of the command.
    const COMMAND: &'static str;

    fn tables(&self) -> Vec<Table>;

    fn charts(&self) -> Vec<Chart>;
}

/// What is written as JSON.
#[derive(Serialize)]
struct Report<'a, T> {
    program: &'static str,
    version: &'static str,
    command: &'static str,
    machine: Machine,
    result: &'a T,
}

/// Where it was measured.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    pub(super) os: &'static str,
    pub(super) architecture: &'static str,
    pub(super) cores: usize,
    pub(super) processor: Option<String>,
    /// Of this harness. The gateway that lies beside it was most likely built in the same way.
    pub(super) optimized: bool,
}

impl Output {
    pub(super) fn show<T: Outcome>(&self, outcome: &T) -> anyhow::Result<()> {
        if let Some(path) = &self.html {
            let page = page(T::COMMAND, &outcome.charts(), &outcome.tables());
            fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let mut out = io::stdout().lock();
        if self.json {
            let report = Report {
                program: "cloak-bench",
                version: env!("CARGO_PKG_VERSION"),
                command: T::COMMAND,
                machine: Machine::this(),
                result: outcome,
            };
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        } else {
            for table in outcome.tables() {
                writeln!(out, "{table}")?;
            }
            writeln!(out, "Measured on {}.", Machine::this().describe())?;
        }
        Ok(())
    }
}

impl Machine {
    pub(super) fn this() -> Self {
        let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Self {
            os: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor,
            optimized: !cfg!(debug_assertions),
        }
    }

    pub(super) fn describe(&self) -> String {
        let processor = self.processor.as_deref().unwrap_or(self.architecture);
        let built = if self.optimized {
            ""
        } else {
            ", in a build that is not optimized"
        };
        format!("{} cores of {processor}, {}{built}", self.cores, self.os)
    }
}

/// A line on standard error that says how far the work is, if somebody looks at it.
pub(super) struct Progress {
    done: usize,
    all: usize,
    shown: bool,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        Self {
            done: 0,
            all,
            shown: io::stderr().is_terminal(),
        }
    }

    /// The next piece of work begins.
    pub(super) fn step(&mut self, what: impl std::fmt::Display) {
        const WIDTH: usize = 30;
        if self.shown {
            let full = WIDTH * self.done.min(self.all) / self.all.max(1);
            let (bar, rest) = ("█".repeat(full), "·".repeat(WIDTH - full));
            eprint!("\r\x1b[K{bar}{rest} {}/{} {what}", self.done, self.all);
        }
        self.done += 1;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
