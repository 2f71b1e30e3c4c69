//! What was found, as tables and charts.

use serde::Serialize;

use super::cell::Cell;
use crate::bench::chart::{Axis, Chart, Lines};
use crate::bench::output::Outcome;
use crate::bench::size::Size;
use crate::bench::stats::Summary;
use crate::bench::subject::Mode;
use crate::bench::table::{Table, digits, megabytes, or_dash, time};
use crate::bench::workload::Kind;

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    /// Calls a second, or null where each waited for the one before.
    pub(super) rate: Option<f64>,
    pub(super) starts: Vec<Start>,
    pub(super) cells: Vec<Cell>,
}

/// How a mode starts.
#[derive(Debug, Serialize)]
pub(super) struct Start {
    pub(super) mode: Mode,
    /// Microseconds until `initialize` was answered.
    pub(super) initialized: Summary,
    /// Bytes of memory held then.
    pub(super) idle_memory: Option<u64>,
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
