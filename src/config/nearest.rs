//! The known word that a mistyped one was meant to be.

use strsim::{jaro_winkler, normalized_damerau_levenshtein};

/// From this likeness on, of 0 to 1, a word is likely to be meant for another.
const CLOSE: f64 = 0.67;

/// From this share of equal letters on a word is another with a slip or two of the hand.
const SLIP: f64 = 0.75;

/// Among `known` the word most like `word`.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // Of two that are equally alike the first is named.
    known
        .iter()
        .copied()
        .rev()
        .max_by(|a, b| likeness(word, a).total_cmp(&likeness(word, b)))
}

/// Whether `word` is likely to be meant for `known`.
pub(super) fn is_close(word: &str, known: &str) -> bool {
    likeness(word, known) >= CLOSE
}

/// Whether `word` is `known` but for a slip or two of the hand.
pub(super) fn is_slip(word: &str, known: &str) -> bool {
    normalized_damerau_levenshtein(&plain(word), &plain(known)) >= SLIP
}

/// How alike two words are, from 0 to 1, without regard to case and to how words are joined.
fn likeness(word: &str, known: &str) -> f64 {
    let (word, known) = (plain(word), plain(known));
    let part = word.len() >= 4 && known.contains(&word);
    let contained = if part { CLOSE } else { 0.0 };
    jaro_winkler(&word, &known)
        .max(normalized_damerau_levenshtein(&word, &known))
        .max(contained)
}

fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_word_that_was_meant() {
        let known = [
            "command",
            "args",
            "env",
            "cwd",
            "startup_timeout",
            "request_timeout",
            "trust",
            "sanitize",
            "detect_emails",
            "detect_phones",
        ];
        for (typed, meant) in [
            ("arguments", "args"),
            ("sanitise", "sanitize"),
            ("detect_email", "detect_emails"),
            ("detectPhones", "detect_phones"),
            ("timeout", "startup_timeout"),
            ("enviroment", "env"),
            ("comand", "command"),
        ] {
            assert_eq!(nearest(typed, &known), Some(meant), "{typed}");
        }
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn tells_a_slip_from_another_word() {
        assert!(is_close("sanitise", "sanitize"));
        assert!(is_close("timeout", "startup_timeout"));
        assert!(!is_close("gallery", "sanitize"));
        assert!(is_slip("commnad", "command"));
        assert!(is_slip("logLevel", "log_level"));
        assert!(!is_slip("timeout", "startup_timeout"));
        assert!(!is_slip("autoUpdates", "audit"));
    }
}
