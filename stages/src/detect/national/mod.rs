//! National, tax, health and travel-document numbers of people.
//!
//! A number is found by its *shape* (the official ways of writing it), its *check digits*, and the
//! *words beside it*. Which of the three suffice is a property of each rule: fifteen digits that
//! satisfy the French key are a NIR wherever they stand, while nine digits that satisfy the Dutch
//! elfproef are a BSN only where something says so, because every eleventh number satisfies it.
//!
//! Everything is local: a verdict reads at most [`REACH_LEFT`] bytes before and [`REACH_RIGHT`]
//! bytes from the start of the candidate, and does a bounded amount of work.

mod americas;
mod asia;
mod checks;
mod context;
mod documents;
mod europe;
mod pacific;
mod packs;
mod rule;
mod shape;

use context::Context;
pub(crate) use packs::Packs;
use packs::Run;
use rule::{Compact, Format};
use shape::Shape;

/// Bytes before a candidate that a verdict may read.
pub(crate) const REACH_LEFT: usize = context::WINDOW_LEFT;
/// Bytes from the start of a candidate that a verdict may read.
pub(crate) const REACH_RIGHT: usize = rule::LONGEST_TEXT + context::WINDOW_RIGHT;

/// How sure a verdict is that has a correct number and a word that names it.
const NAMED: u8 = 97;
/// The same where the word stands after the number.
const NAMED_AFTER: u8 = 85;
/// From this confidence on, digits alone are evidence enough in a JSON number.
const CERTAIN: u8 = 80;

/// Below this confidence a bare number is reported only on request.
const CREDIBLE: u8 = rule::RARE_SUSPECT;
/// Below this confidence a bare number is a suspect, which another name acquits.
const SURE: u8 = 50;

/// A number that belongs to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Where the number ends; it starts where it was looked for.
    pub(crate) end: usize,
    /// The category, such as `PESEL_PL`.
    pub(crate) name: &'static str,
    /// 0 to 100.
    pub(crate) confidence: u8,
    /// The rule that found it, such as `pl.pesel`.
    pub(crate) rule: &'static str,
}

/// The number that starts at `start`, where a run of letters and digits begins.
pub(crate) fn at(text: &[u8], start: usize, packs: &Packs) -> Option<Hit> {
    in_field(text, start, packs, None)
}

/// Like [`at`], in a field (a JSON member, a CSV column) whose name is known.
pub(crate) fn in_field(
    text: &[u8],
    start: usize,
    packs: &Packs,
    field: Option<&str>,
) -> Option<Hit> {
    let run = Run::read(text, start);
    let may_adjoin = || context::may_adjoin(text, start, field);
    let formats = packs.starting_with(&run, text, may_adjoin);
    if formats.is_empty() || inside_a_number(text, start) {
        return None;
    }
    let shape = run.is_number().then(|| Shape::read(text, start));
    let next = text.get(run.end).copied().unwrap_or(0);
    let mut context = Context::new(text, start, field);
    let floor = if packs.suspects { 1 } else { CREDIBLE };
    let mut best: Option<Hit> = None;
    // Formats with the same mask stand side by side: it is read once.
    let mut mask: &[u8] = &[];
    let mut read: Option<(usize, Compact)> = None;
    for at in formats {
        if shape.is_some_and(|shape| !packs.patterns[at].fits(shape)) {
            continue;
        }
        let format = &packs.formats[at];
        if !format.goes_on_with(next) {
            continue;
        }
        // Without a word in reach only what stands for itself can be found: no check is needed.
        if format.bare < floor && !context.may_be_named(next) {
            continue;
        }
        if mask != format.mask {
            mask = format.mask;
            read = format.read(text, start);
        }
        let Some((end, compact)) = &read else {
            continue;
        };
        if !(format.rule.check)(compact.as_slice()) {
            continue;
        }
        let confidence = confidence(&mut context, format, *end, compact, packs.suspects);
        let better = best.is_none_or(|b| (confidence, *end) > (b.confidence, b.end));
        if confidence > 0 && better {
            best = Some(Hit {
                end: *end,
                name: format.rule.name,
                confidence,
                rule: format.rule.id,
            });
        }
    }
    best
}

/// The category and confidence of a JSON number, where the digits alone are certain or the name of
/// its field says what it is. Leading zeros, which a JSON number cannot have, are put back.
pub(crate) fn number(digits: &str, packs: &Packs, field: Option<&str>) -> Option<Hit> {
    if digits.len() > 20 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let named = |format: &Format| {
        field.is_some_and(|name| context::field_names(name, format.rule.keywords))
    };
    let mut best: Option<Hit> = None;
    for missing in 0..=2 {
        let padded = [&b"00"[..missing], digits.as_bytes()].concat();
        for format in &packs.formats[packs.starting_with(&Run::read(&padded, 0), &padded, || true)]
        {
            let Some((end, compact)) = format.read(&padded, 0) else {
                continue;
            };
            if end != padded.len() || !(format.rule.check)(compact.as_slice()) {
                continue;
            }
            let confidence = match (named(format), missing) {
                (true, _) => NAMED,
                (false, 0) if format.bare >= CERTAIN && plausible_alone(format, &compact) => {
                    format.bare
                }
                _ => continue,
            };
            if best.is_none_or(|b| confidence > b.confidence) {
                let (name, rule) = (format.rule.name, format.rule.id);
                best = Some(Hit {
                    end: digits.len(),
                    name,
                    confidence,
                    rule,
                });
            }
        }
    }
    best
}

/// The words that name a number, for each category, as they stand in a field's name: lower case,
/// without spaces.
pub(crate) fn keywords() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    packs::rules().map(|rule| (rule.name, rule.keywords))
}

fn confidence(
    context: &mut Context<'_>,
    format: &Format,
    end: usize,
    compact: &Compact,
    suspects: bool,
) -> u8 {
    let rule = format.rule;
    if rule.close_words {
        return if context.adjoins(&format.keywords) {
            NAMED - 10
        } else {
            0
        };
    }
    if context.precedes(&format.keywords) {
        return NAMED;
    }
    if context.follows(end, &format.keywords) {
        return NAMED_AFTER;
    }
    let allowed = match format.bare {
        0 => false,
        bare @ 1..SURE => (suspects || bare >= CREDIBLE) && !context.is_labelled(),
        _ => true,
    };
    let plausible = plausible_alone(format, compact);
    if allowed && plausible && context.stands_alone(end, compact) {
        format.bare
    } else {
        0
    }
}

/// Whether a number may be one although no word names it: not a time, not a round number.
fn plausible_alone(format: &Format, compact: &Compact) -> bool {
    let number = compact.as_slice();
    !checks::like_timestamp(number)
        && (format.grouped
            || !checks::like_unix_time(number)
                && compact.is_varied()
                && (format.rule.alone)(number))
}

/// Whether the digits at `start` continue a number: a decimal fraction, or an international
/// telephone number.
fn inside_a_number(text: &[u8], start: usize) -> bool {
    if !text[start].is_ascii_digit() {
        return false;
    }
    match text[..start] {
        [.., b'+'] => true,
        [.., before, b'.'] => before.is_ascii_digit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
