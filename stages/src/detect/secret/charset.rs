//! Sets of bytes, as bits of one table.

/// A set of bytes: a union of the constants of this module.
pub(super) type Set = u16;

pub(super) const DIGIT: Set = 1;
pub(super) const LOWER_AF: Set = 1 << 1;
pub(super) const LOWER_GZ: Set = 1 << 2;
pub(super) const UPPER_AF: Set = 1 << 3;
pub(super) const UPPER_GZ: Set = 1 << 4;
pub(super) const DASH: Set = 1 << 5;
pub(super) const UNDER: Set = 1 << 6;
/// `+` and `/`.
pub(super) const PLUS: Set = 1 << 7;
pub(super) const EQUALS: Set = 1 << 8;
pub(super) const DOT: Set = 1 << 9;
pub(super) const TILDE: Set = 1 << 10;
pub(super) const PERCENT: Set = 1 << 11;

pub(super) const LOWER: Set = LOWER_AF | LOWER_GZ;
pub(super) const UPPER: Set = UPPER_AF | UPPER_GZ;
pub(super) const LETTER: Set = LOWER | UPPER;
/// Lower-case hexadecimal.
pub(super) const HEX: Set = DIGIT | LOWER_AF;
/// Hexadecimal in either case.
pub(super) const ANY_HEX: Set = HEX | UPPER_AF;
pub(super) const ALNUM: Set = DIGIT | LETTER;
pub(super) const LOWER_ALNUM: Set = DIGIT | LOWER;
pub(super) const UPPER_ALNUM: Set = DIGIT | UPPER;
/// Letters, digits, `-` and `_`: base64url.
pub(super) const URL64: Set = ALNUM | DASH | UNDER;
/// Letters, digits, `+` and `/`: base64.
pub(super) const STD64: Set = ALNUM | PLUS;

/// Whether `byte` is in `set`.
pub(super) const fn has(set: Set, byte: u8) -> bool {
    CLASS[byte as usize] & set != 0
}

/// How many bytes at the start of `text`, at most `max`, are in `set`.
pub(super) fn span(set: Set, text: &[u8], max: usize) -> usize {
    text.iter().take(max).take_while(|b| has(set, **b)).count()
}

/// How many bytes at the end of `text`, at most `max`, are in `set`.
pub(super) fn span_back(set: Set, text: &[u8], max: usize) -> usize {
    text.iter()
        .rev()
        .take(max)
        .take_while(|b| has(set, **b))
        .count()
}

static CLASS: [Set; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER_AF,
            b'g'..=b'z' => LOWER_GZ,
            b'A'..=b'F' => UPPER_AF,
            b'G'..=b'Z' => UPPER_GZ,
            b'-' => DASH,
            b'_' => UNDER,
            b'+' | b'/' => PLUS,
            b'=' => EQUALS,
            b'.' => DOT,
            b'~' => TILDE,
            b'%' => PERCENT,
            _ => 0,
        };
        byte += 1;
    }
    table
};
