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
            let bits = |set: u8x16| u64::from(set.to_bitmask()) << (16 * quarter);
            masks.digit |= bits(digit);
            masks.word |= bits(digit | letter | equal(b'_'));
            masks.hex |= bits(digit | within(b'a', 6, folded));
            masks.dash |= bits(equal(b'-'));
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
}

/// Fills `out` with the classes of the blocks of `text` that begin at `from`, one after the other;
/// past the end of the text there is nothing.
pub(super) fn classify(text: &[u8], from: usize, out: &mut [Masks]) {
    let text = text.get(from..).unwrap_or_default();
    let (blocks, rest) = text.as_chunks();
    let whole = blocks.len().min(out.len());
    let (here, behind) = out.split_at_mut(whole);
    classify_whole(&blocks[..whole], here);
    let mut tail = [0; BLOCK];
    tail[..rest.len()].copy_from_slice(rest);
    behind.fill(Masks::default());
    if let Some(last) = behind.first_mut() {
        *last = Masks::of(&tail);
    }
}

fn classify_whole(blocks: &[[u8; BLOCK]], out: &mut [Masks]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "half the instructions of the baseline")]
        // SAFETY: the processor was just asked for what the function is compiled for.
        return unsafe { avx2::classify(blocks, out) };
    }
    for (block, out) in blocks.iter().zip(out) {
        *out = Masks::of(block);
    }
}

/// The same with vectors of thirty-two bytes.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_max_epu8, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_setr_epi64x, _mm256_sub_epi8,
    };

    use super::{BLOCK, Masks};

    #[target_feature(enable = "avx2")]
    pub(super) fn classify(blocks: &[[u8; BLOCK]], out: &mut [Masks]) {
        for (block, out) in blocks.iter().zip(out) {
            *out = of(block);
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(block: &[u8; BLOCK]) -> Masks {
        let (words, _) = block.as_chunks::<8>();
        let word = |i: usize| i64::from_le_bytes(words[i]);
        let low = half(_mm256_setr_epi64x(word(0), word(1), word(2), word(3)));
        let high = half(_mm256_setr_epi64x(word(4), word(5), word(6), word(7)));
        let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        Masks {
            digit: join(low[0], high[0]),
            word: join(low[1], high[1]),
            hex: join(low[2], high[2]),
            dash: join(low[3], high[3]),
            colon: join(low[4], high[4]),
            equals: join(low[5], high[5]),
            at: join(low[6], high[6]),
            odd: join(low[7], high[7]),
            a: join(low[8], high[8]),
            t: join(low[9], high[9]),
            separator: join(low[10], high[10]),
        }
    }

    /// The sets in the order of the fields of [`Masks`].
    #[target_feature(enable = "avx2")]
    #[inline]
    fn half(x: __m256i) -> [u32; 11] {
        let all = |c: u8| _mm256_set1_epi8(c.cast_signed());
        let equal = |c: u8| _mm256_cmpeq_epi8(x, all(c));
        let within = |low: u8, count: u8, x: __m256i| {
            let offset = _mm256_sub_epi8(x, all(low));
            _mm256_cmpeq_epi8(_mm256_min_epu8(offset, all(count - 1)), offset)
        };
        let or = |a: __m256i, b: __m256i| _mm256_or_si256(a, b);
        let bits = |set: __m256i| _mm256_movemask_epi8(set).cast_unsigned();
        let folded = or(x, all(0x20));
        let digit = within(b'0', 10, x);
        let lead = _mm256_cmpeq_epi8(_mm256_max_epu8(x, all(0xC2)), x);
        [
            bits(digit),
            bits(or(or(digit, within(b'a', 26, folded)), equal(b'_'))),
            bits(or(digit, within(b'a', 6, folded))),
            bits(equal(b'-')),
            bits(equal(b':')),
            bits(equal(b'=')),
            bits(equal(b'@')),
            bits(or(or(equal(b'\\'), within(b'%', 2, x)), lead)),
            bits(_mm256_cmpeq_epi8(folded, all(b'a'))),
            bits(_mm256_cmpeq_epi8(folded, all(b't'))),
            bits(or(or(equal(b' '), within(b'(', 2, x)), within(b'-', 3, x))),
        ]
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
        fn vectors_and_bytes_agree(bytes in prop::collection::vec(any::<u8>(), 0..5 * BLOCK), from in 0..99usize) {
            let mut found = [Masks::default(); 4];
            classify(&bytes, from, &mut found);
            for (n, masks) in found.iter().enumerate() {
                let mut block = [0; BLOCK];
                let there = bytes.iter().skip(from + n * BLOCK);
                block.iter_mut().zip(there).for_each(|(to, from)| *to = *from);
                prop_assert_eq!(*masks, plain(&block));
                prop_assert_eq!(*masks, Masks::of(&block));
            }
        }
    }
}
