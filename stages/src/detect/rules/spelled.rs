//! E-mail addresses that are spelled out: `jane[at]example[dot]org`, `jane at example dot org`.

use super::Hit;
use crate::detect::bytes::{ALNUM, ALPHA, at, is, run, word_at, word_before};

/// Most labels of a spelled domain.
const LABELS: usize = 6;

/// The address around the word `at` at `place`.
pub(crate) fn verdict(text: &[u8], place: usize) -> Option<Hit> {
    let (left, right, bracketed) = brackets(text, place, place + 2)?;
    let mut start = atom_before(text, left)?;
    // `john dot doe at`: words joined by dots.
    for _ in 0..LABELS {
        let Some(dot) = dot_before(text, start) else {
            break;
        };
        let Some(atom) = atom_before(text, dot) else {
            break;
        };
        start = atom;
    }
    let mut end = label(text, right)?;
    let mut labels = 1;
    let mut spelled = false;
    let mut last = right;
    while labels < LABELS {
        let (next, word) = if at(text, end) == b'.' {
            (end + 1, false)
        } else if let Some(next) = dot_after(text, end) {
            (next, true)
        } else {
            break;
        };
        let Some(stop) = label(text, next) else { break };
        spelled |= word;
        (last, end) = (next, stop);
        labels += 1;
    }
    let top_level = end - last >= 2 && run(text, last, ALPHA, 64) == end;
    let sure = bracketed || spelled;
    (labels >= 2 && top_level && sure && !word_before(text, start) && !word_at(text, end))
        .then_some(Hit {
            start,
            end,
            confidence: 80,
            rule: "address, spelled out",
        })
}

/// What is left and right of the word at `start..end`, behind its brackets or spaces, and whether
/// there are brackets.
fn brackets(text: &[u8], start: usize, end: usize) -> Option<(usize, usize, bool)> {
    let (mut left, mut right) = (start, end);
    let open = left.checked_sub(1).map_or(0, |i| text[i]);
    let close = at(text, right);
    let bracketed = matches!(
        (open, close),
        (b'[', b']') | (b'(', b')') | (b'{', b'}') | (b'<', b'>')
    );
    if bracketed {
        (left, right) = (left - 1, right + 1);
    }
    if left > 0 && text[left - 1] == b' ' {
        left -= 1;
    }
    if at(text, right) == b' ' {
        right += 1;
    }
    (bracketed || left < start && right > end).then_some((left, right, bracketed))
}

/// The start of the local part that ends at `end`.
fn atom_before(text: &[u8], end: usize) -> Option<usize> {
    let mut start = end;
    while start > 0
        && end - start < 64
        && (is(text[start - 1], ALNUM) || matches!(text[start - 1], b'.' | b'_' | b'-' | b'+'))
    {
        start -= 1;
    }
    while start < end && !is(text[start], ALNUM) {
        start += 1;
    }
    (start < end).then_some(start)
}

fn label(text: &[u8], start: usize) -> Option<usize> {
    let limit = text.len().min(start + 64);
    let inner = |c: &u8| is(*c, ALNUM) || *c == b'-';
    let end = start
        + text
            .get(start..limit)?
            .iter()
            .take_while(|c| inner(c))
            .count();
    (end > start && text[end - 1] != b'-').then_some(end)
}

/// Where `dot`, in brackets or between spaces, begins that ends at `end`.
fn dot_before(text: &[u8], end: usize) -> Option<usize> {
    let low = end.saturating_sub(7);
    (low..end).rev().find_map(|i| {
        let word = text.get(i..i + 3)?;
        let (left, right, _) = word
            .eq_ignore_ascii_case(b"dot")
            .then(|| brackets(text, i, i + 3))??;
        (right == end).then_some(left)
    })
}

/// Where what follows `dot` begins, in brackets or between spaces, that begins at `start`.
fn dot_after(text: &[u8], start: usize) -> Option<usize> {
    (start + 1..start + 3).find_map(|i| {
        let word = text.get(i..i + 3)?;
        let (left, right, _) = word
            .eq_ignore_ascii_case(b"dot")
            .then(|| brackets(text, i, i + 3))??;
        (left == start).then_some(right)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let lower = text.to_ascii_lowercase();
        lower.match_indices("at").find_map(|(i, _)| {
            let hit = verdict(text.as_bytes(), i)?;
            Some(&text[hit.start..hit.end])
        })
    }

    #[test]
    fn addresses() {
        for address in [
            "jane[at]example[dot]org",
            "jane (at) example (dot) org",
            "jane [at] example.org",
            "john dot doe at gmail dot com",
            "jane AT example DOT co DOT uk",
        ] {
            assert_eq!(found(&format!("me: {address}, thanks")), Some(address));
        }
    }

    #[test]
    fn prose() {
        for text in [
            "look at example.org",
            "meet at noon",
            "at (at) x",
            "he was at home. Dot com",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
