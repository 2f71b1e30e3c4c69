//! The words beside a candidate.

use super::documents::ENDS;
use super::rule::Compact;

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

/// The neighbourhood of one candidate, prepared when it is first asked for.
pub(super) struct Context<'t> {
    text: &'t [u8],
    start: usize,
    field: Option<Words>,
    left: Option<Words>,
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
            letters: None,
        }
    }

    /// Whether any word could name the candidate, after whose first run `next` stands.
    pub(super) fn may_be_named(&mut self, next: u8) -> bool {
        self.field.is_some() || next == b' ' || !next.is_ascii() || self.has_letters()
    }

    /// Whether one of the words stands before the candidate, or in the name of its field.
    pub(super) fn precedes(&mut self, keywords: &[&str]) -> bool {
        if self.field.is_none() && !self.has_letters() {
            return false;
        }
        let named = |words: &Words, any_gap: bool| {
            keywords
                .iter()
                .any(|word| words.ends_of(word).any(|end| any_gap || words.gap(end)))
        };
        self.field.as_ref().is_some_and(|field| named(field, true)) || named(self.left(), false)
    }

    /// Whether one of the words stands before the candidate with only small words between.
    pub(super) fn adjoins(&mut self, keywords: &[&str]) -> bool {
        if self
            .field
            .as_ref()
            .is_some_and(|f| keywords.iter().any(|k| f.ends_of(k).next().is_some()))
        {
            return true;
        }
        let words = self.left();
        keywords
            .iter()
            .any(|word| words.ends_of(word).any(|end| words.only_small_after(end)))
    }

    /// Whether a word that [`Self::adjoins`] looks for may stand before the candidate: most numbers
    /// follow another number, or a word that has nothing to do with them.
    pub(super) fn may_adjoin(&self) -> bool {
        let before = &self.text[..self.start];
        let gap = before
            .iter()
            .rev()
            .take(5)
            .take_while(|b| b.is_ascii() && !b.is_ascii_alphanumeric())
            .count();
        let fold = |b: u8| usize::from(b.to_ascii_lowercase().wrapping_sub(b'a'));
        match before[..before.len() - gap] {
            _ if self.field.is_some() => true,
            [.., b] if b >= 0x80 => true,
            [.., a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                ENDS[fold(a)] >> fold(b) & 1 == 1
            }
            // One letter: `n°`, `driver's`.
            [.., b] => matches!(b, b'n' | b's' | b'N' | b'S'),
            [] => false,
        }
    }

    /// Whether one of the words follows the candidate, which ends at `end`, in the same phrase.
    pub(super) fn follows(&self, end: usize, keywords: &[&str]) -> bool {
        let right = &self.text[end..self.text.len().min(end + WINDOW_RIGHT)];
        let stop = |b: &u8| b",;:|=\n\r\t\"<>{}[]()0123456789".contains(b);
        let phrase = &right[..right.iter().position(stop).unwrap_or(right.len())];
        // A phrase that ends in a colon or another number names what comes after it.
        let names_the_next = right
            .get(phrase.len())
            .is_some_and(|b| b":=0123456789\"".contains(b));
        if names_the_next || phrase.first() != Some(&b' ') {
            return false;
        }
        let cut = phrase.len() == right.len() && end + WINDOW_RIGHT < self.text.len();
        let phrase = if cut {
            &phrase[..last_space(phrase)]
        } else {
            phrase
        };
        let words = Words::of(phrase, true);
        keywords
            .iter()
            .any(|word| words.ends_of(word).next().is_some())
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

    fn note_starts(&mut self) {
        for i in 0..self.len {
            if i == 0 || is_gap(self.bytes[i - 1]) {
                let [two, three] = starts(&self.bytes[i..self.len]);
                for hash in [two, three] {
                    self.starts[usize::from(hash >> 6)] |= 1 << (hash & 63);
                }
            }
        }
    }

    /// Whether a word begins as this keyword does.
    fn may_hold(&self, keyword: &str) -> bool {
        let [two, three] = starts(keyword.as_bytes());
        let hash = if keyword.len() == 2 { two } else { three };
        !keyword.is_ascii() || self.starts[usize::from(hash >> 6)] >> (hash & 63) & 1 == 1
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
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
                || SMALL_WORDS.contains(&word)
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
            utf8.iter()
                .for_each(|b| self.seen[usize::from(b >> 6)] |= 1 << (b & 63));
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
