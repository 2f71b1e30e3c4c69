//! Looking again at a text that was looked at before, and edited since.

use std::ops::Range;

use rayon::prelude::*;

use super::{CROSSOVER, Context, Detectors, Finding, SHARD_MIN, scan, views};

/// How far before an edit a rule may begin that reads up to it, and how far behind one that looks
/// back at it, in bytes. Rules reach farther only as [`near`] says.
const NEAR: usize = 192;
/// The same for values in quotes, and for addresses that are spelled out, each on one line.
const FAR: usize = 640;

/// How often a window grows, at most.
const GROWTH: usize = 8;

/// Below this many bytes the whole is read: a name beside a short text may speak for all of it.
const SHORT: usize = 1024;

impl Detectors {
    /// The same as [`find_sharded`](Self::find_sharded), for a text in which everything that it
    /// found was edited away: `edited` tells what was written in its place, in rising order.
    ///
    /// What is found now reads an edit: whatever does not was there before, so it was found, or it
    /// overlapped what was found, and was edited away. So only the neighbourhoods of the edits are
    /// scanned. What is not local (tables, patterns, recognizers) reads everything, as ever.
    pub fn find_near(
        &self,
        text: &str,
        edited: impl Iterator<Item = Range<usize>>,
        cx: Context<'_>,
        out: &mut Vec<Finding>,
    ) {
        let mut edited = edited.peekable();
        let mut windows: Vec<Range<usize>> = Vec::new();
        while let Some(mut edit) = edited.next() {
            while let Some(next) = edited.next_if(|next| next.start <= edit.end + 2 * NEAR) {
                edit.end = next.end;
            }
            // What is there already, or comes next, need not be walked to once more.
            let low = windows.last().map_or(0, |last| last.end.min(edit.start));
            let high = edited.peek().map_or(text.len(), |next| next.start);
            let near = near(text.as_bytes(), &edit, low, high);
            match windows.last_mut() {
                Some(last) if near.start <= last.end => last.end = near.end,
                _ => windows.push(near),
            }
        }
        let bytes: usize = windows.iter().map(ExactSizeIterator::len).sum();
        if text.len() < SHORT || bytes > text.len() / 4 * 3 {
            return self.find_sharded(text, cx, out);
        }
        out.clear();
        let scan_some = |windows: &[Range<usize>]| {
            let (mut found, mut odd) = (Vec::new(), Vec::new());
            let all = windows
                .iter()
                .all(|window| self.scan_window(text.as_bytes(), window, &mut found, &mut odd));
            all.then_some((found, odd))
        };
        let scanned: Option<Vec<_>> = if bytes < CROSSOVER {
            scan_some(&windows).map(|one| vec![one])
        } else {
            let many = (windows.len() * SHARD_MIN / bytes).max(1);
            windows.par_chunks(many).map(scan_some).collect()
        };
        let Some(scanned) = scanned else {
            return self.find_sharded(text, cx, out);
        };
        let mut odd = Vec::new();
        for (found, places) in &scanned {
            out.extend_from_slice(found);
            odd.extend_from_slice(places);
        }
        // Windows that grew may overlap.
        odd.sort_unstable();
        odd.dedup();
        views::find(text, &odd, &self.rules, out);
        self.find_beside(text, cx, out);
        self.settle(text, out);
    }

    /// Scans a window. What stands in disguise reads as those around it do, in a chain, so that the
    /// window grows until it holds all of them. Tells whether it could.
    fn scan_window(
        &self,
        text: &[u8],
        window: &Range<usize>,
        found: &mut Vec<Finding>,
        odd: &mut Vec<usize>,
    ) -> bool {
        let first = odd.len();
        let Range { mut start, mut end } = *window;
        scan::scan(text, start, end, &self.rules, found, odd);
        let Some(mut low) = odd.get(first).copied() else {
            return true;
        };
        let mut high = odd.last().copied().unwrap_or(low);
        for _ in 0..GROWTH {
            let before = start > 0 && low < start + views::REACH;
            let behind = end < text.len() && high + views::REACH > end;
            if before {
                let more = odd.len();
                let from = start.saturating_sub(views::REACH);
                scan::scan(text, from, start, &self.rules, found, odd);
                start = from;
                low = odd.get(more).copied().unwrap_or(low);
            }
            if behind {
                let more = odd.len();
                let to = text.len().min(end + views::REACH);
                scan::scan(text, end, to, &self.rules, found, odd);
                end = to;
                high = odd[more..].last().copied().unwrap_or(high);
            }
            if !before && !behind {
                return true;
            }
        }
        false
    }
}

