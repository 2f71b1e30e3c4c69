//! Names beside values, read into words.

use super::keywords::{Sort, sort};

/// The longest name that is read.
pub(super) const LONGEST: usize = 64;

/// The name before an operator, in lower-case words.
pub(super) struct Name {
    bytes: [u8; LONGEST],
    /// Where each word ends in `bytes`; the words stand in order.
    ends: [u8; 8],
    words: usize,
}

impl Name {
    /// The last words of `text`.
    pub(super) fn read(text: &[u8]) -> Self {
        let inner =
            |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.') || *b >= 0x80;
        let mut len = text
            .iter()
            .rev()
            .take(LONGEST)
            .take_while(|b| inner(b))
            .count();
        // `API key: …`, `mot de passe : …`: one or two more words.
        for _ in 0..2 {
            let head = &text[..text.len() - len];
            if len < 24 && head.last() == Some(&b' ') {
                let letter =
                    |b: &&u8| b.is_ascii_alphabetic() || matches!(**b, b'_' | b'-') || **b >= 0x80;
                let more = head[..head.len() - 1]
                    .iter()
                    .rev()
                    .take(24)
                    .take_while(letter)
                    .count();
                len += if more > 0 { more + 1 } else { break };
            }
        }
        let name = &text[text.len() - len..];
        let mut read = Self {
            bytes: [0; LONGEST],
            ends: [0; 8],
            words: 0,
        };
        // From the end, so that a long name keeps its last words.
        let mut words: [(usize, usize); 8] = [(0, 0); 8];
        let mut count = 0;
        let mut end = name.len();
        while end > 0 && count < 4 {
            while end > 0 && matches!(name[end - 1], b'_' | b'-' | b'.' | b' ') {
                end -= 1;
            }
            let mut from = end;
            while from > 0 && !matches!(name[from - 1], b'_' | b'-' | b'.' | b' ') {
                from -= 1;
                let here = name[from];
                let before = from.checked_sub(1).map_or(b'_', |i| name[i]);
                let next_lower = name.get(from + 1).is_some_and(u8::is_ascii_lowercase);
                let hump = here.is_ascii_uppercase()
                    && (before.is_ascii_lowercase()
                        || before.is_ascii_uppercase() && next_lower && from + 1 < end);
                let number = here.is_ascii_digit()
                    && before.is_ascii_alphabetic()
                    && name[from..end].iter().all(u8::is_ascii_digit);
                if hump || number {
                    break;
                }
            }
            if from < end {
                words[count] = (from, end);
                count += 1;
            }
            end = from;
        }
        let mut len = 0;
        for &(from, end) in words[..count].iter().rev() {
            let word = &name[from..end];
            if let Some(room) = read.bytes.get_mut(len..len + word.len()) {
                lower(word, room);
                len += word.len();
                read.ends[read.words] = len as u8;
                read.words += 1;
            }
        }
        read
    }

    /// What the name says about its value.
    pub(super) fn sort(&self) -> Option<Sort> {
        let mut words: [&[u8]; 8] = [&[]; 8];
        let mut from = 0;
        for (word, &end) in words.iter_mut().zip(&self.ends[..self.words]) {
            *word = &self.bytes[from..usize::from(end)];
            from = usize::from(end);
        }
        sort(&words[..self.words])
    }
}

/// Copies a word in lower case, where that has as many bytes.
fn lower(word: &[u8], to: &mut [u8]) {
    to.copy_from_slice(word);
    to.make_ascii_lowercase();
    if !word.is_ascii()
        && let Ok(text) = str::from_utf8(word)
    {
        let text = text.to_lowercase();
        if text.len() == to.len() {
            to.copy_from_slice(text.as_bytes());
        }
    }
}
