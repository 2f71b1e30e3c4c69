//! What a caller knows of a text already, and what remains to be read.

use std::ops::Range;

use crate::window;

/// What a caller knows of a text already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// What was found otherwise, in rising order and apart. A name that lies within it is not looked
    /// for; one that reaches beyond it is.
    pub found: &'a [Range<usize>],
    /// Where a text, in which nothing was left to be found, was edited since, in rising order and
    /// apart; other lines are not read again. None: all of it is new.
    pub edited: Option<&'a [Range<usize>]>,
}

/// A piece of text that is read by itself, and what is known in it.
#[derive(Clone, Debug)]
pub(crate) struct Window<'a> {
    pub(crate) range: Range<usize>,
    /// Those known ranges that meet the window.
    pub(crate) known: &'a [Range<usize>],
}

impl Window<'_> {
    /// Whether a part of the window lies within what is known.
    pub(crate) fn knows(&self, part: &Range<usize>) -> bool {
        let around = |known: &Range<usize>| known.start <= part.start && part.end <= known.end;
        self.known.iter().any(around)
    }
}

impl<'a> Known<'a> {
    /// The windows of a text that have to be read.
    pub(crate) fn windows(self, text: &str) -> impl Iterator<Item = Window<'a>> {
        let mut edits = self.edited.map(|edits| edits.iter().peekable());
        let is_new = move |line: &Range<usize>| {
            let Some(edits) = &mut edits else { return true };
            while edits.next_if(|edit| edit.end < line.start).is_some() {}
            edits.peek().is_some_and(|edit| edit.start <= line.end)
        };
        let mut found = self.found;
        let pieces = window::lines(text).filter(is_new);
        pieces
            .flat_map(|line| window::pieces(text, line))
            .map(move |range| {
                let behind = found.iter().take_while(|known| known.end <= range.start);
                found = &found[behind.count()..];
                let met = found.iter().take_while(|known| known.start < range.end);
                let known = &found[..met.count()];
                Window { range, known }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(known: Known<'_>, text: &str, expected: &[(&str, usize)]) {
        let windows = known.windows(text);
        let windows: Vec<_> = windows
            .map(|window| (&text[window.range], window.known.len()))
            .collect();
        assert_eq!(windows, expected);
    }

    #[test]
    fn a_window_has_what_is_known_in_it() {
        let found = &[0..2, 3..5, 6..9, 9..12];
        let known = Known {
            found,
            ..Known::default()
        };
        check(
            known,
            "ab cde\nfgh ijk\nl",
            &[("ab cde", 2), ("fgh ijk", 2), ("l", 0)],
        );
        check(Known::default(), "ab\ncd", &[("ab", 0), ("cd", 0)]);
    }

    #[test]
    fn lines_without_an_edit_are_left_out() {
        let text = "one\ntwo\nsix\n";
        for (edits, expected) in [
            (&[][..], &[][..]),
            (&[(0, 1)], &["one"]),
            // What was taken away may have stood at the end of one line or the beginning of another.
            (&[(3, 3)], &["one"]),
            (&[(4, 4)], &["two"]),
            (&[(3, 4)], &["one", "two"]),
            (&[(0, 1), (9, 10)], &["one", "six"]),
            (&[(12, 12)], &[]),
        ] {
            let edited: Vec<_> = edits.iter().map(|(start, end)| *start..*end).collect();
            let known = Known {
                edited: Some(&edited),
                ..Known::default()
            };
            let expected: Vec<_> = expected.iter().map(|line| (*line, 0)).collect();
            check(known, text, &expected);
        }
    }
}