/// Where a place may be judged by what stands at `edit`.
///
/// Rules read on within a run without white space (a key, a token, an address), to the end of a
/// value in quotes, and from `dot` to `dot` of an address that is spelled out. Runs are followed as
/// far as `low` and `high`.
fn near(text: &[u8], edit: &Range<usize>, low: usize, high: usize) -> Range<usize> {
    let is_space = u8::is_ascii_whitespace;

    let before = &text[low.max(edit.start.saturating_sub(scan::REACH))..edit.start];
    let run = before.iter().rev().take_while(|byte| !is_space(byte));
    let mut start = edit.start.saturating_sub(NEAR + run.count());
    let line = edit.start.saturating_sub(FAR);
    let line = line + memchr::memrchr(b'\n', &text[line..edit.start]).map_or(0, |at| at + 1);
    let far = text.get(line..start).unwrap_or_default();
    if memchr::memchr3(b'"', b'\'', b'`', far).is_some() || has_dot(far) {
        start = line;
    }

    let behind = &text[edit.end..high.min(edit.end + scan::REACH)];
    let run = behind.iter().take_while(|byte| !is_space(byte));
    let mut end = text.len().min(edit.end + NEAR + run.count());
    let line = &text[edit.end..text.len().min(edit.end + FAR)];
    let line = edit.end + memchr::memchr(b'\n', line).unwrap_or(line.len());
    if has_dot(text.get(end..line).unwrap_or_default()) {
        end = line;
    }
    start..end
}

/// Whether `dot` stands in a text, in letters of either case.
fn has_dot(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'd', b'D', text).any(|at| {
        text[at + 1..]
            .get(..2)
            .is_some_and(|rest| rest.eq_ignore_ascii_case(b"ot"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::detect::Settings;
    use crate::detect::tests::PIECES;

    /// The text with everything that is found replaced, in turn, by `news`; and where they stand.
    fn edited(detectors: &Detectors, text: &str, news: &[&str]) -> (String, Vec<Range<usize>>) {
        let mut found = Vec::new();
        detectors.find(text, Context::default(), &mut found);
        let (mut out, mut edits, mut done) = (String::new(), Vec::new(), 0);
        for (finding, new) in found.iter().zip(news.iter().cycle()) {
            out.push_str(&text[done..finding.start]);
            edits.push(out.len()..out.len() + new.len());
            out.push_str(new);
            done = finding.end;
        }
        out.push_str(&text[done..]);
        (out, edits)
    }

    fn both(detectors: &Detectors, text: &str, edits: &[Range<usize>]) -> [Vec<Finding>; 2] {
        let (mut whole, mut near) = (Vec::new(), Vec::new());
        detectors.find(text, Context::default(), &mut whole);
        detectors.find_near(text, edits.iter().cloned(), Context::default(), &mut near);
        [whole, near]
    }

    fn check(text: &str, news: &[&str]) -> usize {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let (text, edits) = edited(&detectors, text, news);
        let [whole, near] = both(&detectors, &text, &edits);
        assert_eq!(whole, near, "{text}");
        near.len()
    }

    /// Nothing in it looks like anything.
    fn filler(length: usize) -> String {
        "lorem ipsum dolor sit amet, ".repeat(length / 28 + 1)
    }

    #[test]
    fn what_an_edit_forms_is_found() {
        let (before, after) = (filler(1500), filler(1500));
        for (text, new) in [
            // In it, from what stands before it, and from what stands behind it.
            ("marie@example.eu", "lea@example.eu"),
            ("lea@203.0.113.9", "example.eu"),
            ("card 4111 1111 1111 203.0.113.9", "1111"),
            ("203.0.113.9 555-0132", "+1 212"),
        ] {
            let text = format!("{before}{text} {after}");
            assert_eq!(check(&text, &[new]), 1, "{text}");
        }
        let text = format!("{before}203.0.113.9 {after}");
        assert_eq!(check(&text, &["[IP_ADDRESS_0]"]), 0);
    }

    #[test]
    fn long_runs_are_read_to_their_ends() {
        let run = "aZ3".repeat(900);
        for text in [
            format!("{} ey{run}.203.0.113.9 {}", filler(1500), filler(1500)),
            format!(
                "{} https://u:{run}203.0.113.9@h {}",
                filler(1500),
                filler(1500)
            ),
            format!(
                "{} password = \"{} 203.0.113.9\" {}",
                filler(1500),
                filler(400),
                filler(1500)
            ),
        ] {
            for new in ["", "x", "[IP_ADDRESS_0]", "\"", "\n"] {
                check(&text, &[new]);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn as_if_all_were_read(
            parts in prop::collection::vec(
                prop_oneof![
                    4 => prop::collection::vec(prop::sample::select(PIECES), 1..12)
                        .prop_map(|pieces| pieces.concat()),
                    1 => (0_usize..900).prop_map(filler),
                ],
                1..14,
            ),
            news in prop::collection::vec(
                prop_oneof![
                    2 => Just("[EMAIL_0]"),
                    1 => prop::sample::select(PIECES),
                    1 => Just(""),
                ],
                1..6,
            ),
        ) {
            check(&parts.concat(), &news);
        }
    }
}
