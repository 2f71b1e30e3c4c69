//! The name of a field as evidence: keys of JSON, YAML and `.env`, labels and `key=value` in text,
//! columns of tables and of SQL.

mod dictionary;
mod name;
mod sql;
mod table;
mod values;

use self::dictionary::{Kind, may_end};
use self::name::Name;
use super::bytes::{ALNUM, at, is, run};
use super::rules::Hit;
use super::scan::Rules;
use super::{Category, Finding, national, secret};

pub(super) use self::sql::find as find_in_sql;
pub(super) use self::table::find as find_in_table;

/// The longest name that is read before a `:` or `=`, in bytes.
const NAME_REACH: usize = 48;
/// The longest value, in bytes.
const VALUE_REACH: usize = 160;
/// The rule that stands beside such findings.
const RULE: &str = "field name";

/// The value behind the `:` or `=` at `place`, if the name before it says what it is.
pub(super) fn assignment(text: &[u8], place: usize) -> Option<(Category, Hit)> {
    let (end, quoted) = name_end(text, place)?;
    if !may_end(&text[..end]) || is_nested(text, place) {
        return None;
    }
    let kind = Name::read(name_before(text, end, !quoted && text[place] == b':')?)?.kind()?;
    let value = Value::read(text, place, kind)?;
    let (category, confidence, length) = values::judge(kind, value.text, !value.quoted)?;
    let (start, end) = (value.start, value.start + length);
    Some((
        category,
        Hit {
            start,
            end,
            confidence,
            rule: RULE,
        },
    ))
}

/// Where the name before the operator ends, and whether it is quoted.
fn name_end(text: &[u8], place: usize) -> Option<(usize, bool)> {
    if text[place] == b':' && matches!(at(text, place + 1), b':' | b'/') {
        return None;
    }
    let mut end = place;
    while end > 0 && place - end < 3 && text[end - 1] == b' ' {
        end -= 1;
    }
    let word = end;
    while end > 0 && word - end < 4 && matches!(text[end - 1], b'"' | b'\'' | b'\\' | b'`' | b'*') {
        end -= 1;
    }
    (end >= 2 && (is(text[end - 1], ALNUM) || text[end - 1] >= 0x80)).then_some((end, end < word))
}

/// Whether an object or a list stands behind the operator.
fn is_nested(text: &[u8], place: usize) -> bool {
    let next = text[place + 1..].iter().take(8).find(|c| **c != b' ');
    matches!(next, Some(b'{' | b'['))
}

/// The name that ends at `end`; with spaces in it where it may be a label.
fn name_before(text: &[u8], end: usize, label: bool) -> Option<&str> {
    let mut start = end;
    while start > 0 && end - start < NAME_REACH {
        let c = text[start - 1];
        let inner = is(c, ALNUM) || c >= 0x80 || matches!(c, b'_' | b'-' | b'.');
        let spaced = label && matches!(c, b' ' | b'/' | b'\'');
        if !inner && !spaced {
            break;
        }
        start -= 1;
    }
    while text[start] & 0xC0 == 0x80 {
        start += 1;
    }
    std::str::from_utf8(&text[start..end]).ok()
}

struct Value<'a> {
    start: usize,
    text: &'a str,
    quoted: bool,
}

impl<'a> Value<'a> {
    fn read(text: &'a [u8], place: usize, kind: Kind) -> Option<Self> {
        let mut start = place + 1;
        start += usize::from(matches!(at(text, start), b'=' | b'>'));
        while matches!(at(text, start), b' ' | b'\t' | b'*') && start - place < 24 {
            start += 1;
        }
        let slashes = start;
        while at(text, start) == b'\\' && start - slashes < 3 {
            start += 1;
        }
        let limit = text.len().min(start + VALUE_REACH);
        let quote = at(text, start);
        let quoted = matches!(quote, b'"' | b'\'' | b'`');
        if !quoted && start > slashes {
            return None;
        }
        let end = if quoted {
            let escape = start > slashes;
            start += 1;
            let close = (start..limit)
                .find(|&i| text[i] == quote && (i == start || text[i - 1] != b'\\' || escape))?;
            run_of_slashes(text, start, close)
        } else {
            // Logs part their fields by spaces; a label has the rest of its line.
            let spaced = text[place] == b':'
                || matches!(
                    kind,
                    Kind::Person | Kind::Role | Kind::Birth | Kind::Address | Kind::Phone
                );
            let first = at(text, start);
            let person = matches!(kind, Kind::Person | Kind::Role);
            if person && first.is_ascii() && !first.is_ascii_uppercase() {
                return None;
            }
            let ends = |c: u8| match c {
                b' ' => !spaced,
                b',' => !matches!(kind, Kind::Address),
                _ => ENDS_VALUE[usize::from(c)],
            };
            (start..limit).find(|&i| ends(text[i])).unwrap_or(limit)
        };
        let bytes = text.get(start..end)?;
        let value = bytes.utf8_chunks().next()?.valid().trim_end();
        let value = if quoted {
            value
        } else {
            value.trim_end_matches(['.', '*', ','])
        };
        (!value.is_empty()).then_some(Self {
            start,
            text: value,
            quoted,
        })
    }
}

