//! Patterns of the user's own.

use regex::bytes::{Regex, RegexBuilder};

use super::settings::SettingsError;
use super::{Category, Finding};

/// Compiled size of one pattern, in bytes.
const SIZE_MAX: usize = 10 << 20;
/// Memory for the lazily built automaton of one pattern, in bytes.
const CACHE_MAX: usize = 16 << 20;
/// The rule that stands beside such findings.
pub(super) const RULE: &str = "custom pattern";

/// One pattern and the category of what it matches.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) category: Category,
    pub(super) source: String,
    regex: Regex,
}

impl Pattern {
    /// Compiles the pattern that stands under `name`.
    pub(super) fn new(category: Category, name: &str, source: &str) -> Result<Self, SettingsError> {
        let regex = compile("custom_patterns", Some(name), source)?;
        if regex.is_match(b"") {
            return Err(SettingsError::EmptyMatch {
                name: name.to_owned(),
                pattern: source.to_owned(),
            });
        }
        Ok(Self {
            category,
            source: source.to_owned(),
            regex,
        })
    }

    /// Adds every match. A regular expression has no bounded reach, so it is always given the
    /// whole text.
    pub(super) fn find(&self, text: &str, out: &mut Vec<Finding>) {
        out.extend(
            self.regex
                .find_iter(text.as_bytes())
                .filter(|found| !found.is_empty())
                .map(|found| Finding {
                    start: found.start(),
                    end: found.end(),
                    category: self.category,
                    confidence: 100,
                    rule: RULE,
                }),
        );
    }
}

/// A regular expression of bounded size, over UTF-8.
pub(super) fn compile(
    setting: &'static str,
    name: Option<&str>,
    source: &str,
) -> Result<Regex, SettingsError> {
    RegexBuilder::new(source)
        .size_limit(SIZE_MAX)
        .dfa_size_limit(CACHE_MAX)
        .build()
        .map_err(|error| SettingsError::Pattern {
            setting,
            name: name.map(str::to_owned),
            pattern: source.to_owned(),
            reason: error.to_string(),
        })
}

/// Whether tokens can carry this name: `[A-Z][A-Z0-9_]{0,39}`.
pub(super) fn is_category_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= 40
        && bytes.next().is_some_and(|c| c.is_ascii_uppercase())
        && bytes.all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_used_is_said() {
        let error = |source| {
            Pattern::new(Category::EMAIL, "X", source)
                .unwrap_err()
                .to_string()
        };
        assert!(error("(a").contains("\"(a\"") && error("(a").contains("X"));
        assert!(error("(?=a)b").contains("look-around"));
        assert!(error("a*").contains("empty"));
    }

    #[test]
    fn names_of_tokens() {
        assert!(is_category_name("A") && is_category_name("EMPLOYEE_2"));
        for name in ["", "a", "_A", "2A", "A-B", "Ä", &"A".repeat(41)] {
            assert!(!is_category_name(name), "{name}");
        }
    }
}
