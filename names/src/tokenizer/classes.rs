//! Classes of characters, looked up in two steps: the page of 256 characters, then the character.

use std::collections::BTreeMap;

/// A set of classes, one bit each.
pub(crate) type Class = u16;

pub(crate) const PREFIX: Class = 1 << 0;
pub(crate) const SUFFIX: Class = 1 << 1;
pub(crate) const ICON: Class = 1 << 2;
pub(crate) const ALPHA: Class = 1 << 3;
pub(crate) const UPPER: Class = 1 << 4;
pub(crate) const BEFORE_FINAL_DOT: Class = 1 << 5;
pub(crate) const BEFORE_INNER_DOT: Class = 1 << 6;
pub(crate) const AFTER_INNER_DOT: Class = 1 << 7;
pub(crate) const TOP_LEVEL: Class = 1 << 8;
/// A letter of Unicode's general category L, upper case or not.
pub(crate) const LETTER: Class = 1 << 9;
pub(crate) const UPPERCASE: Class = 1 << 10;
/// A digit in the wide sense: also superscripts.
pub(crate) const DIGIT: Class = 1 << 11;
/// A letter, number or underscore: a regular expression's `\w`.
pub(crate) const WORD: Class = 1 << 12;

const NAMES: [&str; 13] = [
    "prefix",
    "suffix",
    "icon",
    "alpha",
    "upper",
    "before_final_dot",
    "before_inner_dot",
    "after_inner_dot",
    "top_level",
    "letter",
    "uppercase",
    "digit",
    "word",
];

const PAGE: usize = 256;

/// The classes of every character, as the model was trained with them.
///
/// Unicode grows; a letter that is new since then must stay what it was for the model, so the
/// tables come with it and not from the standard library.
pub(crate) struct Classes {
    /// The page of each 256 characters; page 0 is empty.
    index: Vec<u16>,
    pages: Vec<[Class; PAGE]>,
}

impl Classes {
    /// From inclusive ranges `[first, last, first, last, ...]` for every class, by its name.
    pub(crate) fn new(ranges: &BTreeMap<String, Vec<u32>>) -> Result<Self, String> {
        let mut classes = Self {
            index: vec![0; 0x11_0000 / PAGE],
            pages: vec![[0; PAGE]],
        };
        for (bit, name) in NAMES.iter().enumerate() {
            let ranges = ranges
                .get(*name)
                .ok_or_else(|| format!("no character class {name:?}"))?;
            let (pairs, rest) = ranges.as_chunks::<2>();
            if !rest.is_empty() || pairs.iter().any(|[a, b]| a > b || *b > 0x10_FFFF) {
                return Err(format!("character class {name:?} is not a list of ranges"));
            }
            for [first, last] in pairs {
                classes.add(*first as usize, *last as usize, 1 << bit);
            }
        }
        Ok(classes)
    }

    fn add(&mut self, first: usize, last: usize, class: Class) {
        for page in first / PAGE..=last / PAGE {
            if self.index[page] == 0 {
                self.index[page] = self.pages.len() as u16;
                self.pages.push([0; PAGE]);
            }
            let from = first.max(page * PAGE) % PAGE;
            let to = last.min(page * PAGE + PAGE - 1) % PAGE;
            for entry in &mut self.pages[self.index[page] as usize][from..=to] {
                *entry |= class;
            }
        }
    }

    #[inline]
    pub(crate) fn of(&self, c: char) -> Class {
        let c = c as usize;
        self.pages[self.index[c / PAGE] as usize][c % PAGE]
    }

    #[inline]
    pub(crate) fn is(&self, c: char, class: Class) -> bool {
        self.of(c) & class != 0
    }
}
