//! Telephone numbers, international (E.164) and as they are written within a region.

use super::Hit;
use crate::detect::bytes::{DIGIT, at, before, is, run, word_at, word_before};
use crate::detect::context::word_within;

/// Words that announce a telephone number.
pub(crate) const WORDS: &[&str] = &[
    "phone",
    "telephone",
    "tel",
    "mobile",
    "cell",
    "cellphone",
    "fax",
    "call",
    "called",
    "calling",
    "contact",
    "dial",
    "whatsapp",
    "sms",
    "text",
    "reach",
    "ring",
    "telefon",
    "telefono",
    "teléfono",
    "telefone",
    "handy",
    "mobil",
    "móvil",
    "celular",
    "portable",
    "téléphone",
    "telefoon",
    "mobiel",
    "номер",
    "телефон",
    "טלפון",
    "電話",
    "电话",
    "전화",
];
/// Most groups that a number is written in.
const GROUPS: usize = 8;
/// E.164, 6.2.1: at most fifteen digits.
const MAX: usize = 15;

/// A number in its groups of digits.
struct Written {
    /// End of each group, and how many digits stand before it.
    groups: [(usize, usize); GROUPS],
    count: usize,
    digits: [u8; MAX],
}

impl Written {
    /// Reads groups parted by one separator each, or by a bracket and a space.
    fn read(text: &[u8], start: usize) -> Self {
        let mut written = Self {
            groups: [(0, 0); GROUPS],
            count: 0,
            digits: [0; MAX],
        };
        let mut total = 0;
        let mut i = start;
        while written.count < GROUPS {
            let end = run(text, i, DIGIT, MAX + 1);
            if end == i || total + end - i > MAX {
                break;
            }
            written.digits[total..total + end - i].copy_from_slice(&text[i..end]);
            total += end - i;
            written.groups[written.count] = (end, total);
            written.count += 1;
            i = skip_separator(text, end);
            if i == end {
                break;
            }
        }
        written
    }
}

/// The place behind what parts two groups: ` `, `-`, `.`, `/`, `) `, ` (`, `)-`.
fn skip_separator(text: &[u8], i: usize) -> usize {
    let mut j = i;
    for allowed in [&b")"[..], b" -./", b"("] {
        if allowed.contains(&at(text, j)) {
            j += 1;
        }
    }
    if j > i && is(at(text, j), DIGIT) {
        j
    } else {
        i
    }
}

/// `+` and a country code at `start`.
pub(crate) fn international(text: &[u8], start: usize) -> Option<Hit> {
    let previous = before(text, start);
    if is(previous, DIGIT) || previous == b'+' || word_before(text, start) {
        return None;
    }
    let first = if at(text, start + 1) == b'(' {
        start + 2
    } else {
        start + 1
    };
    let written = Written::read(text, first);
    let (end, count) = (0..written.count)
        .rev()
        .map(|n| written.groups[n])
        .find(|&(end, count)| (8..=MAX).contains(&count) && ends(text, end))?;
    (written.digits[0] != b'0' && is_varied(&written.digits[..count])).then(|| Hit {
        start,
        end: extension(text, end),
        confidence: 90,
        rule: "phone, international",
    })
}

/// A number of the North American plan, or any of seven digits and more behind a word for it.
/// `start` is at the `(` or the first digit.
pub(crate) fn national(text: &[u8], start: usize) -> Option<Hit> {
    let previous = before(text, start);
    if word_before(text, start)
        || matches!(previous, b'+' | b'.' | b'-' | b'/' | b'$' | b'#' | b'(')
        || previous == b' ' && start >= 2 && is(text[start - 2], DIGIT) && text[start] != b'('
    {
        return None;
    }
    let bracket = text[start] == b'(';
    let first = start + usize::from(bracket);
    let written = Written::read(text, first);
    let groups = &written.groups[..written.count];
    let last = groups.iter().rev().find(|(end, _)| ends(text, *end))?;
    let digits = &written.digits[..last.1];
    let announced = || word_within(text, start, 4, WORDS);
    let hit = |end, confidence| Hit {
        start,
        end: extension(text, end),
        confidence,
        rule: "phone, national",
    };
    if groups.len() >= 2 && north_american(text, first, groups, bracket) && is_nanp(digits) {
        // Three numbers in a row are more often just that.
        let spaced = !bracket && at(text, groups[0].0) == b' ';
        if !spaced || announced() {
            return Some(hit(last.0, 85));
        }
    }
    ((7..=MAX).contains(&digits.len()) && is_varied(digits) && announced()).then(|| hit(last.0, 75))
}

