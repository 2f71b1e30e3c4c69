//! Tables with a header: comma, semicolon, tab or bar between the cells.

use memchr::{memchr, memchr2};

use super::cell;
use super::dictionary::Kind;
use super::name::Name;
use crate::detect::Finding;
use crate::detect::scan::Rules;

/// The longest header, in bytes.
const HEADER_MAX: usize = 4096;
/// The longest name of a column, in bytes.
const COLUMN_MAX: usize = 48;
/// The longest quoted cell, in bytes; a longer one is taken for a stray quote.
const CELL_MAX: usize = 4096;

/// Adds the cells of the columns whose header says what they hold.
///
/// A header is not local, so this reads the whole text, once.
pub(crate) fn find(text: &str, rules: &Rules, out: &mut Vec<Finding>) {
    let Some(table) = Table::read(text) else {
        return;
    };
    let mut at = table.body;
    let mut column = 0;
    while at < text.len() {
        let (end, next) = cell_end(text, at, table.delimiter);
        if let Some(Some((field, kind))) = table.columns.get(column) {
            let raw = &text[at..end];
            let open = raw.len() - raw.trim_start().len();
            let (offset, inner) = match raw[open..].strip_prefix('"') {
                Some(inner) => (at + open + 1, inner.trim_end().trim_end_matches('"')),
                None => (at, raw),
            };
            cell(inner, offset, *kind, field, rules, out);
        }
        column = if text.as_bytes().get(end) == Some(&b'\n') {
            0
        } else {
            column + 1
        };
        at = next;
    }
}

struct Table<'a> {
    delimiter: u8,
    columns: Vec<Option<(&'a str, Kind)>>,
    body: usize,
}

impl<'a> Table<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let start = text.len() - text.trim_start_matches(['\n', '\r', ' ', '\u{feff}']).len();
        if matches!(text.as_bytes().get(start)?, b'{' | b'[' | b'<' | b'#') {
            return None;
        }
        let window = &text.as_bytes()[start..text.len().min(start + HEADER_MAX)];
        let end = start + memchr(b'\n', window)?;
        let header = &text[start..end];
        let second = text[end + 1..].lines().next()?;
        let count = |line: &str, delimiter: char| line.matches(delimiter).count();
        let delimiter = [',', ';', '\t', '|']
            .into_iter()
            .max_by_key(|d| count(header, *d))?;
        let cells = count(header, delimiter);
        // Quoted cells may hold the delimiter too.
        if cells == 0 || count(second, delimiter) < cells {
            return None;
        }
        let mut known = false;
        let columns = header
            .split(delimiter)
            .map(|column| {
                let name = column.trim().trim_matches(['"', '\'']);
                // A bracket that goes on in the next column is one of code.
                let open = name.contains('(') != name.contains(')');
                if name.len() > COLUMN_MAX || open || name.contains(['@', ':', '=']) {
                    return Err(());
                }
                let kind = Name::read(name).and_then(|name| name.kind());
                known |= kind.is_some();
                Ok(kind.map(|kind| (name, kind)))
            })
            .collect::<Result<Vec<_>, ()>>()
            .ok()?;
        known.then_some(Self {
            delimiter: delimiter as u8,
            columns,
            body: end + 1,
        })
    }
}

/// Where the cell at `at` ends, and where the next one begins.
fn cell_end(text: &str, at: usize, delimiter: u8) -> (usize, usize) {
    let bytes = text.as_bytes();
    let mut from = at;
    if bytes[at] == b'"' {
        let limit = bytes.len().min(at + CELL_MAX);
        let mut i = at + 1;
        while let Some(quote) = memchr(b'"', &bytes[i..limit]) {
            i += quote + 1;
            if bytes.get(i) != Some(&b'"') {
                from = i;
                break;
            }
            i += 1;
        }
    }
    let end = memchr2(delimiter, b'\n', &bytes[from..]).map_or(bytes.len(), |n| from + n);
    (end, end + 1)
}

#[cfg(test)]
mod tests {
    use crate::detect::Category;
    use crate::detect::tests::found;

    #[test]
    fn columns_say_what_their_cells_are() {
        assert_eq!(
            found("id;prenom;ville\n1;HÉLÈNE;Lyon\n2;JEAN-MARC;Lille"),
            [
                (Category::PERSON, "HÉLÈNE"),
                (Category::PERSON, "JEAN-MARC")
            ]
        );
        assert_eq!(
            found("id,last_name,dob\r\n1,\"Keller, Ann\",1990-02-28\r\n2,\"Novak\",28.2.1990\r\n"),
            [
                (Category::PERSON, "Keller, Ann"),
                (Category::DATE_OF_BIRTH, "1990-02-28"),
                (Category::PERSON, "Novak"),
                (Category::DATE_OF_BIRTH, "28.2.1990"),
            ]
        );
        assert_eq!(
            found("ssn\tphone\n123456789\t467 3395\n"),
            [(Category::SSN, "123456789"), (Category::PHONE, "467 3395")]
        );
    }

    #[test]
    fn prose_is_no_table() {
        assert_eq!(found("Dear customer, name it\nAnna asked, and so on\n"), []);
        assert_eq!(found("phone,\n12345678"), []);
    }
}
