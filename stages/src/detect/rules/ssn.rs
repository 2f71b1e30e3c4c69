//! Social security numbers of the United States: area, group, serial.

use super::Hit;
use crate::detect::bytes::{DIGIT, at, before, is, word_at, word_before};
use crate::detect::context::{WordList, word_within};

static WORDS: WordList = WordList::new(&[
    "ssn",
    "ssns",
    "social",
    "socialsecurity",
    "ssnumber",
    "ssno",
]);

/// The number that begins with the run of `length` digits at `start`.
///
/// Three groups with `-` (or `.`, or a space with a word for it near by); nine digits in a row
/// only behind such a word, since most such numbers are something else.
pub(crate) fn verdict(text: &[u8], start: usize, length: usize) -> Option<Hit> {
    if word_before(text, start) || joined(text, start) {
        return None;
    }
    let announced = || word_within(text, start, 4, &WORDS);
    let (digits, end, confidence) = match length {
        3 => {
            let separator = at(text, start + 3);
            if !matches!(separator, b'-' | b' ' | b'.') {
                return None;
            }
            let group = text.get(start..start + 11)?;
            if group[6] != separator
                || ![4, 5, 7, 8, 9, 10]
                    .iter()
                    .all(|i| group[*i].is_ascii_digit())
            {
                return None;
            }
            let digits = [0, 1, 2, 4, 5, 7, 8, 9, 10].map(|i| group[i]);
            let sure = separator == b'-';
            if !sure && !announced() {
                return None;
            }
            (digits, start + 11, if sure { 90 } else { 85 })
        }
        9 if announced() => (*text[start..].first_chunk()?, start + 9, 80),
        _ => return None,
    };
    let goes_on =
        word_at(text, end) || matches!(at(text, end), b'-' | b'.') && is(at(text, end + 1), DIGIT);
    (!goes_on && is_issued(&digits)).then_some(Hit {
        start,
        end,
        confidence,
        rule: "ssn",
    })
}

/// Whether the number is the tail of a longer one (`1-123-45-6789`, `0.123-…`).
fn joined(text: &[u8], start: usize) -> bool {
    match before(text, start) {
        b'-' | b'.' | b'/' | b'+' => start >= 2 && text[start - 2].is_ascii_alphanumeric(),
        _ => false,
    }
}

/// No area 000, 666 or 900–999, no group 00, no serial 0000, not one digit all over.
fn is_issued(digits: &[u8; 9]) -> bool {
    let area = &digits[..3];
    area != b"000"
        && area != b"666"
        && area[0] != b'9'
        && digits[3..5] != *b"00"
        && digits[5..] != *b"0000"
        && digits.iter().any(|d| *d != digits[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(text: &str) -> Option<&str> {
        let bytes = text.as_bytes();
        let starts = (0..bytes.len())
            .filter(|&i| bytes[i].is_ascii_digit() && !before(bytes, i).is_ascii_digit());
        starts
            .filter_map(|i| verdict(bytes, i, crate::detect::bytes::run(bytes, i, DIGIT, 99) - i))
            .map(|hit| &text[hit.start..hit.end])
            .next()
    }

    #[test]
    fn numbers() {
        assert_eq!(finds("on file: 521-44-9382."), Some("521-44-9382"));
        assert_eq!(finds("SSN: 123456789 on file"), Some("123456789"));
        assert_eq!(finds("my social is 521 44 9382"), Some("521 44 9382"));
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "000-12-3456",
            "666-12-3456",
            "912-12-3456",
            "123-00-4567",
            "123-45-0000",
            "524118903",
            "1-123-45-6789",
            "123-45-6789-0",
            "0.123-45-6789",
            "x123-45-6789",
            "123-45-67890",
            "521 44 9382",
            "123-45 6789",
            "ORD-123-45-6789",
        ] {
            assert_eq!(finds(text), None, "{text}");
        }
    }
}
