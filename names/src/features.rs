//! What the network reads of a token: its norm, first character, last three, and shape, each as
//! the 64-bit number that spaCy gives a string.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::tokenizer::{Classes, DIGIT, LETTER, UPPERCASE};

/// The numbers of one token's norm, prefix, suffix and shape, and of the token itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) attributes: [u64; 4],
    pub(crate) orth: u64,
}

/// How words are normalised and numbered.
pub(crate) struct Lexicon {
    /// Words that have a small number, because spaCy names its symbols with them.
    symbols: HashMap<Box<str>, u64>,
    /// Norms by the number of the word.
    lexeme_norms: HashMap<u64, u64>,
    /// Norms of quotation marks, dashes and currencies.
    base_norms: HashMap<Box<str>, u64>,
}

impl Lexicon {
    pub(crate) fn new(
        symbols: BTreeMap<String, u64>,
        lexeme_norms: &BTreeMap<u64, String>,
        base_norms: BTreeMap<String, String>,
    ) -> Self {
        let symbols = symbols
            .into_iter()
            .map(|(word, id)| (word.into(), id))
            .collect();
        let mut lexicon = Self {
            symbols,
            lexeme_norms: HashMap::new(),
            base_norms: HashMap::new(),
        };
        lexicon.lexeme_norms = lexeme_norms
            .iter()
            .map(|(id, norm)| (*id, lexicon.id(norm)))
            .collect();
        lexicon.base_norms = base_norms
            .into_iter()
            .map(|(word, norm)| (word.into(), lexicon.id(&norm)))
            .collect();
        lexicon
    }

    /// `norm` is the one that the tokenizer's exception gives, if it gives one.
    pub(crate) fn features(&self, classes: &Classes, word: &str, norm: Option<&str>) -> Features {
        let orth = self.id(word);
        let norm = match norm {
            Some(norm) => self.id(norm),
            None => (self.lexeme_norms.get(&orth))
                .or_else(|| self.base_norms.get(word))
                .copied()
                .unwrap_or_else(|| self.id(&word.to_lowercase())),
        };
        let prefix = &word[..word.chars().next().map_or(0, char::len_utf8)];
        let suffix = &word[word
            .char_indices()
            .rev()
            .take(3)
            .last()
            .map_or(0, |(at, _)| at)..];
        let shape = self.id(&shape(classes, word));
        Features {
            attributes: [norm, self.id(prefix), self.id(suffix), shape],
            orth,
        }
    }

    fn id(&self, word: &str) -> u64 {
        if word.is_empty() {
            return 0;
        }
        // The longest symbol is "SENT_START" or thereabouts; long words need no look-up.
        if let Some(id) = self.symbols.get(word) {
            *id
        } else {
            murmur64a(word.as_bytes())
        }
    }
}

/// The outline of a word: letters become `X` or `x`, digits `d`, and a run stops at four.
fn shape(classes: &Classes, word: &str) -> String {
    const LONG: usize = 100;
    if word.len() >= LONG && word.chars().take(LONG).count() == LONG {
        return "LONG".to_owned();
    }
    let mut shape = String::with_capacity(word.len());
    let mut last = None;
    let mut run = 0;
    for c in word.chars() {
        let class = classes.of(c);
        let outline = if class & LETTER != 0 {
            if class & UPPERCASE != 0 { 'X' } else { 'x' }
        } else if class & DIGIT != 0 {
            'd'
        } else {
            c
        };
        run = if last == Some(outline) { run + 1 } else { 0 };
        last = Some(outline);
        if run < 4 {
            shape.push(outline);
        }
    }
    shape
}

/// MurmurHash64A with seed 1.
fn murmur64a(bytes: &[u8]) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut hash = 1 ^ (bytes.len() as u64).wrapping_mul(M);
    let (blocks, tail) = bytes.as_chunks::<8>();
    for block in blocks {
        let mut k = u64::from_le_bytes(*block).wrapping_mul(M);
        k ^= k >> R;
        hash = (hash ^ k.wrapping_mul(M)).wrapping_mul(M);
    }
    if !tail.is_empty() {
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(M);
    }
    hash ^= hash >> R;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> R)
}

/// The four rows of a hash embedding table, before they are reduced to its length: the two halves
/// of `MurmurHash3_x64_128` over one number.
pub(crate) fn hash_rows(id: u64, seed: u64) -> [u32; 4] {
    fn mix(mut h: u64) -> u64 {
        h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        h ^ (h >> 33)
    }
    let k = id.wrapping_mul(0x87c3_7b91_1142_53d5).rotate_left(31);
    let mut h1 = k.wrapping_mul(0x4cf5_ad43_2745_937f) ^ seed ^ 8;
    let mut h2 = seed ^ 8;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2) = (mix(h1), mix(h2));
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    [h1 as u32, (h1 >> 32) as u32, h2 as u32, (h2 >> 32) as u32]
}