/// What no value without quotes goes on with.
static ENDS_VALUE: [bool; 256] = {
    let mut table = [false; 256];
    let ends = b"\n\r\t;&|<>\"`{}[]\\";
    let mut i = 0;
    while i < ends.len() {
        table[ends[i] as usize] = true;
        i += 1;
    }
    table
};

/// The end of a value whose closing quote is escaped.
fn run_of_slashes(text: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && text[end - 1] == b'\\' {
        end -= 1;
    }
    end
}

/// Adds the whole of a text that stands under `field`.
pub(super) fn whole(text: &str, field: &str, rules: &Rules, out: &mut Vec<Finding>) {
    if rules.secret {
        secret_field(text, field, rules, out);
    }
    let Some(kind) = Name::read(field).and_then(|name| name.kind()) else {
        return;
    };
    cell(text, 0, kind, field, rules, out);
}

/// Adds the value that `cell`, which stands at `offset` of the text, holds.
fn cell(cell: &str, offset: usize, kind: Kind, field: &str, rules: &Rules, out: &mut Vec<Finding>) {
    let value = cell.trim();
    let start = offset + (cell.len() - cell.trim_start().len());
    if kind == Kind::National {
        let Some(hit) = (!value.is_empty())
            .then(|| national::in_field(value.as_bytes(), 0, &rules.packs, Some(field)))
            .flatten()
        else {
            return;
        };
        let Some(category) = rules.category(hit.name) else {
            return;
        };
        let (end, confidence, rule) = (start + hit.end, hit.confidence, hit.rule);
        out.push(Finding {
            start,
            end,
            category,
            confidence,
            rule,
        });
    } else if let Some((category, confidence, length)) = values::judge(kind, value, false)
        && rules.reports(category)
    {
        out.push(Finding {
            start,
            end: start + length,
            category,
            confidence,
            rule: RULE,
        });
    }
}

/// A password or key whose field says so, by the rule for assignments.
fn secret_field(text: &str, field: &str, rules: &Rules, out: &mut Vec<Finding>) {
    if text.len() > VALUE_REACH * 4 || text.contains('"') || field.len() > NAME_REACH {
        return;
    }
    let head = format!("{field}=\"");
    let written = format!("{head}{text}\"");
    if let Some(hit) = secret::assignment(written.as_bytes(), field.len())
        && hit.start >= head.len()
        && hit.end < written.len()
        && let Some(category) = rules.category(hit.name)
    {
        let (start, end) = (hit.start - head.len(), hit.end - head.len());
        out.push(Finding {
            start,
            end,
            category,
            confidence: hit.confidence,
            rule: hit.rule,
        });
    }
}

/// What a number is by the name of its field alone.
pub(super) fn number(number: &str, field: &str) -> Option<(Category, u8, &'static str)> {
    let kind = Name::read(field)?.kind()?;
    let (category, confidence, _) = values::judge(kind, number, false)?;
    let digits = run(number.as_bytes(), 0, super::bytes::DIGIT, number.len());
    (digits == number.len()).then_some((category, confidence, RULE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Category, &str)> {
        (0..text.len())
            .filter(|&i| matches!(text.as_bytes()[i], b':' | b'='))
            .filter_map(|i| assignment(text.as_bytes(), i))
            .map(|(category, hit)| (category, &text[hit.start..hit.end]))
            .collect()
    }

    #[test]
    fn keys_of_every_notation() {
        for text in [
            r#"{"first_name": "Marie"}"#,
            r#"{\"firstName\":\"Marie\"}"#,
            "first_name: Marie\n",
            "FIRST_NAME=Marie\n",
            "First Name: Marie, x",
            "vorname = 'Marie'",
            "first_name=Marie status=ok",
            "**First name:** Marie",
        ] {
            assert_eq!(found(text), [(Category::PERSON, "Marie")], "{text}");
        }
        assert_eq!(
            found("Reviewer: MARTA KOWALCZYK"),
            [(Category::PERSON, "MARTA KOWALCZYK")]
        );
        assert_eq!(found("ssn=123456789&x"), [(Category::SSN, "123456789")]);
        assert_eq!(
            found("dob: 1990-02-28"),
            [(Category::DATE_OF_BIRTH, "1990-02-28")]
        );
        assert_eq!(
            found("Address: 12 Harbour Road, Cork\nx"),
            [(Category::ADDRESS, "12 Harbour Road, Cork")]
        );
    }

    #[test]
    fn code_and_schemas_are_left_alone() {
        for text in [
            "firstName: string;",
            "first_name: self.first_name,",
            "first_name = models.CharField(max_length=30)",
            "name: build",
            "\"name\": \"express\"",
            "author::Marie Keller",
            "address: 0x7fff0000",
            "phone: call me",
            "zip: file.zip",
            "from: Build Service",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
