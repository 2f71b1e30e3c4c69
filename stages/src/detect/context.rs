//! The words that stand before a value on its line.

use super::bytes::{ALNUM, is};

/// How many bytes back words are looked for.
pub(super) const CONTEXT_REACH: usize = 64;

/// The words before `start`, nearest first: runs of letters and digits (non-ASCII bytes count as
/// letters), on the same line or in a label (`Phone:`) that ends the line before, at most
/// [`CONTEXT_REACH`] bytes back.
pub(super) fn words_before(text: &[u8], start: usize) -> impl Iterator<Item = &[u8]> {
    let mut low = start.saturating_sub(CONTEXT_REACH);
    // A word that is cut by the reach is not a word.
    if low > 0 && is_letter(text[low - 1]) {
        while low < start && is_letter(text[low]) {
            low += 1;
        }
    }
    let mut end = start;
    let mut seen = false;
    std::iter::from_fn(move || {
        while end > low && !is_letter(text[end - 1]) {
            if text[end - 1] == b'\n' {
                let label = text[low..end].trim_ascii_end();
                if seen || label.last() != Some(&b':') {
                    return None;
                }
                end = low + label.len();
            }
            end -= 1;
        }
        seen = true;
        let stop = end;
        while end > low && is_letter(text[end - 1]) {
            end -= 1;
        }
        (end < stop).then(|| &text[end..stop])
    })
}

/// The word behind `end`, with at most two other bytes of the line between.
pub(super) fn word_after(text: &[u8], end: usize) -> Option<&[u8]> {
    let start = (end..text.len().min(end + 3)).find(|&i| is_letter(text[i]))?;
    if text[end..start].contains(&b'\n') {
        return None;
    }
    let length = text[start..]
        .iter()
        .take(24)
        .take_while(|c| is_letter(**c))
        .count();
    Some(&text[start..start + length])
}

/// Whether one of the `count` words before `start` is in `list`.
pub(super) fn word_within(text: &[u8], start: usize, count: usize, list: &WordList) -> bool {
    words_before(text, start)
        .take(count)
        .any(|word| list.has(word))
}

/// Words that are looked for without regard to ASCII case. Those of four letters or more also
/// stand for compounds that begin or end with them (`phoneNumber`, `Telefonnummer`).
pub(super) struct WordList {
    words: &'static [&'static str],
    /// How the words begin and end, so that nearly all others are refused without a comparison.
    heads: Edges,
    tails: Edges,
}

impl WordList {
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        let (mut heads, mut tails) = (Edges([0; EDGES]), Edges([0; EDGES]));
        let mut i = 0;
        while i < words.len() {
            let word = words[i].as_bytes();
            heads = heads.with(word, 0);
            tails = tails.with(word, word.len().saturating_sub(EDGE));
            i += 1;
        }
        Self {
            words,
            heads,
            tails,
        }
    }

    /// Whether the word is one of them, or a compound with one.
    pub(super) fn has(&self, word: &[u8]) -> bool {
        (self.heads.hold(word, 0) || self.tails.hold(word, word.len().saturating_sub(EDGE)))
            && self.words.iter().any(|known| names(word, known.as_bytes()))
    }

    /// Whether the word is one of them.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        let same = |known: &&str| known.as_bytes().eq_ignore_ascii_case(word);
        self.heads.hold(word, 0) && self.words.iter().any(same)
    }
}

/// Whether `word` is the known one or, where that has four letters, begins or ends with it.
fn names(word: &[u8], known: &[u8]) -> bool {
    let compound = known.len() >= EDGE;
    word.len() >= known.len()
        && (word.len() == known.len() || compound)
        && (word[..known.len()].eq_ignore_ascii_case(known)
            || compound && word[word.len() - known.len()..].eq_ignore_ascii_case(known))
}

/// How many bytes of an edge count.
const EDGE: usize = 4;
/// The words of a set of edges, 64 bits each: many more bits than words in any list.
const EDGES: usize = 32;

/// A set of edges of words: a bit for the hash of each.
struct Edges([u64; EDGES]);

impl Edges {
    const fn with(mut self, word: &[u8], from: usize) -> Self {
        let hash = Self::hash(word, from);
        self.0[hash / 64] |= 1 << (hash % 64);
        self
    }

    fn hold(&self, word: &[u8], from: usize) -> bool {
        let hash = Self::hash(word, from);
        self.0[hash / 64] >> (hash % 64) & 1 == 1
    }

    /// The hash of the bytes at `from`, four at most, in either case.
    const fn hash(word: &[u8], from: usize) -> usize {
        let (_, edge) = word.split_at(from);
        let edge = match edge.first_chunk::<EDGE>() {
            Some(edge) => u32::from_be_bytes(*edge) | 0x2020_2020,
            None => {
                let mut short = 0;
                let mut i = 0;
                while i < edge.len() {
                    short = short << 8 | (edge[i] | 0x20) as u32;
                    i += 1;
                }
                short
            }
        };
        (edge.wrapping_mul(0x9E37_79B1) >> (32 - EDGES.ilog2() - u64::BITS.ilog2())) as usize
    }
}

fn is_letter(c: u8) -> bool {
    c >= 0x80 || is(c, ALNUM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_first_and_only_this_line() {
        let text = b"phone\nmy home_number (old): 555";
        let words: Vec<_> = words_before(text, text.len() - 3).collect();
        assert_eq!(words, [&b"old"[..], b"number", b"home", b"my"]);
        let text = b"x\nHome phone:\n  ";
        assert_eq!(
            words_before(text, text.len()).collect::<Vec<_>>(),
            [&b"phone"[..], b"Home"]
        );
    }

    #[test]
    fn a_word_cut_by_the_reach_does_not_count() {
        let text = format!("{} 1", "x".repeat(CONTEXT_REACH));
        assert_eq!(words_before(text.as_bytes(), text.len() - 1).count(), 0);
    }

    #[test]
    fn compounds_of_longer_words() {
        const LIST: &WordList = &WordList::new(&["phone", "telefon", "tel", "номер"]);
        for word in ["phone", "phoneNumber", "Mobiltelefon", "TEL", "номер"] {
            assert!(LIST.has(word.as_bytes()), "{word}");
        }
        for word in ["hotel", "telly", "phon", "", "т"] {
            assert!(!LIST.has(word.as_bytes()), "{word}");
        }
    }
}
