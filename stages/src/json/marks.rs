//! Quotes and backslashes of a text, one after the other.

use wide::u8x16;

/// How many bytes are looked at in one step: as many as a set of positions has bits.
const BLOCK: usize = 64;

/// Walks from one quote or backslash to the next.
///
/// In text with many escapes they stand some dozens of bytes apart, where a search that begins anew
/// behind each of them costs more than its way.
#[derive(Clone, Debug)]
pub(super) struct Marks<'a> {
    text: &'a [u8],
    /// Where the block begins that is looked at.
    block: usize,
    /// What stands in it ahead.
    ahead: u64,
}

impl<'a> Marks<'a> {
    /// From the byte at `from` on.
    #[inline]
    pub(super) fn new(text: &'a [u8], from: usize) -> Self {
        Self {
            text,
            block: from,
            ahead: marks(text, from),
        }
    }

    /// Passes over what stands before `to`.
    #[inline]
    pub(super) fn pass(&mut self, to: usize) {
        match to.checked_sub(self.block) {
            Some(by @ 0..BLOCK) => self.ahead &= u64::MAX << by,
            _ => *self = Self::new(self.text, to),
        }
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.ahead == 0 {
            self.block += BLOCK;
            if self.block >= self.text.len() {
                return None;
            }
            self.ahead = marks(self.text, self.block);
        }
        let at = self.block + self.ahead.trailing_zeros() as usize;
        self.ahead &= self.ahead - 1;
        Some(at)
    }
}

/// Where quotes and backslashes stand in the block at `at`, bit 0 the first byte. Past the end of
/// the text there is nothing.
#[inline]
fn marks(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(<[u8]>::first_chunk) {
        Some(block) => of(block),
        None => of_tail(text.get(at..).unwrap_or_default()),
    }
}

#[inline]
fn of(block: &[u8; BLOCK]) -> u64 {
    let quarters = block.as_chunks::<16>().0.iter().rev();
    quarters.fold(0, |all, bytes| {
        let bytes = u8x16::from(*bytes);
        let marks = bytes.simd_eq(u8x16::splat(b'"')) | bytes.simd_eq(u8x16::splat(b'\\'));
        all << 16 | u64::from(marks.to_bitmask())
    })
}

#[cold]
fn of_tail(tail: &[u8]) -> u64 {
    let mut block = [0; BLOCK];
    block[..tail.len()].copy_from_slice(tail);
    of(&block)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_that_stand_ahead(text in "[a\"\\\\]{0,200}|[a\"\\\\é]{0,20}", from in 0_usize..210, to in 0_usize..210) {
            let text = text.as_bytes();
            let all = |from: usize| {
                let ahead = text.iter().enumerate().skip(from);
                ahead.filter(|(_, byte)| b"\"\\".contains(byte)).map(|(at, _)| at).collect::<Vec<_>>()
            };
            prop_assert_eq!(Marks::new(text, from).collect::<Vec<_>>(), all(from));
            let mut marks = Marks::new(text, from);
            let first = marks.next();
            prop_assert_eq!(first, all(from).first().copied());
            let to = from.max(to).max(first.map_or(0, |first| first + 1));
            marks.pass(to);
            prop_assert_eq!(marks.collect::<Vec<_>>(), all(to));
        }
    }
}
