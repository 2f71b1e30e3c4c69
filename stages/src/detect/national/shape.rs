//! Groups of digits as they are written, so that a number is held against many masks at once.

use super::rule::space;
use crate::detect::bytes::{DIGIT, run};

/// Most groups that are read.
const GROUPS: usize = 8;
/// The longest group that is told from a longer one.
const LONGEST: usize = 31;
/// The bits of a group's size; the three above say what parts it from the next group.
const SIZE: u32 = 5;

/// The sizes of up to eight groups and what parts them, one byte each, the first group lowest.
#[derive(Clone, Copy)]
pub(super) struct Shape(u64);

impl Shape {
    /// The groups of digits that begin at `start`.
    pub(super) fn read(text: &[u8], start: usize) -> Self {
        let mut shape = 0;
        let mut at = start;
        for group in 0..GROUPS {
            let end = run(text, at, DIGIT, LONGEST);
            let (code, width) = joint(text, end);
            shape |= u64::from(code << SIZE | (end - at) as u8) << (8 * group);
            if code == 0 {
                break;
            }
            at = end + width;
        }
        Self(shape)
    }
}

/// What follows a first group of digits that ends at `end`: a number below 64, from the size of the
/// second group and whether a space stands before it; zero if there is none.
pub(super) fn second_group(text: &[u8], end: usize) -> u32 {
    match joint(text, end) {
        (0, _) => 0,
        (code, width) => {
            let start = end + width;
            second(code, (run(text, start, DIGIT, LONGEST) - start) as u32)
        }
    }
}

fn second(code: u8, size: u32) -> u32 {
    u32::from(code > 1) << SIZE | size
}

/// The separator at `at`, if a digit follows.
fn joint(text: &[u8], at: usize) -> (u8, usize) {
    let (code, width) = text.get(at..).map_or((0, 0), separator);
    match text.get(at + width) {
        Some(b'0'..=b'9') if code > 0 => (code, width),
        _ => (0, 0),
    }
}

/// What parts two groups of a mask, as a number below eight, and how long it is; zero for anything
/// else.
fn separator(text: &[u8]) -> (u8, usize) {
    match text.first() {
        Some(b' ' | 0xC2 | 0xE2) => space(text).map_or((0, 0), |width| (1, width)),
        Some(b'-') => (2, 1),
        Some(b'.') => (3, 1),
        Some(b'/') => (4, 1),
        Some(b':') => (5, 1),
        Some(b'+') => (6, 1),
        _ => (0, 0),
    }
}

/// The shape of a mask of digits, to be held against those of texts.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    shape: u64,
    /// The bits that count: everything of the groups but what follows the last of them.
    bits: u64,
}

impl Pattern {
    /// The pattern of a mask; of one that has more than digits every shape is one.
    pub(super) fn of(mask: &[u8]) -> Self {
        let plain = |b: &u8| b.is_ascii_digit() || separator(&[*b]).0 > 0;
        let groups = mask.split(|b| !b.is_ascii_digit()).count();
        if groups > GROUPS || !mask.iter().all(plain) {
            return Self { shape: 0, bits: 0 };
        }
        Self {
            shape: Shape::read(mask, 0).0,
            bits: u64::MAX >> (64 - 8 * groups as u32 + (8 - SIZE)),
        }
    }

    /// The same number as of [`second_group`]; zero also where the mask is not judged.
    pub(super) fn second_group(self) -> u32 {
        match (self.shape as u8) >> SIZE {
            0 => 0,
            code => second(code, (self.shape >> 8) as u32 & LONGEST as u32),
        }
    }

    /// Whether a number of this shape may begin with one of the pattern.
    pub(super) fn fits(self, shape: Shape) -> bool {
        (self.shape ^ shape.0) & self.bits == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(mask: &str, text: &str) -> bool {
        Pattern::of(mask.as_bytes()).fits(Shape::read(text.as_bytes(), 0))
    }

    #[test]
    fn groups_and_what_parts_them() {
        for text in [
            "123 456 7890",
            "123\u{a0}456\u{202f}7890",
            "123 456 7890 1",
            "123 456 7890x",
        ] {
            assert!(fits("999 999 9999", text), "{text}");
        }
        for text in [
            "123 456 789",
            "123-456 7890",
            "123 456",
            "1234567890",
            "123  456 7890",
            "12",
        ] {
            assert!(!fits("999 999 9999", text), "{text}");
        }
        assert!(fits("99999", "12345 1") && !fits("99999", "123456"));
        assert!(fits("99.99.99-999/99", "01.02.03-456/78"));
        assert!(fits("756 9999", "123 4567") && !fits("756 9999", "756 999"));
    }

    #[test]
    fn other_masks_are_not_judged() {
        assert!(fits("99AA99", "1") && fits("XXX", "2"));
    }
}
