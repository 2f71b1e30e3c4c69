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
pub(super) fn word_within(text: &[u8], start: usize, count: usize, list: &[&str]) -> bool {
    words_before(text, start)
        .take(count)
        .any(|word| in_list(word, list))
}

/// Whether `word` is one of `list` without regard to ASCII case. Entries of four letters or more
/// also stand for compounds that begin or end with them (`phoneNumber`, `Telefonnummer`).
pub(super) fn in_list(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|known| {
        let known = known.as_bytes();
        if word.len() < known.len() {
            return false;
        }
        let compound = known.len() >= 4;
        (word.len() == known.len() || compound)
            && (word[..known.len()].eq_ignore_ascii_case(known)
                || compound && word[word.len() - known.len()..].eq_ignore_ascii_case(known))
    })
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
        assert!(in_list(b"phoneNumber", &["phone"]) && in_list(b"Mobiltelefon", &["telefon"]));
        assert!(!in_list(b"hotel", &["tel"]) && in_list(b"TEL", &["tel"]));
    }
}
