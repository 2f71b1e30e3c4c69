//! What shall be read in place of parts of a message.

use bytes::{BufMut, Bytes};

use crate::json::Span;

/// Replacements for spans of one text, kept apart from it until the text leaves.
///
/// All replacements lie in one buffer, so an edit costs 16 bytes and its text, and no allocation of
/// its own.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    list: Vec<Edit>,
    texts: Vec<u8>,
    /// Whether `list` is in order of position.
    sorted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Edit {
    at: Span,
    text: Span,
}

/// Two stages want to replace overlapping parts of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two edits overlap at byte {0}")]
pub struct Overlap(pub u32);

impl Edits {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sorted: true,
            ..Self::default()
        }
    }

    /// Notes that `with` shall stand in place of the bytes at `at`.
    pub fn push(&mut self, at: Span, with: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(with);
        let text = Span::new(start, self.texts.len());
        self.sorted = match self.list.last() {
            Some(last) => self.sorted && last.at.end <= at.start,
            None => true,
        };
        self.list.push(Edit { at, text });
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Brings the edits into order. Where one span was edited twice, the later edit counts.
    pub fn settle(&mut self) -> Result<(), Overlap> {
        if self.sorted {
            return Ok(());
        }
        // Stable, so that of equal spans the later edit comes last.
        self.list.sort_by_key(|edit| edit.at);
        self.list.dedup_by(|later, kept| {
            let same = later.at == kept.at && !later.at.is_empty();
            if same {
                kept.text = later.text;
            }
            same
        });
        for pair in self.list.windows(2) {
            if pair[0].at.end > pair[1].at.start {
                return Err(Overlap(pair[1].at.start));
            }
        }
        self.sorted = true;
        Ok(())
    }

    /// The edits, as position and replacement, in order once settled.
    pub fn iter(&self) -> impl Iterator<Item = (Span, &[u8])> {
        self.list
            .iter()
            .map(|edit| (edit.at, edit.text.of(&self.texts)))
    }

    /// How long `raw` is once edited.
    #[must_use]
    pub fn length(&self, raw: &[u8]) -> usize {
        let gone: usize = self.list.iter().map(|edit| edit.at.len()).sum();
        let come: usize = self.list.iter().map(|edit| edit.text.len()).sum();
        raw.len() - gone + come
    }

    /// Appends `raw` to `out`, edited. The edits must have been settled.
    pub fn write(&self, raw: &[u8], out: &mut impl BufMut) {
        debug_assert!(self.sorted, "edits are settled before they are written");
        let mut done = 0;
        for (at, with) in self.iter() {
            out.put_slice(&raw[done..at.start as usize]);
            out.put_slice(with);
            done = at.end as usize;
        }
        out.put_slice(&raw[done..]);
    }

    /// `raw`, edited, as pieces that share its memory where nothing was edited.
    pub(crate) fn pieces(self, raw: &Bytes) -> Vec<Bytes> {
        let texts = Bytes::from(self.texts);
        let mut pieces = Vec::with_capacity(2 * self.list.len() + 1);
        let mut done = 0;
        for Edit { at, text } in self.list {
            pieces.push(raw.slice(done..at.start as usize));
            pieces.push(texts.slice(text.range()));
            done = at.end as usize;
        }
        pieces.push(raw.slice(done..));
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(raw: &str, edits: &[(usize, usize, &str)]) -> Result<String, Overlap> {
        let mut all = Edits::new();
        for (start, end, with) in edits {
            all.push(Span::new(*start, *end), with.as_bytes());
        }
        all.settle()?;
        let mut out = Vec::new();
        all.write(raw.as_bytes(), &mut out);
        assert_eq!(all.length(raw.as_bytes()), out.len());
        assert_eq!(
            all.pieces(&Bytes::copy_from_slice(raw.as_bytes())).concat(),
            out
        );
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn edits_in_any_order() {
        assert_eq!(edited("abcdef", &[]).unwrap(), "abcdef");
        assert_eq!(
            edited("abcdef", &[(4, 5, "E"), (0, 1, ""), (2, 2, "+")]).unwrap(),
            "b+cdEf"
        );
        assert_eq!(edited("abcdef", &[(0, 6, "x")]).unwrap(), "x");
    }

    #[test]
    fn the_later_edit_of_one_span_counts_and_overlaps_are_refused() {
        assert_eq!(
            edited("abcdef", &[(1, 2, "1"), (1, 2, "2")]).unwrap(),
            "a2cdef"
        );
        assert_eq!(
            edited("abcdef", &[(1, 3, "1"), (2, 4, "2")]),
            Err(Overlap(2))
        );
    }
}
