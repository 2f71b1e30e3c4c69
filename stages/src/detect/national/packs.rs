//! Which rules are on: the packs that a list of locales selects.

use super::rule::{Class, Format, Rule};
use super::{americas, asia, documents, europe, pacific};

/// The longest first run of letters and digits that any format has.
const LONGEST_RUN: usize = 20;

/// The pack that is always on: identifiers of English-speaking countries and what a word names.
const ALWAYS: &str = "en";

/// The rules that a list of locales selects, arranged by how a number begins.
#[derive(Clone)]
pub(crate) struct Packs {
    formats: Vec<Format>,
    /// For each class and length of the first run, a range of `formats`.
    ranges: [[(u16, u16); LONGEST_RUN + 1]; 3],
    /// Whether bare numbers with a weak check are reported.
    pub(super) suspects: bool,
}

/// The formats that a number may have by its first run of letters and digits.
pub(super) struct Candidates<'a> {
    pub(super) formats: &'a [Format],
    /// The length of the run, in bytes.
    pub(super) run: usize,
    /// Whether it consists of digits.
    pub(super) digits: bool,
}

/// A locale that has no pack.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no locale pack `{locale}`; the known ones are {known}, and `all`")]
pub(crate) struct UnknownLocale {
    locale: String,
    known: String,
}

impl Packs {
    /// The packs of `locales`: languages or countries (`de`, `fr-CA`, `BR`), or `all`. The pack
    /// `en` is always on.
    ///
    /// # Errors
    ///
    /// A locale that no pack belongs to; the error names those that exist.
    pub(crate) fn of<S: AsRef<str>>(locales: &[S]) -> Result<Self, UnknownLocale> {
        Self::of_and(locales, &[])
    }

    /// Like [`of`](Self::of), and single rules by their ids.
    pub(crate) fn of_and<S: AsRef<str>>(
        locales: &[S],
        ids: &[&str],
    ) -> Result<Self, UnknownLocale> {
        let mut wanted = vec![ALWAYS];
        for locale in locales {
            let locale = locale.as_ref();
            if locale.eq_ignore_ascii_case("all") {
                return Ok(Self::compile(|_| true));
            }
            wanted.push(known(locale).ok_or_else(|| UnknownLocale {
                locale: locale.to_owned(),
                known: Self::known().join(", "),
            })?);
        }
        Ok(Self::compile(|rule| {
            rule.locales.iter().any(|locale| wanted.contains(locale)) || ids.contains(&rule.id)
        }))
    }

    /// The same packs, which also report bare numbers that have nothing but one weak check digit,
    /// with a confidence of 30 (45 where numbers of that length are rare): every tenth number of
    /// nine digits is one.
    #[cfg(test)]
    pub(crate) fn with_suspects(self) -> Self {
        Self {
            suspects: true,
            ..self
        }
    }

    /// The categories that the rules report.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.formats.iter().map(|format| format.rule.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The locales that have a pack, in alphabetical order.
    pub(crate) fn known() -> Vec<&'static str> {
        let mut known: Vec<_> = rules().flat_map(|rule| rule.locales).copied().collect();
        known.sort_unstable();
        known.dedup();
        known
    }

    /// The formats whose first run has the class and length of the one at `start`.
    pub(super) fn starting_like(&self, text: &[u8], start: usize) -> Candidates<'_> {
        let (mut letters, mut digits) = (false, false);
        let mut len = 0;
        for &byte in &text[start..text.len().min(start + LONGEST_RUN + 1)] {
            match byte {
                b'0'..=b'9' => digits = true,
                b'a'..=b'z' | b'A'..=b'Z' => letters = true,
                _ => break,
            }
            len += 1;
        }
        let class = match (letters, digits) {
            (true, true) => Class::Mixed,
            // A word: of a number only where a separator and a digit follow.
            (true, false) => {
                if !matches!(&text[start + len..], [b' ' | b'-' | 0xC2 | 0xE2, next, ..] if next.is_ascii_digit() || *next >= 0x80)
                {
                    return Candidates {
                        formats: &[],
                        run: len,
                        digits: false,
                    };
                }
                Class::Letters
            }
            _ => Class::Digits,
        };
        let (from, to) = self.ranges[class as usize]
            .get(len)
            .copied()
            .unwrap_or_default();
        Candidates {
            formats: &self.formats[usize::from(from)..usize::from(to)],
            run: len,
            digits: !letters,
        }
    }

    fn compile(on: impl Fn(&Rule) -> bool) -> Self {
        let mut keyed = Vec::new();
        for rule in rules().filter(|rule| on(rule)) {
            for &(mask, bare) in rule.formats {
                let format = Format::new(rule, mask, bare);
                let (len, classes) = format.first_run();
                keyed.extend(classes.iter().map(|&class| (class as usize, len, format)));
            }
        }
        keyed.sort_by_key(|&(class, len, format)| (class, len, format.mask));
        let mut ranges = [[(0, 0); LONGEST_RUN + 1]; 3];
        for (class, row) in ranges.iter_mut().enumerate() {
            for (len, range) in row.iter_mut().enumerate() {
                let before = |key: (usize, usize)| keyed.partition_point(|f| (f.0, f.1) < key);
                let (from, to) = (before((class, len)), before((class, len + 1)));
                *range = (from as u16, to as u16);
            }
        }
        Self {
            formats: keyed.into_iter().map(|(.., format)| format).collect(),
            ranges,
            suspects: false,
        }
    }
}

impl std::fmt::Debug for Packs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.formats.iter().map(|format| format.rule.id))
            .finish()
    }
}

/// All rules of all packs.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        europe::RULES,
        asia::RULES,
        americas::RULES,
        pacific::RULES,
        documents::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The pack of a locale such as `pt`, `pt-BR`, `BR`: the language first, then the country.
fn known(locale: &str) -> Option<&'static str> {
    let known = Packs::known();
    locale.split(['-', '_']).find_map(|part| {
        known
            .iter()
            .find(|pack| pack.eq_ignore_ascii_case(part))
            .copied()
    })
}
