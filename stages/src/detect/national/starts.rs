//! How the words begin that name a number.

use std::sync::LazyLock;

/// One bit for each hash of the first two letters of a keyword and the third.
static STARTS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut starts = vec![0; 1 << 9];
    for (_, words) in super::keywords() {
        for word in words.iter().filter(|word| word.is_ascii()) {
            let (index, bit) = place(word.as_bytes());
            starts[index] |= bit;
        }
    }
    starts
});

/// Whether a keyword may begin as this text does, in which one byte that is no letter may stand
/// between two letters.
pub(super) fn may_start(text: &[u8]) -> bool {
    let is_letter = |i: usize| text.get(i).is_some_and(u8::is_ascii_alphanumeric);
    let known = |bytes: &[u8]| {
        let (index, bit) = place(bytes);
        STARTS[index] & bit != 0
    };
    if !is_letter(1) {
        return true;
    }
    known(text)
        || !is_letter(2)
            && (known(&text[..2]) || is_letter(3) && known(&[text[0], text[1], text[3]]))
}

/// The place of the first three bytes, five bits of each.
fn place(text: &[u8]) -> (usize, u64) {
    let bits = |i: usize| usize::from(text.get(i).map_or(0, |c| c & 31));
    let index = bits(0) << 10 | bits(1) << 5 | bits(2);
    (index >> 6, 1 << (index & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_starts_like_one() {
        for (_, words) in crate::detect::national::keywords() {
            for word in words.iter().filter(|word| word.is_ascii()) {
                for cut in 0..word.len().min(3) {
                    let spaced = format!("{} {}", &word[..cut], &word[cut..]);
                    assert!(may_start(word.as_bytes()), "{word}");
                    assert!(cut == 0 || may_start(spaced.as_bytes()), "{spaced}");
                }
            }
        }
        assert!(!may_start(b"worker") && !may_start(b"request"));
    }
}
