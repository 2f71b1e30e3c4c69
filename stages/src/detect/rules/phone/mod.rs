//! Telephone numbers, international (E.164) and as they are written within a region.

mod plan;
mod written;

use std::cell::OnceCell;

use self::written::Written;
use super::Hit;
use crate::detect::bytes::{DIGIT, at, before, is, run, word_at, word_before};
use crate::detect::context::{WordList, word_after, words_before};

pub(crate) use self::plan::{Region, region, regions_of};

/// E.164, 6.2.1.
const MAX: usize = 15;
/// The shortest numbers of which the groups alone are evidence.
const MIN: usize = 7;

/// Words that announce a telephone number.
pub(crate) static WORDS: WordList = WordList::new(&[
    "phone",
    "phones",
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
    "ph",
    "mob",
    "landline",
    "hotline",
    "voicemail",
    "messages",
    "telefon",
    "telefono",
    "telepono",
    "teléfono",
    "telefone",
    "telefonnummer",
    "rufnummer",
    "handy",
    "handynummer",
    "mobil",
    "móvil",
    "movil",
    "celular",
    "portable",
    "gsm",
    "téléphone",
    "telephone",
    "telefoon",
    "mobiel",
    "cellulare",
    "telefonu",
    "номер",
    "телефон",
    "тел",
    "моб",
    "טלפון",
    "נייד",
    "電話",
    "電話番号",
    "携帯",
    "电话",
    "手机",
    "전화",
    "휴대폰",
    "फ़ोन",
    "मोबाइल",
]);
/// Words that say behind a number what it is.
static WORDS_AFTER: WordList = WordList::new(&[
    "office", "mobile", "fax", "home", "work", "cell", "phone", "tel", "portable", "handy", "mob",
]);

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
    let groups = written.groups();
    plan::country_code(written.digits(groups.len()))?;
    let hit = |end: usize, confidence| Hit {
        start,
        end: extension(text, end),
        confidence,
        rule: "phone, international",
    };
    let ends = |count: &usize| ends(text, groups[count - 1].end);
    let valid = (1..=groups.len()).rev().filter(ends).find(|&count| {
        let mut digits = [0; MAX + 3];
        is_international(written.digits(count), &mut digits)
    });
    if let Some(count) = valid {
        return Some(hit(groups[count - 1].end, 95));
    }
    // Numbers change faster than plans; a known country and a likely length are enough.
    let likely = (1..=groups.len()).rev().filter(ends).find(|&count| {
        let digits = written.digits(count);
        (9..=MAX).contains(&digits.len()) && is_varied(digits)
    });
    likely.map(|count| hit(groups[count - 1].end, 70))
}

/// Whether this is a number with its country code, also with the trunk prefix that some put
/// between the two (`+44 (0)20…`).
fn is_international(digits: &[u8], buffer: &mut [u8]) -> bool {
    if digits.len() > MAX + 1 {
        return false;
    }
    let Some(code) = plan::country_code(digits) else {
        return false;
    };
    if plan::is_international(digits) {
        return true;
    }
    if digits.get(code) != Some(&b'0') {
        return false;
    }
    let without = &mut buffer[..digits.len() - 1];
    without[..code].copy_from_slice(&digits[..code]);
    without[code..].copy_from_slice(&digits[code + 1..]);
    plan::is_international(without)
}

/// A number without its country code; `start` is at the `(` or the first digit.
pub(crate) fn national(text: &[u8], start: usize, regions: &[Region]) -> Option<Hit> {
    let previous = before(text, start);
    let second = start.checked_sub(2).map_or(0, |i| text[i]);
    if word_before(text, start)
        || matches!(previous, b'+' | b'$' | b'#' | b'(' | b'@')
        || matches!(previous, b'.' | b'-' | b'/')
            && (second.is_ascii_alphanumeric() || second == b':')
        || previous == b' ' && is(second, DIGIT) && text[start] != b'('
    {
        return None;
    }
    let bracket = text[start] == b'(';
    let written = Written::read(text, start + usize::from(bracket));
    let groups = written.groups();
    if groups.last()?.total < MIN {
        return None;
    }
    let candidate = Candidate {
        text,
        start,
        bracket,
        written: &written,
        regions,
        announced: OnceCell::new(),
    };
    (1..=groups.len())
        .rev()
        .filter(|count| ends(text, groups[count - 1].end))
        .find_map(|count| {
            let confidence = candidate.confidence(count)?;
            let end = extension(text, groups[count - 1].end);
            Some(Hit {
                start,
                end,
                confidence,
                rule: "phone, national",
            })
        })
}

