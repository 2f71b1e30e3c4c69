//! `INSERT INTO table (columns) VALUES (row), (row)`: the columns say what the values are.

use memchr::{memchr2, memmem, memrchr};

use super::cell;
use super::dictionary::Kind;
use super::name::Name;
use crate::detect::Finding;
use crate::detect::scan::Rules;

/// The longest list of columns, in bytes.
const COLUMNS_MAX: usize = 4096;
/// The longest text between the list of columns and the name of the table, in bytes.
const TABLE_MAX: usize = 256;

/// Adds the values of the columns whose names say what they hold.
///
/// A list of columns is not local, so this reads the whole text, once.
pub(crate) fn find(text: &str, rules: &Rules, out: &mut Vec<Finding>) {
    for keyword in ["VALUES", "values"] {
        let mut from = 0;
        for at in memmem::find_iter(text.as_bytes(), keyword) {
            // Rows that were read are not searched again.
            if at >= from
                && let Some(columns) = columns(&text[..at])
            {
                from = rows(text, at + keyword.len(), &columns, rules, out);
            }
        }
    }
}

/// The columns of the list that ends a statement's head, if any of them says what it holds.
fn columns(head: &str) -> Option<Vec<Option<(&str, Kind)>>> {
    let list = head.trim_ascii_end().strip_suffix(')')?;
    let mut low = list.len().saturating_sub(COLUMNS_MAX);
    let open = low + memrchr(b'(', &list.as_bytes()[low..])?;
    low = open.saturating_sub(TABLE_MAX);
    let before = &list.as_bytes()[low..open];
    if list[open..].contains(')') {
        return None;
    }
    let is_into = |word: &[u8]| word.eq_ignore_ascii_case(b"into");
    if !before.split(|b| !b.is_ascii_alphabetic()).any(is_into) {
        return None;
    }
    let columns: Vec<_> = list[open + 1..]
        .split(',')
        .map(|column| {
            let name = column.trim().trim_matches(['"', '`', '\'', '[', ']']);
            let kind = Name::read(name).and_then(|name| name.kind());
            kind.map(|kind| (name, kind))
        })
        .collect();
    columns.iter().any(Option::is_some).then_some(columns)
}

/// Reads the rows that begin at `at`, and tells where they end.
fn rows(
    text: &str,
    mut at: usize,
    columns: &[Option<(&str, Kind)>],
    rules: &Rules,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    let skip = |mut at: usize| {
        while bytes
            .get(at)
            .is_some_and(|b| b.is_ascii_whitespace() || *b == b',')
        {
            at += 1;
        }
        at
    };
    loop {
        at = skip(at);
        if bytes.get(at) != Some(&b'(') {
            return at;
        }
        for column in 0.. {
            let value = Value::read(text, at + 1);
            if let Some(Some((field, kind))) = columns.get(column) {
                cell(
                    &text[value.start..value.end],
                    value.start,
                    *kind,
                    field,
                    rules,
                    out,
                );
            }
            at = value.stop;
            if bytes.get(at) != Some(&b',') {
                break;
            }
        }
        if bytes.get(at) != Some(&b')') {
            return at;
        }
        at += 1;
    }
}

/// A value of a row, without its quotes, and where the comma or bracket behind it stands.
struct Value {
    start: usize,
    end: usize,
    stop: usize,
}

impl Value {
    fn read(text: &str, from: usize) -> Self {
        let bytes = text.as_bytes();
        let mut at = from;
        // A space, and the prefix of a literal: `N'…'`, `E'…'`.
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if let Some([b'N' | b'E' | b'n' | b'e', b'\'']) = bytes.get(at..at + 2) {
            at += 1;
        }
        if bytes.get(at) == Some(&b'\'') {
            let end = quote_end(bytes, at + 1);
            let stop = outside(bytes, (end + 1).min(bytes.len()));
            return Self {
                start: at + 1,
                end,
                stop,
            };
        }
        let stop = outside(bytes, at);
        Self {
            start: at,
            end: stop,
            stop,
        }
    }
}

/// Where the text ends whose opening quote stands before `at`; a quote in it is doubled or escaped.
fn quote_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr2(b'\'', b'\\', &bytes[at..]) {
        let place = at + found;
        let escaped = bytes[place] == b'\\' || bytes.get(place + 1) == Some(&b'\'');
        if !escaped {
            return place;
        }
        at = (place + 2).min(bytes.len());
    }
    bytes.len()
}

/// The comma or bracket that ends the value which goes on at `at`, or where the statement does.
fn outside(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b',' | b')' if depth == 0 => return at,
            b';' => return at,
            b'\'' => at = quote_end(bytes, at + 1),
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use crate::detect::Category;
    use crate::detect::tests::found;

    #[test]
    fn columns_say_what_the_values_are() {
        assert_eq!(
            found(
                "INSERT INTO `users` (id, `first_name`, ssn, note) VALUES\n\
                 (1, 'marie', '123456789', 'a (b), c'),\n (2, N'O''Brien', 987654320, NULL);"
            ),
            [
                (Category::PERSON, "marie"),
                (Category::SSN, "123456789"),
                (Category::PERSON, "O''Brien"),
                (Category::SSN, "987654320"),
            ]
        );
        assert_eq!(
            found(
                "insert into people(created, last_name) values (now(), 'KELLER'), (f(1, ')'), 'Novak')"
            ),
            [(Category::PERSON, "KELLER"), (Category::PERSON, "Novak")]
        );
    }

    #[test]
    fn what_is_no_statement_is_left_alone() {
        for text in [
            "the (first_name) VALUES ('marie')",
            "INSERT INTO t VALUES ('marie')",
            "into x (first_name) VALUES",
            "into x (first_name) VALUES (",
            "into x (first_name) VALUES ('",
            "into x (first_name) VALUES ('\\",
            "into x (first_name) values (1",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
