//! Payment card numbers: ISO/IEC 7812 issuer ranges, lengths and the Luhn digit.

use super::{Hit, Miss};
use crate::detect::bytes::{DIGIT, at, before, is, run, word_at, word_before};
use crate::detect::context::{WordList, word_within};

/// ISO/IEC 7812-1: at most 19 digits.
const MAX: usize = 19;
static WORDS: WordList = WordList::new(&[
    "card",
    "cc",
    "credit",
    "debit",
    "visa",
    "mastercard",
    "maestro",
    "amex",
    "pan",
    "karte",
    "kreditkarte",
    "carte",
    "tarjeta",
    "carta",
    "cartao",
    "kaart",
]);

/// The card number that begins with the run of `length` digits at `start`: digits in a row, or in
/// groups parted by one space or hyphen each.
pub(crate) fn verdict(text: &[u8], start: usize, length: usize) -> Option<Hit> {
    if word_before(text, start) || joined(text, start) {
        return None;
    }
    let mut digits = [0; MAX];
    if length >= 12 {
        let end = start + length;
        if length > MAX || fraction(text, end) {
            return None;
        }
        digits[..length].copy_from_slice(&text[start..end]);
        let digits = &digits[..length];
        let common = issuer(digits).is_some_and(|lengths| lengths.contains(&length));
        let rare = || maestro(digits) && word_within(text, start, 4, &WORDS);
        return (!word_at(text, end) && luhn(digits) && (common || rare())).then_some(Hit {
            start,
            end,
            confidence: 90,
            rule: "card",
        });
    }
    if !matches!(length, 4..=6) || issuer(&text[start..start + length]).is_none() {
        return None;
    }
    let mut count = 0;
    let mut sizes = [0; 6];
    let mut groups = 0;
    let mut i = start;
    let mut found = None;
    while groups < sizes.len() {
        let end = run(text, i, DIGIT, MAX + 1);
        let size = end - i;
        if size == 0 || count + size > MAX {
            break;
        }
        digits[count..count + size].copy_from_slice(&text[i..end]);
        count += size;
        sizes[groups] = size;
        groups += 1;
        if is_grouping(&sizes[..groups])
            && !word_at(text, end)
            && !fraction(text, end)
            && issuer(&digits[..count]).is_some_and(|lengths| lengths.contains(&count))
            && luhn(&digits[..count])
        {
            found = Some(Hit {
                start,
                end,
                confidence: 97,
                rule: "card",
            });
        }
        if !matches!(at(text, end), b' ' | b'-' | b'.') {
            break;
        }
        i = end + 1;
    }
    found
}

/// A number that is a card's but for its last digit.
pub(crate) fn miss(text: &[u8], start: usize, length: usize) -> Option<Miss> {
    let mut digits = [0; MAX];
    let (mut count, mut end, mut size) = (0, start, length);
    while (4..=MAX - count).contains(&size) {
        digits[count..count + size].copy_from_slice(&text[end..end + size]);
        count += size;
        end += size;
        if !matches!(at(text, end), b' ' | b'-') {
            break;
        }
        size = run(text, end + 1, DIGIT, MAX + 1) - (end + 1);
        end += usize::from((4..=MAX - count).contains(&size));
    }
    let digits = &digits[..count];
    let issued = count >= 13 && issuer(digits).is_some_and(|lengths| lengths.contains(&count));
    (issued && !luhn(digits) && !word_before(text, start)).then_some(Miss {
        start,
        end,
        reason: "like a card, but the Luhn digit is wrong",
    })
}

/// How cards are embossed: 4-4-4-4(-3), 4-6-5, 4-6-4, 6-13 and groups of four with a rest.
fn is_grouping(sizes: &[usize]) -> bool {
    match sizes {
        [4, 6, 5] | [4, 6, 4] | [4, 5, 6] | [6, 13] => true,
        [fours @ .., rest] => {
            fours.len() >= 3 && fours.iter().all(|n| *n == 4) && (1..=4).contains(rest)
        }
        [] => false,
    }
}

/// The lengths that numbers of this issuer have (Visa, Mastercard, American Express, Discover,
/// Diners Club, JCB, UnionPay, Mir).
fn issuer(digits: &[u8]) -> Option<&'static [usize]> {
    let four = digits[..4]
        .iter()
        .fold(0u32, |n, d| 10 * n + u32::from(d - b'0'));
    Some(match four {
        4000..=4999 => &[16, 19],
        5100..=5599 | 2221..=2720 | 2200..=2204 => &[16],
        3400..=3499 | 3700..=3799 => &[15],
        6011 | 6440..=6599 => &[16, 19],
        3000..=3059 | 3095 | 3600..=3699 | 3800..=3999 => &[14, 16],
        3528..=3589 => &[16, 17, 18, 19],
        6200..=6299 | 8100..=8171 => &[16, 17, 18, 19],
        _ => return None,
    })
}

/// Maestro, the thirteen digits of old Visa cards, and what JCB has around its range; so wide a range that a word must stand by.
fn maestro(digits: &[u8]) -> bool {
    matches!(digits[..2], [b'5', b'0' | b'6'..=b'8'] | [b'6', _])
        || digits[0] == b'4' && digits.len() == 13
        || digits[..2] == *b"35" && digits.len() == 16
        || digits[..4] == *b"1800"
        || digits[..4] == *b"2131"
}

/// ISO/IEC 7812-1, annex B.
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, digit)| {
            let digit = u32::from(digit - b'0');
            match i % 2 {
                0 => digit,
                _ => 2 * digit - if digit > 4 { 9 } else { 0 },
            }
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|d| *d != digits[0])
}

/// Whether the number is the tail of a decimal or of something hyphenated.
fn joined(text: &[u8], start: usize) -> bool {
    matches!(before(text, start), b'.' | b'-' | b'+') && start >= 2 && is(text[start - 2], DIGIT)
}

fn fraction(text: &[u8], end: usize) -> bool {
    at(text, end) == b'.' && is(at(text, end + 1), DIGIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(text: &str) -> Option<&str> {
        let bytes = text.as_bytes();
        (0..bytes.len())
            .filter(|&i| bytes[i].is_ascii_digit() && !before(bytes, i).is_ascii_digit())
            .filter_map(|i| verdict(bytes, i, run(bytes, i, DIGIT, 99) - i))
            .map(|hit| &text[hit.start..hit.end])
            .next()
    }

    #[test]
    fn numbers() {
        for card in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "5555-5555-5555-4444",
            "378282246310005",
            "3782 822463 10005",
            "3056 930902 5904",
            "6011111111111117",
            "3530111333300000",
            "6200000000000005",
            "2223003122003222",
        ] {
            for (left, right) in [
                ("", ""),
                ("Karte ", " 12/29"),
                ("(", ")"),
                ("=", ";"),
                ("1 ", " x"),
            ] {
                let text = format!("{left}{card}{right}");
                assert_eq!(finds(&text), Some(card), "{text}");
            }
        }
        for card in ["5018000000000009", "3522235032377454", "4047737215142"] {
            assert_eq!(finds(&format!("card {card}")), Some(card));
            assert_eq!(finds(card), None);
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "4111111111111112",
            "1548138160707",
            "0.4111111111111111",
            "4111111111111111.5",
            "a4111111111111111",
            "41111111111111111111",
            "5018000000000009",
            "0000000000000000",
            "4111 11111111 1111",
            "1.4111111111111111",
        ] {
            assert_eq!(finds(text), None, "{text}");
        }
    }
}