/// A number that may be one of a region.
struct Candidate<'a> {
    text: &'a [u8],
    start: usize,
    bracket: bool,
    written: &'a Written,
    regions: &'a [Region],
    /// Whether a word before the number says what it is.
    announced: OnceCell<bool>,
}

impl Candidate<'_> {
    /// How sure it is that the first `count` groups are a number.
    fn confidence(&self, count: usize) -> Option<u8> {
        let digits = self.written.digits(count);
        let sizes = &self.written.sizes(count)[..count];
        if digits.len() < MIN || !is_varied(digits) || self.is_something_else(digits, sizes) {
            return None;
        }
        if let Some(abroad) = digits
            .strip_prefix(b"00")
            .or_else(|| digits.strip_prefix(b"011"))
            && count > 1
            && is_international(abroad, &mut [0; MAX + 3])
        {
            return Some(85);
        }
        if digits.len() > MAX {
            return None;
        }
        let marked = self.bracket || self.written.is_marked(count);
        let trunk = digits[0] == b'0';
        let grouped = count > 1
            && self
                .regions
                .iter()
                .any(|region| is_written(region, digits, sizes));
        if grouped && (marked || trunk) {
            return Some(85);
        }
        if marked && is_nanp(digits) && matches!(sizes, [3, 3, 4] | [1, 3, 3, 4]) {
            return Some(80);
        }
        let end = self.written.groups()[count - 1].end;
        if grouped && is_alone(self.text, self.start, end) || self.is_announced(end) {
            return Some(75);
        }
        let elsewhere = || {
            plan::regions()
                .iter()
                .any(|region| is_written(region, digits, sizes))
        };
        if count > 1 && trunk && digits.len() >= 9 && elsewhere() {
            return Some(60);
        }
        // A mobile number in one piece, where the user said that there are such.
        let plain = |region: &Region| {
            !region.trunk().is_empty()
                && digits
                    .strip_prefix(region.trunk())
                    .is_some_and(|rest| region.accepts(rest))
        };
        (count == 1 && trunk && digits.len() >= 10 && self.regions.iter().any(plain)).then_some(55)
    }

    /// Dates, addresses of machines, ISBNs (ISO 2108), decimals.
    fn is_something_else(&self, digits: &[u8], sizes: &[u8]) -> bool {
        let separators = self.written.groups();
        let dotted = sizes.len() > 1
            && separators[..sizes.len() - 1]
                .iter()
                .all(|group| group.separator == b'.');
        let century = |year: &[u8]| matches!(year, [b'1', b'9', ..] | [b'2', b'0', ..]);
        match sizes {
            [4, 2, 2, ..] => century(digits) && matches!(digits[4], b'0' | b'1'),
            [1 | 2, 1 | 2, 4, ..] => century(&digits[digits.len().min(8) - 4..]),
            [3, 1, .., 1] => digits.len() == 13 && matches!(&digits[..3], b"978" | b"979"),
            [_, _] if dotted => true,
            [_, _, _, _] if dotted => sizes.iter().all(|size| *size <= 3),
            _ => false,
        }
    }

    /// Whether a word before the number or behind it says what it is.
    fn is_announced(&self, end: usize) -> bool {
        *self.announced.get_or_init(|| self.is_announced_before())
            || word_after(self.text, end).is_some_and(|word| WORDS_AFTER.has(word))
    }

    fn is_announced_before(&self) -> bool {
        let mut number = false;
        for word in words_before(self.text, self.start).take(5) {
            if WORDS.has(word) || number && word.eq_ignore_ascii_case(b"my") {
                return true;
            }
            number |=
                word.eq_ignore_ascii_case(b"number") || word.eq_ignore_ascii_case(b"registered");
        }
        false
    }
}

