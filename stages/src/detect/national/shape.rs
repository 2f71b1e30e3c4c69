//! Groups of digits as they are written, so that a number is held against many masks at once.

use super::rule::space;

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
            let digits = text[at..].iter().take(LONGEST);
            let size = digits.take_while(|b| b.is_ascii_digit()).count();
            at += size;
            let (code, width) = separator(&text[at..]);
            let more = text.get(at + width).is_some_and(u8::is_ascii_digit);
            let code = if more { code } else { 0 };
            shape |= u64::from(code << SIZE | size as u8) << (8 * group);
            if code == 0 {
                break;
            }
            at += width;
        }
        Self(shape)
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
        let plain = mask.iter().all(|b| *b == b'9' || separator(&[*b]).0 > 0);
        let groups = mask.split(|b| *b != b'9').count();
        if !plain || groups > GROUPS {
            return Self { shape: 0, bits: 0 };
        }
        let digits: Vec<u8> = mask
            .iter()
            .map(|&b| if b == b'9' { b'0' } else { b })
            .collect();
        Self {
            shape: Shape::read(&digits, 0).0,
            bits: u64::MAX >> (64 - 8 * groups as u32 + (8 - SIZE)),
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
    }

    #[test]
    fn other_masks_are_not_judged() {
        assert!(fits("99AA99", "1") && fits("XXX", "2"));
    }
}
