//! Sixty-four bytes at a time into sets of positions.

use wide::u8x16;

/// How many bytes are looked at in one step: as many as a set of positions has bits.
pub(super) const BLOCK: usize = 64;

/// Positions of the classes in one block, bit 0 the first byte.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Masks {
    /// `0`–`9`.
    pub(super) digit: u64,
    /// Letters, digits, `_`.
    pub(super) word: u64,
    /// Hexadecimal digits.
    pub(super) hex: u64,
    /// `-`.
    pub(super) dash: u64,
    /// `:`.
    pub(super) colon: u64,
    /// `=`.
    pub(super) equals: u64,
    /// `@`.
    pub(super) at: u64,
    /// What a character in disguise may begin with: `\\`, `%`, `&`, the first byte of UTF-8.
    pub(super) odd: u64,
    /// `a`, in either case.
    pub(super) a: u64,
    /// `t`, in either case.
    pub(super) t: u64,
    /// What parts the groups of a number: space `(` `)` `-` `.` `/`.
    pub(super) separator: u64,
}

impl Masks {
    /// The classes of the block at `i`; past the end of the text there is nothing.
    #[inline(always)]
    pub(super) fn load(text: &[u8], i: usize) -> Self {
        match text.get(i..).and_then(<[u8]>::first_chunk) {
            Some(block) => Self::of(block),
            None => Self::of_tail(text.get(i..).unwrap_or_default()),
        }
    }

    #[inline(always)]
    fn of(block: &[u8; BLOCK]) -> Self {
        let mut masks = Self::default();
        for (quarter, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
            let x = u8x16::from(*bytes);
            let all = u8x16::splat;
            let within = |low: u8, count: u8, x: u8x16| (x - all(low)).simd_le(all(count - 1));
            let equal = |c: u8| x.simd_eq(all(c));
            let digit = within(b'0', 10, x);
            let folded = x | all(0x20);
            let letter = within(b'a', 26, folded);
            let dash = equal(b'-');
            let bits = |set: u8x16| u64::from(set.to_bitmask()) << (16 * quarter);
            masks.digit |= bits(digit);
            masks.word |= bits(digit | letter | equal(b'_'));
            masks.hex |= bits(digit | within(b'a', 6, folded));
            masks.dash |= bits(dash);
            masks.colon |= bits(equal(b':'));
            masks.equals |= bits(equal(b'='));
            masks.odd |= bits(equal(b'\\') | within(b'%', 2, x) | all(0xC2).simd_le(x));
            masks.at |= bits(equal(b'@'));
            masks.a |= bits(folded.simd_eq(all(b'a')));
            masks.t |= bits(folded.simd_eq(all(b't')));
            masks.separator |= bits(equal(b' ') | within(b'(', 2, x) | within(b'-', 3, x));
        }
        masks
    }

    #[cold]
    fn of_tail(tail: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        block[..tail.len()].copy_from_slice(tail);
        Self::of(&block)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same sets, one byte at a time.
    fn plain(block: &[u8; BLOCK]) -> Masks {
        let set = |class: fn(u8) -> bool| {
            block
                .iter()
                .rev()
                .fold(0, |bits, &c| bits << 1 | u64::from(class(c)))
        };
        Masks {
            digit: set(|c| c.is_ascii_digit()),
            word: set(|c| c.is_ascii_alphanumeric() || c == b'_'),
            hex: set(|c| c.is_ascii_hexdigit()),
            dash: set(|c| c == b'-'),
            colon: set(|c| c == b':'),
            equals: set(|c| c == b'='),
            odd: set(|c| matches!(c, b'\\' | b'%' | b'&' | 0xC2..)),
            at: set(|c| c == b'@'),
            a: set(|c| matches!(c, b'a' | b'A')),
            t: set(|c| matches!(c, b't' | b'T')),
            separator: set(|c| b" ()-./".contains(&c)),
        }
    }

    #[test]
    fn every_byte_in_every_place() {
        for c in 0..=255 {
            for i in 0..BLOCK {
                let mut block = [c ^ 0x55; BLOCK];
                block[i] = c;
                assert_eq!(Masks::of(&block), plain(&block), "byte {c} at {i}");
            }
        }
    }

    proptest! {
        #[test]
        fn vectors_and_bytes_agree(bytes in prop::collection::vec(any::<u8>(), BLOCK)) {
            let block: &[u8; BLOCK] = bytes.first_chunk().unwrap();
            prop_assert_eq!(Masks::of(block), plain(block));
        }

        #[test]
        fn a_tail_is_padded_with_nothing(bytes in prop::collection::vec(any::<u8>(), 0..BLOCK)) {
            let mut block = [0; BLOCK];
            block[..bytes.len()].copy_from_slice(&bytes);
            prop_assert_eq!(Masks::load(&bytes, 0), plain(&block));
            prop_assert_eq!(Masks::load(&bytes, bytes.len() + 1), Masks::default());
        }
    }
}
