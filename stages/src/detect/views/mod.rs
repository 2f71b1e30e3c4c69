//! Views: pieces of a text without its disguise, looked at like any text, with a way back.
//!
//! The scan notes where a disguise stands. The text around those places, as wide as the rules
//! look, is written out plain together with a map of where each byte came from; what the rules
//! find in it and what touches a disguise is a finding of the original. Text without disguise
//! costs nothing.

mod base64;
mod plain;

use super::Finding;
use super::scan::{Rules, scan_plain};

pub(super) use self::base64::find as find_in_base64;
pub(super) use self::plain::is_trigger;

/// How far around a disguise the plain text is looked at, in bytes.
const AROUND: usize = 128;
/// How much farther a piece goes to begin and end at white space.
const EDGE: usize = 64;
/// How far from each other disguises may stand and be looked at together, at most.
pub(super) const REACH: usize = AROUND + EDGE + 4;

/// Adds what stands in disguise around `places`, which ascend.
pub(super) fn find(text: &str, places: &[usize], rules: &Rules, out: &mut Vec<Finding>) {
    let mut view = View::default();
    let mut found = Vec::new();
    let mut rest = places;
    while let Some((&first, _)) = rest.split_first() {
        let low = edge_before(text, first.saturating_sub(AROUND));
        let mut high = edge_after(text, first + AROUND);
        let mut count = 1;
        while let Some(&next) = rest.get(count)
            && next < high
        {
            high = edge_after(text, next + AROUND);
            count += 1;
        }
        rest = &rest[count..];
        view.write(text, low, high);
        found.clear();
        scan_plain(&view.text, rules, &mut found);
        out.extend(found.iter().filter_map(|finding| view.back(finding)));
    }
}

/// The start of a word at or before `i`, not too far.
fn edge_before(text: &str, i: usize) -> usize {
    let bytes = text.as_bytes();
    let low = i.saturating_sub(EDGE);
    let edge = (low..i)
        .rev()
        .find(|&j| bytes[j].is_ascii_whitespace())
        .map_or(low, |j| j + 1);
    (edge..=text.len())
        .find(|&j| text.is_char_boundary(j))
        .unwrap_or(low)
}

/// The end of a word at or behind `i`, not too far.
fn edge_after(text: &str, i: usize) -> usize {
    let bytes = text.as_bytes();
    let high = bytes.len().min(i + EDGE);
    let edge = (i.min(high)..high)
        .find(|&j| bytes[j].is_ascii_whitespace())
        .unwrap_or(high);
    (edge..=text.len())
        .find(|&j| text.is_char_boundary(j))
        .unwrap_or(high)
}

/// A piece of a text without its disguise.
#[derive(Default)]
struct View {
    text: String,
    /// For each disguise: where it stood in the view, where in the text, and how long it was in
    /// either. Between two of them both run side by side.
    marks: Vec<Mark>,
    low: usize,
}

#[derive(Clone, Copy)]
struct Mark {
    view: usize,
    view_length: usize,
    original: usize,
    original_length: usize,
}

impl View {
    fn write(&mut self, text: &str, low: usize, high: usize) {
        self.text.clear();
        self.marks.clear();
        self.low = low;
        let bytes = &text.as_bytes()[..high];
        let (mut done, mut i) = (low, low);
        while i < high {
            let disguise = matches!(bytes[i], b'\\' | b'%' | b'&' | b'=' | 0xC2..)
                .then(|| plain::plain(bytes, i))
                .flatten();
            let Some(disguise) = disguise else {
                i += 1;
                continue;
            };
            self.text.push_str(&text[done..i]);
            let view = self.text.len();
            self.text.extend(disguise.text);
            self.marks.push(Mark {
                view,
                view_length: self.text.len() - view,
                original: i,
                original_length: disguise.length,
            });
            i += disguise.length;
            done = i;
        }
        self.text.push_str(&text[done..high]);
    }

    /// The finding in the original text, if it holds or adjoins a disguise.
    fn back(&self, finding: &Finding) -> Option<Finding> {
        let Finding { start, end, .. } = *finding;
        let first = self
            .marks
            .partition_point(|mark| mark.view + mark.view_length < start);
        let touches = self.marks.get(first).is_some_and(|mark| mark.view <= end);
        touches.then(|| Finding {
            start: self.original(start, false),
            end: self.original(end, true),
            ..*finding
        })
    }

    /// Where a place of the view lies in the text. What has no width belongs to neither side.
    fn original(&self, place: usize, end: bool) -> usize {
        // The last disguise that begins before the place (an end), or ends at it or before.
        let before = self.marks.partition_point(|mark| {
            if end {
                mark.view < place
            } else {
                mark.view + mark.view_length <= place
            }
        });
        match before.checked_sub(1).map(|i| self.marks[i]) {
            None => self.low + place,
            Some(mark) => {
                let behind = mark.view + mark.view_length;
                mark.original + mark.original_length + place.saturating_sub(behind)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::detect::{Context, Detectors, Settings};

    fn values(text: &str) -> Vec<&str> {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let mut out = Vec::new();
        detectors.find(text, Context::default(), &mut out);
        out.iter().map(|f| &text[f.start..f.end]).collect()
    }

    #[test]
    fn values_in_disguise_are_found_as_they_are_written() {
        for (text, value) in [
            (
                "GET /invite?to=nadia.holm%40example.org&lang=en",
                "nadia.holm%40example.org",
            ),
            ("mail=tom%2Bbill%40example.net ", "tom%2Bbill%40example.net"),
            (r#"{"m":"jo\u0040example.org"}"#, r"jo\u0040example.org"),
            (
                "mail: petra@\u{200b}example.com",
                "petra@\u{200b}example.com",
            ),
            ("to rolf＠example.org now", "rolf＠example.org"),
            (
                "SSN 521\u{2011}44\u{2011}9382 on file",
                "521\u{2011}44\u{2011}9382",
            ),
            ("ssn 521-4\u{303}4-9382 ok", "521-4\u{303}4-9382"),
            ("call +1\u{a0}415–555–0132", "+1\u{a0}415–555–0132"),
            (
                "card ４１１１ １１１１ １１１１ １１１１ x",
                "４１１１ １１１１ １１１１ １１１１",
            ),
            (r"phones:\t212-555-1234\tx", "212-555-1234"),
            ("a&#64;example.org", "a&#64;example.org"),
            ("mail jo=40example.org", "jo=40example.org"),
        ] {
            assert_eq!(values(text), [value], "{text}");
        }
    }

    proptest! {
        #[test]
        fn places_map_back_in_order(text in "(\\\\u0040|%40|&#64;|\u{200b}|１|é|[a-z0-9@. ]){0,60}") {
            let mut view = View::default();
            view.write(&text, 0, text.len());
            let mut last = 0;
            for (place, _) in view.text.char_indices().chain([(view.text.len(), ' ')]) {
                let (start, end) = (view.original(place, false), view.original(place, true));
                prop_assert!(end <= start && last <= end, "{place}: {last} {end} {start}");
                prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
                last = end;
            }
            prop_assert_eq!(view.original(0, true), 0);
        }
    }
}
