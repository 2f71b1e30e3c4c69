//! What is split off the ends of a word, and out of its middle.
//!
//! Each function is one of the tokenizer's regular expressions, written by hand: those look behind
//! and backtrack. They must give what spaCy's patterns give, alternative by alternative.

use hashbrown::HashSet;

use super::classes::{
    AFTER_INNER_DOT, ALPHA, BEFORE_FINAL_DOT, BEFORE_INNER_DOT, Classes, ICON, PREFIX, SUFFIX,
    UPPER,
};

/// The length in bytes of the prefix to split off; 0 for none.
pub(super) fn prefix(classes: &Classes, word: &str) -> usize {
    let Some(first) = word.chars().next() else {
        return 0;
    };
    if classes.is(first, PREFIX) {
        return first.len_utf8();
    }
    let bytes = word.as_bytes();
    match first {
        '+' if !bytes.get(1).is_some_and(u8::is_ascii_digit) => 1,
        '.' => dots(bytes.iter()),
        'U' if word.starts_with("US$") => 3,
        'C' | 'A' if bytes.get(1) == Some(&b'$') => 2,
        _ => 0,
    }
}

/// The length in bytes of the suffix to split off; 0 for none. Of the patterns that match at the
/// end the longest counts, as a search from the left finds it first.
pub(super) fn suffix(classes: &Classes, after_digit: &AfterDigit, word: &str) -> usize {
    let mut back = word.chars().rev();
    let Some(last) = back.next() else { return 0 };
    let (second, third) = (back.next(), back.next());
    let mut longest = after_digit.suffix(word);
    if classes.is(last, SUFFIX) {
        longest = longest.max(last.len_utf8());
    }
    match (last, second) {
        ('…', Some('…')) => longest = longest.max(2 * '…'.len_utf8()),
        ('s' | 'S', Some(quote @ ('\'' | '’'))) => longest = longest.max(1 + quote.len_utf8()),
        ('+', Some('0'..='9')) => longest = longest.max(1),
        ('.', Some('.')) => longest = longest.max(dots(word.as_bytes().iter().rev())),
        ('.', Some(before)) => {
            let degrees = matches!(before, 'F' | 'f' | 'C' | 'c' | 'K' | 'k') && third == Some('°');
            let capitals = classes.is(before, UPPER) && third.is_some_and(|c| classes.is(c, UPPER));
            if degrees || capitals || classes.is(before, BEFORE_FINAL_DOT) {
                longest = longest.max(1);
            }
        }
        _ => {}
    }
    longest
}

/// Two dots or more, else 0.
fn dots<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    let run = bytes.take_while(|b| **b == b'.').count();
    if run >= 2 { run } else { 0 }
}

/// Units and currencies, which are split off when a digit stands before them.
pub(super) struct AfterDigit {
    words: HashSet<Box<str>>,
    longest: usize,
}

impl AfterDigit {
    pub(super) fn new(words: Vec<String>) -> Self {
        let longest = words.iter().map(String::len).max().unwrap_or(0);
        Self {
            words: words.into_iter().map(Into::into).collect(),
            longest,
        }
    }

    /// No unit holds a digit, so the only candidate is what follows the last one.
    fn suffix(&self, word: &str) -> usize {
        let tail = &word.as_bytes()[word.len().saturating_sub(self.longest + 1)..];
        let Some(digit) = tail.iter().rposition(u8::is_ascii_digit) else {
            return 0;
        };
        let unit = &word[word.len() - (tail.len() - digit - 1)..];
        if self.words.contains(unit) {
            unit.len()
        } else {
            0
        }
    }
}

/// The next place at or after `from` where the word is split: start and end of what separates.
pub(super) fn infix(classes: &Classes, word: &str, from: usize) -> Option<(usize, usize)> {
    let mut before = word[..from].chars().next_back();
    for (at, c) in word[from..].char_indices() {
        let at = from + at;
        let length = separator(classes, before, c, &word[at..]);
        if length > 0 {
            return Some((at, at + length));
        }
        before = Some(c);
    }
    None
}

/// The length of the separator that `rest` begins with, its first character being `c`; 0 for none.
fn separator(classes: &Classes, before: Option<char>, c: char, rest: &str) -> usize {
    let after_first = &rest[c.len_utf8()..];
    let next = after_first.chars().next();
    let next_is = |class| next.is_some_and(|c| classes.is(c, class));
    let before_is = |class| before.is_some_and(|c| classes.is(c, class));
    let before_digit = matches!(before, Some('0'..='9'));
    if c == '…' || classes.is(c, ICON) {
        return c.len_utf8();
    }
    match c {
        '.' => {
            let run = dots(rest.as_bytes().iter());
            if run == 0 && before_is(BEFORE_INNER_DOT) && next_is(AFTER_INNER_DOT) {
                1
            } else {
                run
            }
        }
        ',' => (before_is(ALPHA) && next_is(ALPHA)).into(),
        ':' | '<' | '>' | '=' | '/' => {
            ((before_is(ALPHA) || before_digit) && next_is(ALPHA)).into()
        }
        '+' | '*' | '^' => (before_digit && matches!(next, Some('0'..='9' | '-'))).into(),
        '-' | '–' | '—' | '~' => {
            if c == '-' && before_digit && matches!(next, Some('0'..='9' | '-')) {
                return 1;
            }
            if !before_is(ALPHA) && !before_digit {
                return 0;
            }
            // One, two or three hyphens, or one or two dashes, as long as a letter follows.
            let most = match c {
                '-' => 3,
                '—' => 2,
                _ => 1,
            };
            let run = rest.chars().take_while(|d| *d == c).count();
            let bytes = run * c.len_utf8();
            let letter = rest[bytes..]
                .chars()
                .next()
                .is_some_and(|c| classes.is(c, ALPHA));
            if run <= most && letter { bytes } else { 0 }
        }
        _ => 0,
    }
}
