//! What a rule is, and how a format is read from text.

use super::context::Keywords;

/// The longest number counted in letters and digits.
const LONGEST: usize = 24;
/// The longest number as text, with its separators (a no-break space has up to three bytes).
pub(super) const LONGEST_TEXT: usize = 48;

/// Confidence of a bare number whose check every tenth or eleventh number satisfies. It is reported
/// only by packs that report suspects.
pub(super) const SUSPECT: u8 = 30;
/// The same for numbers of twelve digits, which are rare otherwise, so that these are reported
/// unless another name claims them.
pub(super) const RARE_SUSPECT: u8 = 45;

/// One kind of number.
pub(super) struct Rule {
    /// Country and number, such as `pl.pesel`.
    pub(super) id: &'static str,
    /// The category a finding gets.
    pub(super) name: &'static str,
    /// The locales that switch the rule on; `en` is always on.
    pub(super) locales: &'static [&'static str],
    /// The ways to write it, each with the confidence it has where no word names it. Zero: it has
    /// to be named.
    ///
    /// In a mask `9` is a digit, `A` a letter, `X` either, and everything else stands for itself,
    /// a space also for a no-break space, a letter in either case.
    pub(super) formats: &'static [(&'static str, u8)],
    /// Whether the letters (upper case) and digits, without separators, are a possible number.
    pub(super) check: fn(&[u8]) -> bool,
    /// Whether the number is also plausible without a word that names it and without separators.
    pub(super) alone: fn(&[u8]) -> bool,
    /// The words that name it, in lower case and without spaces.
    pub(super) keywords: &'static [&'static str],
    /// Whether a naming word has to stand directly before, with nothing but small words between.
    /// This is for numbers of no particular shape.
    pub(super) close_words: bool,
}

/// One way to write one kind of number.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pub(super) rule: &'static Rule,
    pub(super) mask: &'static [u8],
    /// Whether the mask has separators.
    pub(super) grouped: bool,
    /// The first separator, zero where there is none.
    separator: u8,
    /// Confidence without a word that names it.
    pub(super) bare: u8,
    /// The words of the rule.
    pub(super) keywords: Keywords,
}

/// What the first run of letters and digits is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Digits,
    Letters,
    Mixed,
}

impl Format {
    pub(super) fn new(rule: &'static Rule, mask: &'static str, bare: u8) -> Self {
        let mask = mask.as_bytes();
        let separator = mask
            .iter()
            .find(|b| !b.is_ascii_alphanumeric())
            .copied()
            .unwrap_or(0);
        Self {
            rule,
            mask,
            grouped: separator != 0,
            separator,
            bare,
            keywords: Keywords::new(rule.keywords),
        }
    }

    /// Length of the first run of letters and digits, and what it may consist of.
    pub(super) fn first_run(&self) -> (usize, &'static [Class]) {
        let len = self
            .mask
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric())
            .count();
        let run = &self.mask[..len];
        let classes: &[Class] = if run.iter().all(|&b| b == b'X') {
            &[Class::Digits, Class::Mixed]
        } else if run.iter().all(u8::is_ascii_digit) {
            &[Class::Digits]
        } else if !run.contains(&b'X') && run.iter().all(u8::is_ascii_alphabetic) {
            &[Class::Letters]
        } else {
            &[Class::Mixed]
        };
        (len, classes)
    }

    /// Whether the byte after the first run can be the separator of the mask, or end it.
    pub(super) fn goes_on_with(&self, next: u8) -> bool {
        match self.separator {
            0 => true,
            b' ' => matches!(next, b' ' | 0xC2 | 0xE2),
            separator => next == separator,
        }
    }

    /// Reads the number at `start`: where it ends, and its letters and digits.
    pub(super) fn read(&self, text: &[u8], start: usize) -> Option<(usize, Compact)> {
        let mut at = start;
        let mut compact = Compact::default();
        for &want in self.mask {
            let &have = text.get(at)?;
            let fits = match want {
                b'9' => have.is_ascii_digit(),
                b'A' => have.is_ascii_alphabetic(),
                b'X' => have.is_ascii_alphanumeric(),
                b' ' => {
                    at += space(&text[at..])?;
                    continue;
                }
                _ => have.eq_ignore_ascii_case(&want),
            };
            if !fits {
                return None;
            }
            if want.is_ascii_alphanumeric() {
                compact.push(have);
            }
            at += 1;
        }
        ends_here(text, at).then_some((at, compact))
    }
}

/// Letters (upper case) and digits of a number, without its separators.
#[derive(Default)]
pub(super) struct Compact {
    bytes: [u8; LONGEST],
    len: usize,
    lower: bool,
    upper: bool,
}

impl Compact {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether it could be a piece of a hash: only `0-9a-f`, with a letter, in lower case.
    pub(super) fn is_lower_hex(&self) -> bool {
        self.lower && self.as_slice().iter().all(u8::is_ascii_hexdigit)
    }

    /// Whether its letters are of both cases, as no number's are.
    pub(super) fn is_mixed_case(&self) -> bool {
        self.lower && self.upper
    }

    /// Whether at least four different characters are in it: round numbers are no person's.
    pub(super) fn is_varied(&self) -> bool {
        let seen = self
            .as_slice()
            .iter()
            .fold(0u64, |seen, b| seen | 1 << (b & 63));
        seen.count_ones() >= 4
    }

    fn push(&mut self, byte: u8) {
        self.lower |= byte.is_ascii_lowercase();
        self.upper |= byte.is_ascii_uppercase();
        self.bytes[self.len] = byte.to_ascii_uppercase();
        self.len += 1;
    }
}

/// Length of the one space at the start of `text`, which may be a (narrow) no-break space.
pub(super) fn space(text: &[u8]) -> Option<usize> {
    match text {
        [b' ', ..] => Some(1),
        [0xC2, 0xA0, ..] => Some(2),
        [0xE2, 0x80, 0xAF, ..] => Some(3),
        _ => None,
    }
}

/// Whether a number can end at `at`: not within a word, a decimal number or a longer number.
fn ends_here(text: &[u8], at: usize) -> bool {
    let digit = |i: usize| text.get(at + i).is_some_and(u8::is_ascii_digit);
    match text.get(at) {
        Some(b'.') => !digit(1),
        Some(b'-' | b'/' | b'_' | b'@') => {
            !text.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) && text[at] != b'_'
        }
        Some(next) => !next.is_ascii_alphanumeric(),
        None => true,
    }
}

/// A rule for a number with a shape of its own, which a word may name from some distance.
pub(super) const fn rule(
    id: &'static str,
    name: &'static str,
    locales: &'static [&'static str],
    formats: &'static [(&'static str, u8)],
    check: fn(&[u8]) -> bool,
    keywords: &'static [&'static str],
) -> Rule {
    Rule {
        id,
        name,
        locales,
        formats,
        check,
        alone: |_| true,
        keywords,
        close_words: false,
    }
}
