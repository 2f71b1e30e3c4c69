//! JSON as bytes and spans: checked strictly once, then walked in place, never built into a tree.
//!
//! Whatever is not edited leaves as it came: key order, the spelling of numbers, escapes, duplicate
//! keys and white space all survive, since nothing is ever printed again.

mod check;
mod marks;
mod text;
mod walk;

pub use check::{NotJson, check, check_members};
pub use text::{Offsets, decode, decode_into, escape, quote, same_text};
pub use walk::{Items, Members, Shape, items, member, members, shape, skip};

/// Deepest nesting of arrays and objects that is accepted.
///
/// RFC 8259 section 9 lets a parser set such a limit. Common clients stop between 128 and 1,000.
pub const MAX_DEPTH: usize = 256;

/// A range of bytes in a message. Messages are shorter than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`.
    ///
    /// # Panics
    ///
    /// When an offset does not fit in 32 bits; the framing codec never lets such a message in.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        let fit = |at| u32::try_from(at).expect("messages are shorter than 4 GiB");
        Self {
            start: fit(start),
            end: fit(end),
        }
    }

    /// The bytes themselves.
    #[must_use]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.range()]
    }

    /// As a range, to index with.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// How many bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// A string's content: the span without its two quotes.
    #[must_use]
    pub fn unquoted(self) -> Self {
        debug_assert!(self.len() >= 2);
        Self {
            start: self.start + 1,
            end: self.end - 1,
        }
    }
}
