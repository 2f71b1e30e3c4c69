//! Values that always or never are personal.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::Regex;

use super::bytes::{char_at, char_before};
use super::custom::compile;
use super::settings::SettingsError;
use super::{Category, Finding};

/// The rule that stands beside what the deny list found.
pub(super) const DENY_RULE: &str = "deny list";

/// What is never replaced.
#[derive(Debug, Default)]
pub(super) struct Allow {
    values: HashSet<String>,
    domains: Vec<String>,
    patterns: Vec<Regex>,
}

impl Allow {
    pub(super) fn new(entries: &[String]) -> Result<Self, SettingsError> {
        let mut allow = Self::default();
        for (index, entry) in entries.iter().enumerate() {
            let entry = entry.trim();
            let inner = entry
                .strip_prefix('/')
                .and_then(|rest| rest.strip_suffix('/'));
            if let Some(pattern) = inner.filter(|pattern| !pattern.is_empty()) {
                compile("allow", None, pattern)?;
                allow
                    .patterns
                    .push(compile("allow", None, &format!("^(?:{pattern})$"))?);
            } else if entry.is_empty() {
                return Err(SettingsError::EmptyEntry {
                    setting: "allow",
                    index: index + 1,
                });
            } else if entry.starts_with('@') && entry.len() > 1 {
                allow.domains.push(entry.to_ascii_lowercase());
            } else {
                allow.values.insert(entry.to_ascii_lowercase());
            }
        }
        Ok(allow)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.domains.is_empty() && self.patterns.is_empty()
    }

    /// Whether this value stays as it is.
    pub(super) fn allows(&self, value: &str) -> bool {
        let folded = value.to_ascii_lowercase();
        self.values.contains(&folded)
            || self.domains.iter().any(|domain| folded.ends_with(domain))
            || self
                .patterns
                .iter()
                .any(|pattern| pattern.is_match(value.as_bytes()))
    }
}

/// What is always replaced.
#[derive(Debug)]
pub(super) struct Deny {
    entries: AhoCorasick,
}

impl Deny {
    /// Compiles the list; `None` when there is nothing in it.
    pub(super) fn new(entries: &[String]) -> Result<Option<Self>, SettingsError> {
        if entries.is_empty() {
            return Ok(None);
        }
        let mut patterns = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let entry = entry.trim();
            if entry.is_empty() {
                return Err(SettingsError::EmptyEntry {
                    setting: "deny",
                    index: index + 1,
                });
            }
            patterns.push(entry.to_ascii_lowercase());
            if !entry.is_ascii() {
                // The automaton folds ASCII only.
                let forms = [entry.to_lowercase(), entry.to_uppercase()];
                patterns.extend(forms.map(|form| form.to_ascii_lowercase()));
            }
        }
        patterns.sort_unstable();
        patterns.dedup();
        let entries = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&patterns)
            .map_err(|error| SettingsError::DenyList {
                entries: entries.len(),
                reason: error.to_string(),
            })?;
        Ok(Some(Self { entries }))
    }

    /// Adds every entry that stands in the text as whole words.
    pub(super) fn find(&self, text: &str, out: &mut Vec<Finding>) {
        let bytes = text.as_bytes();
        out.extend(
            self.entries
                .find_overlapping_iter(bytes)
                .filter(|found| {
                    is_edge(
                        char_before(bytes, found.start()),
                        char_at(bytes, found.start()),
                    ) && is_edge(char_before(bytes, found.end()), char_at(bytes, found.end()))
                })
                .map(|found| Finding {
                    start: found.start(),
                    end: found.end(),
                    category: Category::DENIED,
                    confidence: 100,
                    rule: DENY_RULE,
                }),
        );
    }
}

/// Whether a word may begin or end between two characters. Scripts that put no space between
/// words (Chinese, Japanese, Thai and their neighbours) have an edge everywhere.
fn is_edge(left: Option<char>, right: Option<char>) -> bool {
    let inside = |c: Option<char>| {
        c.is_some_and(|c| c.is_alphanumeric() && !matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'))
    };
    !(inside(left) && inside(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied<'t>(entries: &[&str], text: &'t str) -> Vec<&'t str> {
        let entries: Vec<_> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        let mut out = Vec::new();
        Deny::new(&entries).unwrap().unwrap().find(text, &mut out);
        out.iter()
            .map(|finding| &text[finding.start..finding.end])
            .collect()
    }

    #[test]
    fn whole_words_without_regard_to_case() {
        assert_eq!(
            denied(&["Acme"], "ACME, acme's acmeX xacme"),
            ["ACME", "acme"]
        );
        assert_eq!(
            denied(&["Müller"], "MÜLLER müller Müllerin"),
            ["MÜLLER", "müller"]
        );
        assert_eq!(denied(&["東京電力"], "これは東京電力です"), ["東京電力"]);
    }

    #[test]
    fn values_domains_and_patterns_are_allowed() {
        let entries = ["Support@Acme.com", "@corp.example", "/10\\.0\\..*/"].map(str::to_owned);
        let allow = Allow::new(&entries).unwrap();
        for value in ["support@acme.com", "x@Corp.example", "10.0.1.2"] {
            assert!(allow.allows(value), "{value}");
        }
        for value in ["x@acme.com", "x@corp.example.org", "110.0.1.2"] {
            assert!(!allow.allows(value), "{value}");
        }
        assert!(Allow::new(&["/(/".to_owned()]).is_err());
        assert!(
            Deny::new(&[" ".to_owned()])
                .unwrap_err()
                .to_string()
                .contains("entry 1")
        );
    }
}
