//! Values behind escapes in text that is not JSON as a whole: a log line that quotes a payload, a
//! sentence with an object in it.

use std::sync::LazyLock;

use memchr::memmem;

use crate::detect::{Context, Detectors, Finding};
use crate::json::{self, Offsets, Span};

/// How an escaped ASCII character begins.
static ESCAPE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\\u00"));

/// What is found in a text, and in what its escapes say.
#[derive(Default)]
pub(crate) struct Found {
    list: Vec<Finding>,
    view: Vec<Finding>,
    decoded: Vec<u8>,
    /// For each of `list`, whether it is behind escapes. Empty: none is.
    hidden: Vec<bool>,
}

impl Found {
    /// Finds all in `text`.
    pub(crate) fn find(&mut self, detectors: &Detectors, text: &str, field: Option<&str>) {
        self.hidden.clear();
        detectors.find_sharded(text, Context { field }, &mut self.list);
        if ESCAPE.find(text.as_bytes()).is_some() {
            self.find_hidden(detectors, text, field);
        }
    }

    /// Finds the same in a text in which everything that was found before was edited away, at
    /// `edits`.
    pub(crate) fn find_near(
        &mut self,
        detectors: &Detectors,
        text: &str,
        edits: &[Span],
        field: Option<&str>,
    ) {
        if ESCAPE.find(text.as_bytes()).is_some() {
            return self.find(detectors, text, field);
        }
        self.hidden.clear();
        let edits = edits.iter().map(|edit| edit.range());
        detectors.find_near(text, edits, Context { field }, &mut self.list);
    }

    /// Nothing is found.
    pub(crate) fn clear(&mut self) {
        self.hidden.clear();
        self.list.clear();
    }

    /// What was found, in order, and how many more escapes than the text it stands behind.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Finding, u8)> {
        let hidden = |at| u8::from(self.hidden.get(at).copied().unwrap_or_default());
        self.list
            .iter()
            .enumerate()
            .map(move |(at, finding)| (finding, hidden(at)))
    }

    /// How much memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        let findings = self.list.capacity() + self.view.capacity();
        findings * size_of::<Finding>() + self.decoded.capacity() + self.hidden.capacity()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    fn find_hidden(&mut self, detectors: &Detectors, text: &str, field: Option<&str>) {
        self.decoded.clear();
        json::decode_into(text.as_bytes(), &mut self.decoded);
        let Ok(decoded) = std::str::from_utf8(&self.decoded) else {
            return;
        };
        detectors.find_sharded(decoded, Context { field }, &mut self.view);
        let mut offsets = Offsets::new(text.as_bytes());
        for finding in &mut self.view {
            finding.start = offsets.raw(finding.start);
            finding.end = offsets.raw(finding.end);
        }
        // What the view shows is whole; what stands there as it is may be a part of it.
        let mut view = self.view.iter().peekable();
        let mut all: Vec<_> = self
            .list
            .iter()
            .filter(|plain| {
                while view.next_if(|seen| seen.end <= plain.start).is_some() {}
                view.peek().is_none_or(|seen| seen.start >= plain.end)
            })
            .map(|plain| (*plain, false))
            .chain(self.view.iter().map(|seen| {
                let escaped = is_escaped(&text.as_bytes()[seen.start..seen.end]);
                (*seen, escaped)
            }))
            .collect();
        all.sort_unstable_by_key(|(finding, _)| finding.start);
        self.list.clear();
        self.list.extend(all.iter().map(|(finding, _)| *finding));
        self.hidden.extend(all.iter().map(|(_, hidden)| *hidden));
    }
}

/// Whether `raw` is better kept as what its escapes say. Not so if the result would need escapes
/// itself, or if `raw` could not be the content of a JSON string: put back into the text, it would
/// say something else.
fn is_escaped(raw: &[u8]) -> bool {
    let plain = |text: &str| json::quote(text).len() == text.len() + 2;
    raw.contains(&b'\\')
        && json::check(&[b"\"", raw, b"\""].concat()).is_ok()
        && plain(&json::decode(raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Settings;

    #[test]
    fn escapes_hide_nothing() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let mut found = Found::default();
        let text = r#"got {"a":"jo\u0065\u0040example.eu"} from lea@example.eu C:\users"#;
        found.find(&detectors, text, None);
        let all: Vec<_> = found
            .iter()
            .map(|(finding, hidden)| (&text[finding.start..finding.end], hidden))
            .collect();
        assert_eq!(
            all,
            [(r"jo\u0065\u0040example.eu", 1), ("lea@example.eu", 0)]
        );
    }

    #[test]
    fn what_escapes_cannot_say_again_stays_as_it_is() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let mut found = Found::default();
        for (text, value) in [
            (r"_\Imarie@example.eu and \u0040", r"_\Imarie@example.eu"),
            (r"password: NV\\u0040zX81kkQ0p# x", r"NV\\u0040zX81kkQ0p#"),
        ] {
            found.find(&detectors, text, None);
            let all: Vec<_> = found
                .iter()
                .map(|(finding, hidden)| (&text[finding.start..finding.end], hidden))
                .collect();
            assert_eq!(all, [(value, 0)]);
        }
    }
}
