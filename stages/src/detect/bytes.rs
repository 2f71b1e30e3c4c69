//! Classes of bytes and the edges of words.

/// `0`–`9`.
pub(super) const DIGIT: u8 = 1;
/// ASCII letters.
pub(super) const ALPHA: u8 = 2;
/// ASCII capitals.
pub(super) const UPPER: u8 = 4;
/// Hexadecimal digits.
pub(super) const HEX: u8 = 8;
/// What stands unquoted in the local part of an address in practice.
pub(super) const LOCAL: u8 = 16;
/// `-`.
pub(super) const DASH: u8 = 32;
/// `_`.
pub(super) const UNDERSCORE: u8 = 64;
/// Letters and digits.
pub(super) const ALNUM: u8 = DIGIT | ALPHA;
/// Letters, digits and `_`.
pub(super) const WORD: u8 = ALNUM | UNDERSCORE;

static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let c = i as u8;
        if c.is_ascii_digit() {
            table[i] |= DIGIT | LOCAL;
        }
        if c.is_ascii_alphabetic() {
            table[i] |= ALPHA | LOCAL;
        }
        if c.is_ascii_uppercase() {
            table[i] |= UPPER;
        }
        if c.is_ascii_hexdigit() {
            table[i] |= HEX;
        }
        if matches!(
            c,
            b'.' | b'%' | b'+' | b'-' | b'_' | b'\'' | b'~' | b'!' | b'#' | b'$' | b'*'
        ) {
            table[i] |= LOCAL;
        }
        if c == b'-' {
            table[i] |= DASH;
        }
        if c == b'_' {
            table[i] |= UNDERSCORE;
        }
        i += 1;
    }
    table
};

/// Whether `c` is of one of the classes.
#[inline(always)]
pub(super) fn is(c: u8, classes: u8) -> bool {
    CLASS[c as usize] & classes != 0
}

/// The byte at `i`, 0 behind the end.
#[inline(always)]
pub(super) fn at(text: &[u8], i: usize) -> u8 {
    text.get(i).copied().unwrap_or(0)
}

/// The byte before `i`, 0 at the start.
#[inline(always)]
pub(super) fn before(text: &[u8], i: usize) -> u8 {
    i.checked_sub(1).map_or(0, |i| text[i])
}

/// The end of the run of `classes` that begins at `i`, at most `limit` bytes on.
#[inline(always)]
pub(super) fn run(text: &[u8], i: usize, classes: u8, limit: usize) -> usize {
    if classes == DIGIT {
        return digits(text, i, limit);
    }
    let end = text.len().min(i + limit);
    let mut j = i;
    while j < end && is(text[j], classes) {
        j += 1;
    }
    j
}

/// The end of a run of digits, eight bytes at a step: numbers are short, and the branch for each of
/// their digits would cost more than the digit.
#[inline(always)]
fn digits(text: &[u8], i: usize, limit: usize) -> usize {
    const ALL: u64 = u64::MAX / 255;
    let end = text.len().min(i + limit);
    let mut j = i;
    while let Some(eight) = text.get(j..).and_then(<[u8]>::first_chunk) {
        // Digits become 0 to 9; the highest bit of every other byte is set.
        let values = u64::from_le_bytes(*eight) ^ (ALL * 0x30);
        let others = (((values & (ALL * 0x7F)) + ALL * 0x76) | values) & (ALL * 0x80);
        let count = others.trailing_zeros() as usize / 8;
        j += count;
        if count < 8 || j >= end {
            return j.min(end).max(i);
        }
    }
    while j < end && text[j].is_ascii_digit() {
        j += 1;
    }
    j
}

/// The character that begins at `i` of UTF-8 text.
pub(super) fn char_at(text: &[u8], i: usize) -> Option<char> {
    let end = text.len().min(i + 4);
    text.get(i..end)?
        .utf8_chunks()
        .next()?
        .valid()
        .chars()
        .next()
}

/// The character that ends at `i` of UTF-8 text.
pub(super) fn char_before(text: &[u8], i: usize) -> Option<char> {
    let mut start = i.checked_sub(1)?;
    while start > i.saturating_sub(4) && text[start] & 0xC0 == 0x80 {
        start -= 1;
    }
    char_at(&text[..i], start)
}

/// Whether a letter, digit or `_` stands before `i`.
#[inline(always)]
pub(super) fn word_before(text: &[u8], i: usize) -> bool {
    match before(text, i) {
        c if c < 0x80 => is(c, WORD),
        _ => char_before(text, i).is_some_and(char::is_alphanumeric),
    }
}

/// Whether a letter, digit or `_` stands at `i`.
#[inline(always)]
pub(super) fn word_at(text: &[u8], i: usize) -> bool {
    match at(text, i) {
        c if c < 0x80 => is(c, WORD),
        _ => char_at(text, i).is_some_and(char::is_alphanumeric),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn digits_are_counted_as_one_by_one(text in "[0-9]{0,20}[\\PC/:\u{0}\u{ff}]?[0-9]{0,12}", from in 0..8usize, limit in 0..24usize) {
            let text = text.as_bytes();
            let from = from.min(text.len());
            let plain = text[from..].iter().take(limit).take_while(|b| b.is_ascii_digit()).count();
            proptest::prop_assert_eq!(run(text, from, DIGIT, limit), from + plain);
        }
    }

    #[test]
    fn characters_at_the_edges() {
        let text = "é日a".as_bytes();
        assert_eq!(char_at(text, 0), Some('é'));
        assert_eq!(char_at(text, 2), Some('日'));
        assert_eq!(char_before(text, 5), Some('日'));
        assert_eq!(char_before(text, 2), Some('é'));
        assert_eq!(char_before(text, 0), None);
        assert_eq!(char_at(text, 6), None);
        assert!(word_before(text, 2) && word_at(text, 2) && !word_at(text, 6));
    }
}