/// `ddd-ddd-dddd`, `(ddd) ddd-dddd`, `1-ddd-ddd-dddd`.
fn north_american(text: &[u8], first: usize, groups: &[(usize, usize)], bracket: bool) -> bool {
    let separator = |n: usize| at(text, groups[n].0);
    match groups {
        [(end, 3), (_, 6), (_, 10)] => {
            end - first == 3 && (bracket && separator(0) == b')' || separator(0) == separator(1))
        }
        [(_, 1), (_, 4), (_, 7), (_, 11)] => true,
        _ => false,
    }
}

/// ITU-T E.164 country code 1: area and exchange begin with 2–9 and do not end in 11.
fn is_nanp(digits: &[u8]) -> bool {
    let digits = if digits.len() == 11 && digits[0] == b'1' {
        &digits[1..]
    } else {
        digits
    };
    digits.len() == 10
        && [0, 3]
            .iter()
            .all(|&i| digits[i] >= b'2' && digits[i + 1..i + 3] != *b"11")
}

/// Not one digit all over.
fn is_varied(digits: &[u8]) -> bool {
    digits.iter().any(|d| *d != digits[digits.len() - 1])
}

/// Whether a number can end here: no letter, digit or decimal goes on.
fn ends(text: &[u8], end: usize) -> bool {
    let goes_on = matches!(at(text, end), b'.' | b'-' | b'/' | b':');
    !word_at(text, end) && (!goes_on || !is(at(text, end + 1), DIGIT))
}

/// `x341`, `ext. 12`.
fn extension(text: &[u8], end: usize) -> usize {
    let mut i = end;
    if matches!(at(text, i), b' ' | b',') {
        i += 1;
    }
    if at(text, i) == b' ' {
        i += 1;
    }
    let tail = &text[i.min(text.len())..];
    let Some(word) = [&b"extension"[..], b"ext.", b"ext", b"x"]
        .into_iter()
        .find(|word| tail.len() > word.len() && tail[..word.len()].eq_ignore_ascii_case(word))
    else {
        return end;
    };
    i += word.len();
    if at(text, i) == b' ' {
        i += 1;
    }
    let stop = run(text, i, DIGIT, 6);
    if stop > i && !word_at(text, stop) {
        stop
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(text: &str) -> Option<&str> {
        let bytes = text.as_bytes();
        let hit = (0..bytes.len()).find_map(|i| match bytes[i] {
            b'+' => international(bytes, i),
            b'(' => national(bytes, i),
            b'0'..=b'9' if !before(bytes, i).is_ascii_digit() => national(bytes, i),
            _ => None,
        })?;
        Some(&text[hit.start..hit.end])
    }

    #[test]
    fn numbers() {
        for phone in [
            "+46 8 123 456 78",
            "+44 (0)7700 900461",
            "+1.441.370.1880",
            "+35722343909",
            "(519) 555-0172 x341",
            "212-555-1234",
            "212.555.1234",
            "1-212-555-1234",
            "(212)555-1234",
            "+1 (212) 555-1234",
        ] {
            for (left, right) in [("", ""), ("call ", " now"), ("=", ";"), ("\"", "\"")] {
                let text = format!("{left}{phone}{right}");
                assert_eq!(finds(&text), Some(phone), "{text}");
            }
        }
        assert_eq!(
            finds("mobile: 07700 900 461 after 6pm"),
            Some("07700 900 461")
        );
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "10.203.254.33",
            "2025-01-21",
            "3.14159265358",
            "978-4-79-192924-2",
            "1667470478",
            "9046-129790",
            "250 300 1000 ms",
            "6033391\n6058722",
            "112-555-1234",
            "x212-555-1234",
        ] {
            assert_eq!(finds(text), None, "{text}");
        }
    }
}
