//! The words beside a candidate.

use super::documents::{ENDS, WORD_ENDS};
use super::rule::Compact;
use crate::detect::context::WordList;

/// Bytes before a candidate in which a word may name it.
pub(super) const WINDOW_LEFT: usize = 64;
/// Bytes after a candidate in which a word may name it.
pub(super) const WINDOW_RIGHT: usize = 40;

/// A run of this many digits between a word and a candidate is a number that the word names
/// instead.
const OTHER_NUMBER: usize = 4;

/// Words that may stand between a name and its number.
#[rustfmt::skip]
pub(super) const SMALL_WORDS: &[&str] = &[
    "is", "was", "no", "nr", "num", "number", "numbers", "id", "the", "of", "my", "her", "his", "and",
    "card", "code", "value", "s", "state", "issued", "valid",
    "nummer", "lautet", "ist", "der", "die", "des", "numéro", "numero", "est", "n", "de", "du", "es", "el",
    "número", "é", "nº", "numer", "номер", "het", "van", "di", "del", "della", "и", "to", "as", "with", "番号",
    "号码", "号", "번호", "번호는", "는", "은", "の", "は",
];

static SMALL: WordList = WordList::new(SMALL_WORDS);

/// The neighbourhood of one candidate, prepared when it is first asked for.
pub(super) struct Context<'t> {
    text: &'t [u8],
    start: usize,
    field: Option<Words>,
    left: Option<Words>,
    /// The phrase after a candidate that ends there.
    right: Option<(usize, Option<Words>)>,
    letters: Option<bool>,
}

impl<'t> Context<'t> {
    pub(super) fn new(text: &'t [u8], start: usize, field: Option<&str>) -> Self {
        let field = field.map(|name| Words::of(name.as_bytes(), true));
        Self {
            text,
            start,
            field,
            left: None,
            right: None,
            letters: None,
        }
    }

    /// Whether any word could name the candidate, after whose first run `next` stands.
    pub(super) fn may_be_named(&mut self, next: u8) -> bool {
        self.field.is_some() || next == b' ' || !next.is_ascii() || self.has_letters()
    }

    /// Whether one of the words stands before the candidate, or in the name of its field.
    pub(super) fn precedes(&mut self, keywords: &Keywords) -> bool {
        if self.field.is_none() && !self.has_letters() {
            return false;
        }
        let field = self.field.as_ref();
        field.is_some_and(|field| field.any_end(keywords, |_, _| true))
            || self.left().any_end(keywords, Words::gap)
    }

    /// Whether one of the words stands before the candidate with only small words between.
    pub(super) fn adjoins(&mut self, keywords: &Keywords) -> bool {
        let field = self.field.as_ref();
        field.is_some_and(|field| field.any_end(keywords, |_, _| true))
            || self.left().any_end(keywords, Words::only_small_after)
    }

    /// Whether one of the words follows the candidate, which ends at `end`, in the same phrase.
    pub(super) fn follows(&mut self, end: usize, keywords: &Keywords) -> bool {
        if self.right.as_ref().is_none_or(|(known, _)| *known != end) {
            self.right = Some((end, self.phrase_after(end)));
        }
        let phrase = self.right.as_ref().and_then(|(_, phrase)| phrase.as_ref());
        phrase.is_some_and(|words| words.any_end(keywords, |_, _| true))
    }

    /// The words of the phrase that goes on at `end`.
    fn phrase_after(&self, end: usize) -> Option<Words> {
        let right = &self.text[end..self.text.len().min(end + WINDOW_RIGHT)];
        let stop = |b: &u8| b",;:|=\n\r\t\"<>{}[]()0123456789".contains(b);
        let phrase = &right[..right.iter().position(stop).unwrap_or(right.len())];
        // A phrase that ends in a colon or another number names what comes after it.
        let names_the_next = right
            .get(phrase.len())
            .is_some_and(|b| b":=0123456789\"".contains(b));
        if names_the_next || phrase.first() != Some(&b' ') {
            return None;
        }
        let cut = phrase.len() == right.len() && end + WINDOW_RIGHT < self.text.len();
        let phrase = if cut {
            &phrase[..last_space(phrase)]
        } else {
            phrase
        };
        Some(Words::of(phrase, true))
    }

