//! Formats as sequences of literals and bounded repetitions.

use super::charset::{ALNUM, Set, UNDER, has, span};

/// A piece of a format.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// These bytes.
    Lit(&'static str),
    /// At least so many and at most so many bytes of a set, as many as there are.
    Run(Set, usize, usize),
    /// Exactly so many bytes of a set.
    Exact(Set, usize),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// The rest of the format may be missing from here on.
    Maybe,
}

/// Where `parts` end that start at `start`, if they do and no letter, digit or underscore follows.
pub(super) fn matches(parts: &[Part], text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut complete = None;
    for part in parts {
        let rest = &text[at..];
        let len = match *part {
            Part::Lit(literal) => rest
                .starts_with(literal.as_bytes())
                .then_some(literal.len()),
            Part::Run(set, min, max) => Some(span(set, rest, max)).filter(|len| *len >= min),
            Part::Exact(set, len) => (span(set, rest, len) == len).then_some(len),
            Part::OneOf(texts) => texts
                .iter()
                .find(|t| rest.starts_with(t.as_bytes()))
                .map(|t| t.len()),
            Part::Maybe => {
                complete = Some(at);
                Some(0)
            }
        };
        match (len, complete) {
            (Some(len), _) => at += len,
            (None, Some(end)) => {
                at = end;
                break;
            }
            (None, None) => return None,
        }
    }
    let ends = |at: usize| text.get(at).is_none_or(|b| !has(ALNUM | UNDER, *b));
    [Some(at), complete]
        .into_iter()
        .flatten()
        .find(|at| ends(*at))
}
