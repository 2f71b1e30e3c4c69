//! Tables for people.

use std::fmt;

/// A table: the first columns name things and stand left, the others are numbers.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) title: String,
    pub(super) columns: Vec<&'static str>,
    /// How many columns name things.
    pub(super) names: usize,
    pub(super) rows: Vec<Vec<String>>,
    /// What the reader should know.
    pub(super) note: Option<String>,
}

impl Table {
    pub(super) fn new(title: impl Into<String>, names: usize, columns: &[&'static str]) -> Self {
        Self {
            title: title.into(),
            columns: columns.to_vec(),
            names,
            rows: Vec::new(),
            note: None,
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether a row begins another group: a name before the last one differs from that above.
    pub(super) fn begins_group(&self, row: usize) -> bool {
        let group = self.names.saturating_sub(1);
        row > 0 && self.rows[row - 1][..group] != self.rows[row][..group]
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths: Vec<_> = self
            .columns
            .iter()
            .map(|name| name.chars().count())
            .collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let line = |f: &mut fmt::Formatter<'_>, cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for (column, cell) in cells.enumerate() {
                let width = widths[column];
                if column < self.names {
                    text.push_str(&format!("{cell:<width$}  "));
                } else {
                    text.push_str(&format!("{cell:>width$}  "));
                }
            }
            writeln!(f, "{}", text.trim_end())
        };
        writeln!(f, "{}\n", self.title)?;
        line(f, &mut self.columns.iter().copied())?;
        for (index, row) in self.rows.iter().enumerate() {
            if self.begins_group(index) {
                writeln!(f)?;
            }
            line(f, &mut row.iter().map(String::as_str))?;
        }
        match &self.note {
            Some(note) => writeln!(f, "\n{note}"),
            None => Ok(()),
        }
    }
}

/// Microseconds as a person reads them: `12.3 µs`, `4.56 ms`, `1.20 s`.
pub(super) fn time(micros: f64) -> String {
    let (number, unit) = match micros.abs() {
        0.0..1e3 => (micros, "µs"),
        1e3..1e6 => (micros / 1e3, "ms"),
        _ => (micros / 1e6, "s"),
    };
    format!("{} {unit}", digits(number))
}

/// Megabytes (10⁶ bytes).
pub(super) fn megabytes(bytes: f64) -> String {
    digits(bytes / 1e6)
}

/// A number in about three digits.
pub(super) fn digits(number: f64) -> String {
    match number.abs() {
        0.0..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// What is not known.
pub(super) fn or_dash<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let mut table = Table::new("Times", 2, &["text", "mode", "p50"]);
        table.row(["prose".to_owned(), "a".to_owned(), time(12.34)]);
        table.row(["prose".to_owned(), "b".to_owned(), time(1_234.0)]);
        table.row(["csv".to_owned(), "a".to_owned(), time(1_234_567.0)]);
        let shown = "Times\n\n\
            text   mode      p50\n\
            prose  a     12.3 µs\n\
            prose  b     1.23 ms\n\n\
            csv    a      1.23 s\n";
        assert_eq!(table.to_string(), shown);
    }
}