    /// Whether a name beside the candidate says that it is something else: `seq=`, `"tabId":`,
    /// `order 4321670011`.
    pub(super) fn is_labelled(&self) -> bool {
        #[rustfmt::skip]
        const LABELS: &[&[u8]] = &[
            b"order", b"invoice", b"ticket", b"page", b"build", b"pid", b"port", b"line", b"offset", b"size", b"bytes", b"version", b"id",
            b"ref", b"issue", b"commit", b"seq", b"epoch", b"timestamp", b"at", b"in", b"phone", b"tel", b"call", b"isbn", b"ean", b"sku", b"case",
        ];
        let window = &self.text[self.start.saturating_sub(WINDOW_LEFT)..self.start];
        let before = window.trim_ascii_end();
        let before = before
            .strip_suffix(b"\"")
            .unwrap_or(before)
            .trim_ascii_end();
        if matches!(before.last(), Some(b'=' | b':' | b'#')) {
            return true;
        }
        let word = before
            .iter()
            .rev()
            .take(12)
            .take_while(|b| b.is_ascii_alphabetic())
            .count();
        LABELS
            .iter()
            .any(|label| label.eq_ignore_ascii_case(&before[before.len() - word..]))
    }

    /// Whether the candidate is a word of its own, not a piece of a path, an amount or a hash.
    pub(super) fn stands_alone(&self, end: usize, compact: &Compact) -> bool {
        let before = self.start.checked_sub(1).map(|i| self.text[i]);
        let joined = matches!(
            before,
            Some(b'-' | b'/' | b'.' | b'#' | b'$' | b'@' | b'%' | b'&' | b'~' | b'\\' | b'*')
        );
        let amount = matches!(before, Some(b',')) && {
            // `1,234567890` is no list of values, `x,1234567890` is.
            self.text.get(end) == Some(&b'.')
        };
        let after = matches!(self.text.get(end), Some(b'%' | b'$' | b'*' | b'\\'));
        !joined
            && !amount
            && !after
            && !compact.is_lower_hex()
            && !compact.is_mixed_case()
            && !self.goes_on(end)
    }

    /// Whether groups of digits, joined as those of the candidate are, go on before or after it, so
    /// that it is a piece of something longer: an IBAN, a card, an address.
    fn goes_on(&self, end: usize) -> bool {
        let Some(&joint) = self.text[self.start..end]
            .iter()
            .find(|b| !b.is_ascii_alphanumeric())
        else {
            return false;
        };
        let before = self.text[..self.start]
            .strip_suffix(&[joint])
            .unwrap_or_default();
        let group = before
            .iter()
            .rev()
            .take(5)
            .take_while(|b| b.is_ascii_alphanumeric())
            .count();
        let group = &before[before.len() - group..];
        let capital = |b: &u8| b.is_ascii_digit() || b.is_ascii_uppercase();
        let code = group.len() == 4 && group.iter().all(capital);
        let after = match &self.text[end..] {
            [b, next, ..] => *b == joint && next.is_ascii_digit(),
            _ => false,
        };
        after || code || group.last().is_some_and(u8::is_ascii_digit)
    }

    /// Whether anything but digits and signs stands before the candidate: in a table of numbers not.
    fn has_letters(&mut self) -> bool {
        let window = &self.text[self.start.saturating_sub(WINDOW_LEFT)..self.start];
        let letter = |b: &u8| b.is_ascii_alphabetic() || *b >= 0x80;
        *self
            .letters
            .get_or_insert_with(|| window.iter().filter(|b| letter(b)).count() > 0)
    }

