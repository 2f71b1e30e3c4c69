//! Entries as rows of a table.

use std::io::{self, Write};

use cloak_stages::audit::{Direction, StoredEntry, StoredFact};

const HEADS: [&str; COLUMNS] = [
    "TIME (UTC)",
    "SEQ",
    "EVENT",
    "",
    "UPSTREAM",
    "WHAT",
    "FOUND",
    "BYTES",
    "MS",
    "OUTCOME",
];
const COLUMNS: usize = 10;
/// Columns of numbers, which are aligned at the right.
const RIGHT: [bool; COLUMNS] = [
    false, true, false, false, false, false, false, true, true, false,
];
/// A cell is cut to this many characters.
const MAX_CELL: usize = 40;

/// A row; rows are ordered by time, then by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    time: String,
    seq: u64,
    cells: [String; COLUMNS],
}

impl Row {
    pub(super) fn of(entry: &StoredEntry<'_>) -> Self {
        let metadata = &entry.metadata;
        let time = entry
            .timestamp
            .get(..23)
            .unwrap_or(entry.timestamp)
            .replace('T', " ");
        let arrow = match metadata.direction.and_then(Direction::parse) {
            Some(Direction::ToModel) => "to model",
            Some(Direction::ToUpstream) => "to tools",
            _ => "",
        };
        let found: Vec<_> = entry
            .categories
            .iter()
            .map(|(category, count)| format!("{category} {count}"))
            .collect();
        let bytes = match (metadata.bytes_in, metadata.bytes_out) {
            (0, 0) => String::new(),
            (before, after) => format!("{before}>{after}"),
        };
        let cells = [
            time,
            entry.seq.to_string(),
            entry.event_type.to_owned(),
            arrow.to_owned(),
            metadata.upstream.unwrap_or("").to_owned(),
            what(entry),
            found.join(" "),
            bytes,
            if entry.latency_ms > 0.0 {
                entry.latency_ms.to_string()
            } else {
                String::new()
            },
            metadata.outcome.unwrap_or("").to_owned(),
        ];
        Self {
            time: entry.timestamp.to_owned(),
            seq: entry.seq,
            cells,
        }
    }
}

/// The tool, else the method, else the facts.
fn what(entry: &StoredEntry<'_>) -> String {
    if let Some(what) = entry.metadata.tool.or(entry.metadata.method) {
        return what.to_owned();
    }
    let facts = entry.metadata.facts.iter().map(|(name, fact)| match fact {
        StoredFact::Number(number) => format!("{name} {number}"),
        StoredFact::Text(text) => format!("{name} {}", text.get(..12).unwrap_or(text)),
        StoredFact::List(items) => format!("{name} {}", items.join(",")),
    });
    facts.collect::<Vec<_>>().join(" ")
}

/// Writes rows under their heads, each column as wide as it has to be.
pub(super) fn write(out: &mut dyn Write, rows: &[Row], heads: bool) -> io::Result<()> {
    let heads = heads.then(|| HEADS.map(str::to_owned));
    let all = heads.iter().chain(rows.iter().map(|row| &row.cells));
    let rows: Vec<_> = all
        .map(|cells| cells.each_ref().map(|cell| clean(cell)))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row
            .iter()
            .enumerate()
            .filter(|(column, _)| widths[*column] > 0)
        {
            let width = widths[column];
            line += &if RIGHT[column] {
                format!("{cell:>width$}  ")
            } else {
                format!("{cell:<width$}  ")
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A log that was tampered with may hold anything; a terminal must not obey it.
fn clean(cell: &str) -> String {
    cell.chars()
        .take(MAX_CELL)
        .map(|c| if matches!(c, ' '..='~') { c } else { '?' })
        .collect()
}
