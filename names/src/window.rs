//! Cutting text into windows: what the model sees at once.
//!
//! A window is a line; a line longer than [`LONGEST`] is cut further. What is found in a window
//! depends on nothing outside it, so windows can be computed in any order, on any thread, and
//! remembered.

use std::ops::Range;

/// The most bytes a window has.
pub(crate) const LONGEST: usize = 2048;

/// The lines of a text, in order, without their ends.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    ends.map(move |end| {
        let line = start..end;
        start = end + 1;
        line
    })
}

/// The windows of a line, in order, without white space around them.
pub(crate) fn pieces(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    Pieces { text, rest: line }
}

/// The pieces of one line.
struct Pieces<'a> {
    text: &'a str,
    rest: Range<usize>,
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.text[self.rest.clone()];
        let leading = rest.len() - rest.trim_start().len();
        self.rest.start += leading;
        let rest = &self.text[self.rest.clone()];
        if rest.is_empty() {
            return None;
        }
        let length = if rest.len() <= LONGEST {
            rest.len()
        } else {
            cut(rest)
        };
        let start = self.rest.start;
        self.rest.start += length;
        Some(start..start + rest[..length].trim_end().len())
    }
}

/// Where to cut a line that is longer than a window: in its second half, after the last sentence
/// or field, else at the last white space, else wherever the window is full.
fn cut(line: &str) -> usize {
    let full = boundary(line, LONGEST);
    let half = boundary(line, LONGEST / 2);
    let tail = &line.as_bytes()[half..full];
    let ends_field = |pair: &[u8]| {
        matches!(
            pair,
            [b'.' | b'!' | b'?' | b';', b' '] | [b'}' | b']', b','] | [b'"', b',']
        )
    };
    let space = || tail.iter().rposition(u8::is_ascii_whitespace);
    let at = tail
        .windows(2)
        .rposition(ends_field)
        .map(|at| at + 1)
        .or_else(space);
    at.map_or(full, |at| half + at + 1)
}

/// The last boundary between characters at or before a byte.
fn boundary(line: &str, mut at: usize) -> usize {
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(text: &str) -> impl Iterator<Item = Range<usize>> {
        lines(text).flat_map(|line| pieces(text, line))
    }

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = windows(text).map(|window| &text[window]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_are_windows() {
        check("", &[]);
        check(" \n\t\n", &[]);
        check("one\r\n  two \n\nthree", &["one", "two", "three"]);
    }

    #[test]
    fn a_long_line_is_cut_after_a_sentence_or_field() {
        let sentence = format!("{}. ", "x".repeat(1500));
        let text = format!("{sentence}{sentence}tail");
        check(&text, &[sentence.trim_end(), &format!("{sentence}tail")]);
        let field = format!("\"{}\",", "y".repeat(1500));
        check(&format!("{field}{field}"), &[&field, &field]);
        let word = format!("{} ", "z".repeat(1500));
        check(
            &format!("{word}{word}"),
            &[word.trim_end(), word.trim_end()],
        );
    }

    /// So the work is in proportion to the text: no window is long, and each second one is not short.
    #[test]
    fn windows_are_as_many_as_the_text_is_long() {
        for unit in [
            "a",
            "日",
            "\u{301}",
            "a.",
            "{\"",
            "\",\"",
            "x ",
            "Marie ",
            "é\u{200d}",
        ] {
            let text = unit.repeat((1 << 20) / unit.len());
            let pieces: Vec<_> = windows(&text).collect();
            assert!(pieces.iter().all(|piece| piece.len() <= LONGEST));
            assert!(pieces.len() <= text.len() / (LONGEST / 2) + 2, "{unit}");
        }
    }

    #[test]
    fn one_long_word_is_cut_between_characters() {
        let text = "日".repeat(3000);
        let pieces: Vec<_> = windows(&text).collect();
        assert!(pieces.iter().all(|piece| piece.len() <= LONGEST));
        assert_eq!(
            pieces.iter().map(|piece| piece.len()).sum::<usize>(),
            text.len()
        );
    }
}