    fn left(&mut self) -> &Words {
        let (text, start) = (self.text, self.start);
        self.left.get_or_insert_with(|| {
            let mut from = start.saturating_sub(WINDOW_LEFT);
            let whole = from == 0;
            while from < start && text[from] & 0xC0 == 0x80 {
                from += 1;
            }
            Words::of(&text[from..start], whole)
        })
    }
}

/// Whether a word that [`Context::adjoins`] looks for may stand before the candidate: most numbers
/// follow another number, or a word that has nothing to do with them.
pub(super) fn may_adjoin(text: &[u8], start: usize, field: Option<&str>) -> bool {
    let before = &text[..start];
    let gap = before
        .iter()
        .rev()
        .take(5)
        .take_while(|b| b.is_ascii() && !b.is_ascii_alphanumeric())
        .count();
    let before = &before[..before.len() - gap];
    match *before {
        _ if field.is_some() => true,
        [.., b] if b >= 0x80 => true,
        [.., a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            ends_in(&ENDS, a, b) && may_end_in_name(before)
        }
        // One letter: `n°`, `driver's`.
        [.., b] => matches!(b, b'n' | b's' | b'N' | b'S'),
        [] => false,
    }
}

/// Whether the last word of a text but for small ones may be the end of a name: it ends as one, or
/// is not plain.
fn may_end_in_name(text: &[u8]) -> bool {
    let inner = |b: &u8| b.is_ascii_alphanumeric() || !b.is_ascii();
    let window = &text[text.len().saturating_sub(WINDOW_LEFT)..];
    let mut rest = window;
    loop {
        let end = rest.iter().rposition(inner).map_or(0, |i| i + 1);
        let from = rest[..end]
            .iter()
            .rposition(|b| !inner(b))
            .map_or(0, |i| i + 1);
        let word = &rest[from..end];
        let [.., a, b] = *word else {
            return !word.is_empty();
        };
        if from == 0 && window.len() < text.len() {
            return true;
        }
        if word.iter().all(u8::is_ascii_digit) {
            return false;
        }
        let plain = word[1..].iter().all(u8::is_ascii_lowercase) && word[0].is_ascii_alphabetic()
            || word.iter().all(u8::is_ascii_uppercase);
        if !plain || ends_in(&WORD_ENDS, a, b) {
            return true;
        }
        if !SMALL.is(word) {
            return false;
        }
        rest = &rest[..from];
    }
}

/// Whether a table of last letters has these two.
fn ends_in(table: &[u32; 26], a: u8, b: u8) -> bool {
    let fold = |b: u8| usize::from(b.to_ascii_lowercase() - b'a');
    table[fold(a)] >> fold(b) & 1 == 1
}

/// Whether the name of a field contains one of the words.
pub(super) fn field_names(name: &str, keywords: &[&str]) -> bool {
    let words = Words::of(name.as_bytes(), true);
    keywords
        .iter()
        .any(|word| words.ends_of(word).next().is_some())
}

/// Stands between the words of `camelCase` and before a number, where there was no space.
const HUMP: char = '\u{1}';

fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n') || byte == HUMP as u8
}

/// Hashes of the first two and the first three letters, whatever stands between them.
fn starts(text: &[u8]) -> [u8; 2] {
    let mut hash = 0u32;
    let mut hashes = [0; 2];
    for (n, &c) in text.iter().filter(|c| !is_gap(**c)).take(3).enumerate() {
        hash = (hash ^ u32::from(c)).wrapping_mul(0x9E37_79B1);
        if n > 0 {
            hashes[n - 1] = (hash >> 24) as u8;
        }
    }
    hashes
}

/// The words that name the number of a rule, with what refuses nearly every text at once.
#[derive(Clone, Copy)]
pub(super) struct Keywords {
    words: &'static [&'static str],
    /// A bit for each hash of how an ASCII word begins, as in [`Words`].
    starts: [u64; 4],
    /// The first bytes of the other words.
    firsts: [u64; 4],
}

