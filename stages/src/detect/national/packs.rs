//! Which rules are on: the packs that a list of locales selects.

use super::rule::{Class, Format, Rule};
use super::shape::{Pattern, second_group};
use super::{americas, asia, documents, europe, pacific};
use crate::detect::bytes::{ALNUM, ALPHA, DIGIT, run};

/// The longest first run of letters and digits that any format has.
const LONGEST_RUN: usize = 20;

/// The pack that is always on: identifiers of English-speaking countries and what a word names.
const ALWAYS: &str = "en";

/// The rules that a list of locales selects, arranged by how a number begins.
#[derive(Clone)]
pub(crate) struct Packs {
    pub(super) formats: Vec<Format>,
    /// The patterns of `formats`, which are asked first.
    pub(super) patterns: Vec<Pattern>,
    /// For each class and length of the first run, the formats it may begin.
    ranges: [[Range; LONGEST_RUN + 1]; 3],
    /// Whether bare numbers with a weak check are reported.
    pub(super) suspects: bool,
}

/// The formats whose first run has one class and length: first those that stand for themselves,
/// then those that need a word directly before.
#[derive(Clone, Copy, Default)]
struct Range {
    from: u16,
    close: u16,
    to: u16,
    /// What may stand second in either, one bit for each number of [`second_group`].
    seconds: [u64; 2],
}

/// The first run of letters and digits of a number.
pub(super) struct Run {
    class: Class,
    /// Where it ends in the text.
    pub(super) end: usize,
    length: usize,
}

impl Run {
    /// The run that begins at `start`.
    pub(super) fn read(text: &[u8], start: usize) -> Self {
        let digits = run(text, start, DIGIT, LONGEST_RUN + 1);
        let rest = LONGEST_RUN + 1 - (digits - start);
        let end = run(text, digits, ALNUM, rest);
        let length = end - start;
        let class = if digits == end {
            Class::Digits
        } else if run(text, start, ALPHA, length) == end {
            Class::Letters
        } else {
            Class::Mixed
        };
        Self { class, end, length }
    }

    /// Whether it consists of digits.
    pub(super) fn is_number(&self) -> bool {
        self.class == Class::Digits
    }
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

    /// The formats that begin with such a run, as far as what follows it allows. Those that need
    /// a word directly before are left out unless `close` says that there may be one.
    pub(super) fn starting_with(
        &self,
        run: &Run,
        text: &[u8],
        close: impl FnOnce() -> bool,
    ) -> std::ops::Range<usize> {
        let Some(range) = self.ranges[run.class as usize].get(run.length) else {
            return 0..0;
        };
        let [from, middle, to] = [range.from, range.close, range.to].map(usize::from);
        let seconds = match run.class {
            Class::Digits => 1 | 1 << second_group(text, run.end),
            // A word: of a number only where a separator and a digit follow.
            Class::Letters => match &text[run.end..] {
                [b' ' | b'-' | 0xC2 | 0xE2, b'0'..=b'9' | 0x80.., ..] => u64::MAX,
                _ => 0,
            },
            Class::Mixed => u64::MAX,
        };
        let [open, bound] = range.seconds.map(|bits| bits & seconds != 0);
        match (open, bound && close()) {
            (true, true) => from..to,
            (true, false) => from..middle,
            (false, true) => middle..to,
            (false, false) => 0..0,
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
        keyed.sort_by_key(|&(class, len, format)| {
            (class, len, format.rule.close_words, format.mask)
        });
        let mut ranges = [[Range::default(); LONGEST_RUN + 1]; 3];
        for (class, row) in ranges.iter_mut().enumerate() {
            for (len, range) in row.iter_mut().enumerate() {
                let before = |len: usize, close: bool| {
                    let key = (class, len, close);
                    keyed.partition_point(|f| (f.0, f.1, f.2.rule.close_words) < key)
                };
                let from = before(len, false);
                let close = before(len, true);
                let to = before(len + 1, false);
                let seconds = |formats: &[(usize, usize, Format)]| {
                    formats.iter().fold(0, |bits, (.., format)| {
                        bits | 1u64 << Pattern::of(format.mask).second_group()
                    })
                };
                *range = Range {
                    from: from as u16,
                    close: close as u16,
                    to: to as u16,
                    seconds: [seconds(&keyed[from..close]), seconds(&keyed[close..to])],
                };
            }
        }
        let formats: Vec<_> = keyed.into_iter().map(|(.., format)| format).collect();
        Self {
            patterns: formats.iter().map(|f| Pattern::of(f.mask)).collect(),
            formats,
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
