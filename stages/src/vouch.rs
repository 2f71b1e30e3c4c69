//! What of a message was looked through already, and where it was edited since.

use crate::edits::Edits;
use crate::json::Span;

/// The strings of a message that every detector looked through and of which everything that was
/// found was edited away, in rising order.
///
/// Who looks again need not read again what stands in them as it did, beyond the reach of an edit.
#[derive(Clone, Debug, Default)]
pub struct Vouched {
    strings: Vec<Entry>,
    /// Where the strings were edited, one after the other.
    edits: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Span,
    read: Reading,
    /// Where its edits end in the list of all.
    edits: usize,
}

/// A string that was looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked<'a> {
    /// Its content, without the quotes.
    pub at: Span,
    /// How it was read.
    pub read: Reading,
    /// What was written into it since, in rising order. Empty: it is as it was.
    pub edits: &'a [Span],
}

/// How a string was read when it was looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As JSON, each string, number and key in it for itself.
    Json,
    /// As one text.
    Text,
}

impl Vouched {
    pub(crate) fn push(&mut self, at: Span, read: Reading) {
        debug_assert!(
            self.strings
                .last()
                .is_none_or(|last| last.at.end <= at.start)
        );
        let edits = self.edits.len();
        self.strings.push(Entry { at, read, edits });
    }

    /// The strings, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = Looked<'_>> {
        let mut first = 0;
        self.strings.iter().map(move |&Entry { at, read, edits }| {
            let edits = &self.edits[std::mem::replace(&mut first, edits)..edits];
            Looked { at, read, edits }
        })
    }

    /// Moves everything to where it stands once `edits`, which were settled, are made. A string
    /// that an edit cuts into is not vouched for any more.
    pub(crate) fn carry(&mut self, edits: &Edits) {
        let old = std::mem::take(self);
        self.strings.reserve_exact(old.strings.len());
        let mut edits = edits.iter().peekable();
        let mut moved = 0_i64;
        let by = |at: u32, moved: i64| (i64::from(at) + moved) as usize;
        for Looked {
            at: string,
            read,
            edits: earlier,
        } in old.iter()
        {
            let mut earlier = earlier.iter().peekable();
            while let Some((at, with)) =
                edits.next_if(|(at, _)| at.end <= string.start && at.start < string.start)
            {
                moved += with.len() as i64 - at.len() as i64;
            }
            let start = by(string.start, moved);
            let first = self.edits.len();
            let mut whole = true;
            while let Some((at, with)) = edits
                .next_if(|(at, _)| at.start < string.end || at.is_empty() && at.start == string.end)
            {
                whole &= string.start <= at.start && at.end <= string.end;
                while let Some(span) = earlier.next_if(|span| span.end <= at.start) {
                    let span = Span::new(by(span.start, moved), by(span.end, moved));
                    self.edits.push(span);
                }
                while let Some(span) = earlier.next_if(|span| span.start < at.end) {
                    whole &= at.start <= span.start && span.end <= at.end;
                }
                let start = by(at.start, moved);
                self.edits.push(Span::new(start, start + with.len()));
                moved += with.len() as i64 - at.len() as i64;
            }
            for span in earlier {
                let span = Span::new(by(span.start, moved), by(span.end, moved));
                self.edits.push(span);
            }
            if whole {
                self.push(Span::new(start, by(string.end, moved)), read);
            } else {
                self.edits.truncate(first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Start and end of a string, and of its edits.
    type Place = (u32, u32, Vec<(u32, u32)>);

    fn vouched(strings: &[(usize, usize)]) -> Vouched {
        let mut vouched = Vouched::default();
        for &(start, end) in strings {
            vouched.push(Span::new(start, end), Reading::Text);
        }
        vouched
    }

    fn carried(vouched: &mut Vouched, edits: &[(usize, usize, &str)]) -> Vec<Place> {
        let mut list = Edits::new();
        for &(start, end, with) in edits {
            list.push(Span::new(start, end), with.as_bytes());
        }
        list.settle().unwrap();
        vouched.carry(&list);
        vouched
            .iter()
            .map(|looked| {
                let edits = looked.edits.iter().map(|at| (at.start, at.end));
                (looked.at.start, looked.at.end, edits.collect())
            })
            .collect()
    }

    #[test]
    fn strings_move_along_with_their_edits() {
        let mut strings = vouched(&[(10, 20), (30, 40), (50, 60)]);
        let edits = [
            (0, 2, "four"),
            (10, 11, ""),
            (15, 18, "longer"),
            (40, 40, "!"),
            (45, 46, ""),
        ];
        assert_eq!(
            carried(&mut strings, &edits),
            [
                (12, 24, vec![(12, 12), (16, 22)]),
                (34, 45, vec![(44, 45)]),
                (54, 64, vec![]),
            ]
        );
        // Once more: earlier edits are kept, and may be edited themselves.
        let edits = [(14, 15, "++"), (16, 22, "x"), (44, 45, "")];
        assert_eq!(
            carried(&mut strings, &edits),
            [
                (12, 20, vec![(12, 12), (14, 16), (17, 18)]),
                (30, 40, vec![(40, 40)]),
                (49, 59, vec![]),
            ]
        );
    }

    #[test]
    fn what_is_cut_into_is_not_vouched_for() {
        let mut strings = vouched(&[(10, 20), (30, 40), (50, 60)]);
        let edits = [(9, 12, ""), (39, 41, "x"), (48, 50, "")];
        assert_eq!(carried(&mut strings, &edits), [(44, 54, vec![])]);
        let edits = [(45, 47, "a")];
        assert_eq!(carried(&mut strings, &edits), [(44, 53, vec![(45, 46)])]);
        let edits = [(44, 45, "")];
        assert_eq!(
            carried(&mut strings, &edits),
            [(44, 52, vec![(44, 44), (44, 45)])]
        );
        let edits = [(43, 45, "")];
        assert_eq!(carried(&mut strings, &edits), []);
    }
}