impl Keywords {
    pub(super) fn new(words: &'static [&'static str]) -> Self {
        let mut keywords = Self {
            words,
            starts: [0; 4],
            firsts: [0; 4],
        };
        for word in words {
            if word.is_ascii() {
                note(&mut keywords.starts, start_of(word));
            } else {
                note(&mut keywords.firsts, word.as_bytes()[0]);
            }
        }
        keywords
    }
}

/// The hash of how an ASCII keyword begins.
fn start_of(keyword: &str) -> u8 {
    let [two, three] = starts(keyword.as_bytes());
    if keyword.len() == 2 { two } else { three }
}

fn note(set: &mut [u64; 4], byte: u8) {
    set[usize::from(byte >> 6)] |= 1 << (byte & 63);
}

fn meet(a: &[u64; 4], b: &[u64; 4]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

/// A text as lower-case words with one space between, as far as fits.
struct Words {
    bytes: [u8; 2 * WINDOW_LEFT],
    len: usize,
    /// Which bytes are there, so that most keywords are refused by their first one.
    seen: [u64; 4],
    /// How the words begin: a bit for each hash of two letters and of three, so that nearly all
    /// keywords are refused by theirs.
    starts: [u64; 4],
}

impl Words {
    /// `whole`: whether `text` begins at the beginning of a word.
    fn of(text: &[u8], whole: bool) -> Self {
        let mut words = Self {
            bytes: [0; 2 * WINDOW_LEFT],
            len: 0,
            seen: [0; 4],
            starts: [0; 4],
        };
        let text = &text[..text.len().min(WINDOW_LEFT)];
        let text = str::from_utf8(text)
            .unwrap_or_else(|e| str::from_utf8(&text[..e.valid_up_to()]).unwrap_or_default());
        let mut skip = !whole;
        if text.is_ascii() {
            words.read_ascii(text.as_bytes(), whole);
            words.note_starts();
            return words;
        }
        let mut before = ' ';
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let inner = c.is_alphanumeric() || c == 'º' || is_mark(c);
            if skip {
                skip = inner;
                before = c;
                continue;
            }
            if !inner {
                words.space();
            } else {
                let next_lower = chars.peek().is_some_and(|n| n.is_lowercase());
                let camel = c.is_uppercase()
                    && (before.is_lowercase() || before.is_uppercase() && next_lower);
                let number = c.is_ascii_digit() != before.is_ascii_digit();
                if (camel || number) && before.is_alphanumeric() {
                    words.push(HUMP);
                }
                if c.is_ascii() {
                    words.push(c.to_ascii_lowercase());
                } else {
                    c.to_lowercase().for_each(|c| words.push(c));
                }
            }
            if c == '\n' {
                words.push('\n');
            }
            before = c;
        }
        words.note_starts();
        words
    }

    /// The same for ASCII, which nearly all text is: at most two bytes for each of the text.
    fn read_ascii(&mut self, text: &[u8], whole: bool) {
        let cut = text
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric())
            .count();
        let from = if whole { 0 } else { cut + 1 };
        let mut before = b' ';
        let mut len = 0;
        for (i, &b) in text.iter().enumerate().skip(from) {
            if b.is_ascii_alphanumeric() {
                let next_lower = text.get(i + 1).is_some_and(u8::is_ascii_lowercase);
                let camel = b.is_ascii_uppercase()
                    && (before.is_ascii_lowercase() || before.is_ascii_uppercase() && next_lower);
                let number = b.is_ascii_digit() != before.is_ascii_digit();
                if (camel || number) && before.is_ascii_alphanumeric() {
                    self.bytes[len] = HUMP as u8;
                    len += 1;
                }
                self.bytes[len] = b.to_ascii_lowercase();
                len += 1;
            } else if len > 0 && !matches!(self.bytes[len - 1], b' ' | b'\n') {
                self.bytes[len] = b' ';
                len += 1;
            }
            if b == b'\n' {
                self.bytes[len] = b'\n';
                len += 1;
            }
            before = b;
        }
        self.len = len;
        for &b in &self.bytes[..len] {
            note(&mut self.seen, b);
        }
    }

    fn note_starts(&mut self) {
        for i in 0..self.len {
            if i == 0 || is_gap(self.bytes[i - 1]) {
                let [two, three] = starts(&self.bytes[i..self.len]);
                note(&mut self.starts, two);
                note(&mut self.starts, three);
            }
        }
    }

    /// Whether a word begins as this keyword does.
    fn may_hold(&self, keyword: &str) -> bool {
        let hash = start_of(keyword);
        !keyword.is_ascii() || self.starts[usize::from(hash >> 6)] >> (hash & 63) & 1 == 1
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether one of the words stands here and what follows it is `fit`.
    fn any_end(&self, keywords: &Keywords, fit: impl Fn(&Self, usize) -> bool) -> bool {
        (meet(&self.starts, &keywords.starts) || meet(&self.seen, &keywords.firsts))
            && keywords
                .words
                .iter()
                .any(|word| self.ends_of(word).any(|end| fit(self, end)))
    }

    /// Where `keyword` ends, each time it stands there as a word or words.
    fn ends_of<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = usize> + 'a {
        let text = self.text();
        let joined = !keyword.is_ascii();
        let first = keyword.as_bytes()[0];
        let text = if self.may_hold(keyword)
            && self.seen[usize::from(first >> 6)] >> (first & 63) & 1 == 1
        {
            text
        } else {
            &[]
        };
        (0..text.len()).filter_map(move |from| {
            let starts = from == 0 || is_gap(text[from - 1]) || joined;
            if !starts || text[from] != keyword.as_bytes()[0] {
                return None;
            }
            let mut at = from;
            for &want in keyword.as_bytes() {
                let skip = match text.get(at) {
                    Some(b' ') => keyword.len() > 4 || joined,
                    Some(&b) => b == HUMP as u8,
                    None => false,
                };
                if skip && at > from {
                    at += 1;
                }
                if text.get(at) != Some(&want) {
                    return None;
                }
                at += 1;
            }
            let ends = joined || text.get(at).is_none_or(|b| is_gap(*b));
            ends.then_some(at)
        })
    }

    /// Whether what stands from `end` on does not part a name from its number: no other number,
    /// no blank line.
    fn gap(&self, end: usize) -> bool {
        let gap = &self.text()[end..];
        let mut digits = 0;
        for b in gap {
            digits = if b.is_ascii_digit() { digits + 1 } else { 0 };
            if digits >= OTHER_NUMBER {
                return false;
            }
        }
        gap.iter().filter(|b| **b == b'\n').count() <= 1
    }

    fn only_small_after(&self, end: usize) -> bool {
        let gap = str::from_utf8(&self.text()[end..]).unwrap_or_default();
        gap.split([' ', '\n', HUMP]).all(|word| {
            word.is_empty()
                || word.chars().count() == 1 && !word.is_ascii()
                || SMALL.is(word.as_bytes())
        })
    }

    fn space(&mut self) {
        if self.len > 0 && !matches!(self.bytes[self.len - 1], b' ' | b'\n') {
            self.push(' ');
        }
    }

    fn push(&mut self, c: char) {
        let mut utf8 = [0; 4];
        let utf8 = c.encode_utf8(&mut utf8).as_bytes();
        if let Some(room) = self.bytes.get_mut(self.len..self.len + utf8.len()) {
            room.copy_from_slice(utf8);
            utf8.iter().for_each(|b| note(&mut self.seen, *b));
            self.len += utf8.len();
        }
    }
}

/// Combining marks (Indic vowel signs, Thai vowels and tones) belong to the word they stand in.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{591}'..='\u{5BD}' | '\u{93A}'..='\u{94D}' | '\u{E31}'..='\u{E4E}')
}

fn last_space(phrase: &[u8]) -> usize {
    phrase.iter().rposition(|b| *b == b' ').unwrap_or(0)
}