/// Whether the digits are a number of the region, in the groups it is written in there, with the
/// trunk prefix (as a part of the first group, or as a group of its own) or without.
fn is_written(region: &Region, digits: &[u8], sizes: &[u8]) -> bool {
    if region.accepts(digits) && region.groups(sizes) {
        return true;
    }
    let trunk = region.trunk();
    let Some(rest) = digits.strip_prefix(trunk).filter(|_| !trunk.is_empty()) else {
        return false;
    };
    if !region.accepts(rest) {
        return false;
    }
    let length = trunk.len() as u8;
    if sizes[0] == length {
        return region.groups(&sizes[1..]);
    }
    let mut rest = [0; written::GROUPS];
    rest[..sizes.len()].copy_from_slice(sizes);
    rest[0] = sizes[0].saturating_sub(length);
    region.groups(&rest[..sizes.len()])
}

/// Whether the number is all there is: a cell, a line, a quoted value.
fn is_alone(text: &[u8], start: usize, end: usize) -> bool {
    let edge = |c: u8| {
        matches!(
            c,
            0 | b'\n' | b'\r' | b'"' | b'\'' | b'\t' | b';' | b'<' | b'>'
        )
    };
    edge(before(text, start)) && edge(at(text, end))
}

/// The shape of North American numbers: area and exchange begin with 2–9 and do not end in 11.
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
    digits
        .iter()
        .any(|digit| *digit != digits[digits.len() - 1])
}

/// Whether a number can end here: no letter, digit or decimal goes on.
fn ends(text: &[u8], end: usize) -> bool {
    let next = at(text, end);
    let after = is(at(text, end + 1), DIGIT);
    let goes_on = matches!(next, b'.' | b'-' | b'/' | b':') && after;
    !goes_on && (!word_at(text, end) || matches!(next, b'x' | b'X') && after)
}

/// `x341`, `ext. 12`.
fn extension(text: &[u8], end: usize) -> usize {
    let mut i = end;
    for allowed in [&b" ,"[..], b" "] {
        i += usize::from(allowed.contains(&at(text, i)));
    }
    let tail = &text[i.min(text.len())..];
    let Some(word) = [&b"extension"[..], b"ext.", b"ext", b"x"]
        .into_iter()
        .find(|word| tail.len() > word.len() && tail[..word.len()].eq_ignore_ascii_case(word))
    else {
        return end;
    };
    i += word.len();
    i += usize::from(at(text, i) == b' ');
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

    fn finds<'t>(text: &'t str, regions: &[&str]) -> Option<&'t str> {
        let bytes = text.as_bytes();
        let regions: Vec<_> = regions.iter().map(|id| region(id).unwrap()).collect();
        let hit = (0..bytes.len()).find_map(|i| match bytes[i] {
            b'+' => international(bytes, i),
            b'(' => national(bytes, i, &regions),
            b'0'..=b'9' if !before(bytes, i).is_ascii_digit() => national(bytes, i, &regions),
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
            "345-899-3560x4587",
            "212-555-1234",
            "212.555.1234",
            "1-212-555-1234",
            "001-518-640-0854",
            "(212)555-1234",
            "+1 (212) 555-1234",
            "07700 900 461",
            "06 12 34 56 78",
        ] {
            for (left, right) in [("", ""), ("call ", " now"), ("=", ";"), ("\"", "\"")] {
                let text = format!("{left}{phone}{right}");
                assert_eq!(finds(&text, &["US"]), Some(phone), "{text}");
            }
        }
        assert_eq!(
            finds("mobile: 699 956 915 after", &["US"]),
            Some("699 956 915")
        );
        assert_eq!(finds("Phone:\n467 3395", &["US"]), Some("467 3395"));
        assert_eq!(finds("781 1704 office", &["US"]), Some("781 1704"));
        assert_eq!(
            finds("My Israeli number is 09-7625400", &["US"]),
            Some("09-7625400")
        );
        assert_eq!(
            finds("+1 415 555 0132 12/29", &["US"]),
            Some("+1 415 555 0132")
        );
        assert_eq!(finds("\"415 555 2671\"", &["US"]), Some("415 555 2671"));
        assert_eq!(finds("x 09171234567", &["PH"]), Some("09171234567"));
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
            "09171234567",
            "01 02 2024",
            "368 908 828 bytes",
        ] {
            assert_eq!(finds(text, &["US"]), None, "{text}");
        }
    }
}
