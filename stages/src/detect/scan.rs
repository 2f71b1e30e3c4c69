//! One pass over the bytes that proposes places, and the rules that judge them.
//!
//! A rule is asked about one place and reads a bounded neighbourhood of it in the whole text,
//! never where the scan began nor what else was found. So the findings of a range are those of
//! the whole that are proposed within it, and the union over any cuts is the whole.

use super::bytes::{DASH, DIGIT, HEX, WORD, at, before, is, run};
use super::masks::{BLOCK, Masks};
use super::national::{self, Packs};
use super::rules::{Hit, card, crypto, email, iban, ip, mac, phone, spelled, ssn};
use super::{Category, Finding, fields, secret, views};

/// How far to either side of its place a rule reads, in bytes: the widest of all rules.
pub(super) const REACH: usize = secret::REACH_RIGHT;

const _: () = assert!(
    REACH >= 512
        && REACH >= secret::REACH_LEFT
        && REACH >= national::REACH_LEFT + national::REACH_RIGHT
);

/// The rules that are asked.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) email: bool,
    pub(super) ssn: bool,
    pub(super) card: bool,
    pub(super) iban: bool,
    pub(super) phone: bool,
    pub(super) ip: bool,
    pub(super) mac: bool,
    pub(super) crypto: bool,
    pub(super) secret: bool,
    /// Whether the names of fields say what their values are.
    pub(super) fields: bool,
    /// The regions whose national numbers are known.
    pub(super) regions: Vec<phone::Region>,
    /// The national rules that are on.
    pub(super) packs: Packs,
    /// The categories of the names that rules report, sorted by name.
    pub(super) names: Vec<(&'static str, Category)>,
}

impl Rules {
    /// Whether findings of this category are wanted where the name of a field makes them.
    pub(super) fn reports(&self, category: Category) -> bool {
        match category {
            Category::SSN => self.ssn,
            Category::CREDIT_CARD => self.card,
            Category::IBAN => self.iban,
            Category::PHONE => self.phone,
            Category::IP_ADDRESS => self.ip,
            _ => self.fields,
        }
    }

    /// The category of a name that a rule reports.
    pub(super) fn category(&self, name: &str) -> Option<Category> {
        let index = self
            .names
            .binary_search_by_key(&name, |(name, _)| name)
            .ok()?;
        Some(self.names[index].1)
    }
}

/// Adds what is proposed at `low..high` of the text, nearly in reading order, and to `odd` the
/// places where something stands in disguise.
pub(super) fn scan(
    text: &[u8],
    low: usize,
    high: usize,
    rules: &Rules,
    out: &mut Vec<Finding>,
    odd: &mut Vec<usize>,
) {
    let mut scan = Scan {
        text,
        rules,
        out,
        odd,
        run_end: 0,
        view: false,
    };
    scan.range(low, high);
}

/// Adds what is proposed in the text of a view, in which nothing stands in disguise any more.
pub(super) fn scan_plain(text: &str, rules: &Rules, out: &mut Vec<Finding>) {
    let odd = &mut Vec::new();
    let mut scan = Scan {
        text: text.as_bytes(),
        rules,
        out,
        odd,
        run_end: 0,
        view: true,
    };
    scan.range(0, text.len());
}

/// The places of a block that are worth a rule's time.
struct Events {
    /// The starts of words of which one of the next four sets speaks.
    words: u64,
    /// Where a number begins that is long, or goes on behind a separator, or is opened by one.
    digits: u64,
    /// A word of two letters and then two digits.
    iban: u64,
    /// A word that has digits among its first characters, or one to three letters before a number.
    named: u64,
    /// A word with twelve and more characters of a key ahead.
    secret: u64,
    /// A word of two letters.
    pair: u64,
    /// Two hexadecimal digits before a colon or hyphen, or four before a separator.
    hardware: u64,
    /// Where something may stand in disguise.
    odd: u64,
    /// Every `@`.
    at: u64,
    /// The first dash of an option (`--password`).
    option: u64,
    /// Every `=` and `:`.
    assignment: u64,
}

impl Events {
    fn all(&self) -> u64 {
        self.words | self.odd | self.at | self.option | self.assignment
    }

    #[inline(always)]
    fn of(last: &Masks, here: &Masks, next: &Masks) -> Self {
        let wide = |here: u64, next: u64| u128::from(next) << 64 | u128::from(here);
        let after = |here: u64, last: u64, n: u32| here << n | last >> (64 - n);
        let digit = wide(here.digit, next.digit);
        let separator = wide(here.separator, next.separator);
        let begins = here.digit & !after(here.digit, last.digit, 1);

        // Runs of 1 to 6 digits at each place; runs of seven and more are all of interest.
        let run2 = digit & digit >> 1;
        let run3 = run2 & digit >> 2;
        let run4 = run2 & run2 >> 2;
        let run6 = run4 & run2 >> 4;
        let run7 = run4 & run3 >> 4;
        // A separator that another digit follows, or a bracket and a space.
        let joint = separator & (digit >> 1 | separator >> 1 & digit >> 2);
        let joined = digit & joint >> 1
            | run2 & joint >> 2
            | run3 & joint >> 3
            | run4 & joint >> 4
            | run4 & digit >> 4 & joint >> 5
            | run6 & joint >> 6;
        let digits = begins & (joined | run7) as u64;

        let word = wide(here.word, next.word);
        let letter = word & !digit;
        let word_begins = here.word & !after(here.word, last.word, 1);
        let iban = word_begins & (letter & letter >> 1 & run2 >> 2) as u64;

        let word2 = word & word >> 1;
        let word4 = word2 & word2 >> 2;
        let word6 = word4 & word2 >> 4;
        let digit2 = digit | digit >> 1;
        let digit4 = digit2 | digit2 >> 2;
        let mixed = word6 & (digit4 | digit4 >> 4);
        let ahead = joint >> 1 & letter
            | joint >> 2 & letter & letter >> 1
            | joint >> 3 & letter & letter >> 1 & letter >> 2;
        let named = (word_begins & (mixed | ahead) as u64) | digits;

        let key = word | wide(here.dash, next.dash);
        let key2 = key & key >> 1;
        let key4 = key2 & key2 >> 2;
        let key8 = key4 & key4 >> 4;
        let secret = word_begins & (key8 & key4 >> 8) as u64;
        let hex = wide(here.hex, next.hex);
        let hex2 = hex & hex >> 1;
        let parts = wide(here.colon | here.dash, next.colon | next.dash);
        let hardware = word_begins & (hex2 & parts >> 2 | hex2 & hex2 >> 2 & separator >> 4) as u64;
        let pair = word_begins & (letter & letter >> 1 & !(word >> 2)) as u64;
        Self {
            words: digits | iban | named | secret | pair,
            pair,
            hardware,
            odd: here.odd,
            option: here.dash
                & !after(here.dash | here.word, last.dash | last.word, 1)
                & (key >> 1 & !(digit >> 1)) as u64,
            digits,
            iban,
            named,
            secret,
            at: here.at,
            assignment: here.colon | here.equals,
        }
    }
}

struct Scan<'a> {
    text: &'a [u8],
    rules: &'a Rules,
    out: &'a mut Vec<Finding>,
    odd: &'a mut Vec<usize>,
    /// Whether this is the text of a view.
    view: bool,
    /// The end of the last run of key characters, so that none is measured twice.
    run_end: usize,
}

impl Scan<'_> {
    fn range(&mut self, low: usize, high: usize) {
        let mut last = Masks::default();
        if low > 0 {
            // What came before matters only for whether something begins at `low`.
            let mut block = [0; BLOCK];
            let from = low.saturating_sub(BLOCK);
            block[BLOCK - (low - from)..].copy_from_slice(&self.text[from..low]);
            last = Masks::load(&block, 0);
        }
        let mut here = Masks::load(self.text, low);
        let mut base = low;
        while base < high {
            let next = Masks::load(self.text, base + BLOCK);
            let events = Events::of(&last, &here, &next);
            let hardware = if self.rules.mac { events.hardware } else { 0 };
            let mut set = events.all() | hardware;
            if high - base < BLOCK {
                set &= (1 << (high - base)) - 1;
            }
            while set != 0 {
                let bit = set & set.wrapping_neg();
                let place = base + set.trailing_zeros() as usize;
                set ^= bit;
                if hardware & bit != 0 {
                    self.add(Category::MAC_ADDRESS, mac::verdict(self.text, place));
                }
                if events.words & bit != 0 {
                    if events.iban & bit != 0 {
                        self.iban(place);
                    }
                    if events.named & bit != 0 {
                        self.number(place, events.digits & bit != 0);
                    }
                    if events.pair & bit != 0 {
                        self.pair(place);
                    }
                    if events.secret & bit != 0 {
                        self.secret(place);
                    }
                } else if events.odd & bit != 0 {
                    self.odd(place);
                } else if events.option & bit != 0 {
                    self.option(place);
                } else if events.at & bit != 0 {
                    self.at_sign(place);
                } else if events.assignment & bit != 0 {
                    self.assignment(place);
                }
            }
            (last, here) = (here, next);
            base += BLOCK;
        }
    }

    fn add(&mut self, category: Category, hit: Option<Hit>) {
        if let Some(Hit {
            start,
            end,
            confidence,
            rule,
        }) = hit
        {
            self.out.push(Finding {
                start,
                end,
                category,
                confidence,
                rule,
            });
        }
    }

    /// A number; whether what it is leaves no room for anything else.
    fn digits(&mut self, place: usize) -> bool {
        let text = self.text;
        let length = run(text, place, DIGIT, 20) - place;
        if self.rules.card && (length >= 12 || matches!(length, 4..=6)) {
            let hit = card::verdict(text, place, length);
            if hit.is_some() {
                self.add(Category::CREDIT_CARD, hit);
                return true;
            }
        }
        if self.rules.ssn && matches!(length, 3 | 9) {
            self.add(Category::SSN, ssn::verdict(text, place, length));
        }
        if self.rules.ip && length <= 3 && at(text, place + length) == b'.' {
            let hit = ip::v4(text, place, length);
            if hit.is_some() {
                self.add(Category::IP_ADDRESS, hit);
                return true;
            }
        }
        if self.rules.phone {
            let hit = match before(text, place) {
                b'+' => phone::international(text, place - 1),
                b'(' if before(text, place - 1) == b'+' => phone::international(text, place - 2),
                b'(' => phone::national(text, place - 1, &self.rules.regions),
                _ => phone::national(text, place, &self.rules.regions),
            };
            self.add(Category::PHONE, hit);
        }
        false
    }

    /// A word of two letters; `at` may be the sign of an address that is spelled out.
    #[inline(always)]
    fn pair(&mut self, place: usize) {
        if self.text[place] | 0x20 == b'a'
            && self.text[place + 1] | 0x20 == b't'
            && self.rules.email
        {
            self.add(Category::EMAIL, spelled::verdict(self.text, place));
        }
    }

    #[inline(always)]
    fn odd(&mut self, place: usize) {
        if !self.view && views::is_trigger(self.text, place) {
            self.odd.push(place);
        }
    }

    fn at_sign(&mut self, place: usize) {
        if self.rules.email {
            self.add(Category::EMAIL, email::verdict(self.text, place));
        }
    }

    fn iban(&mut self, place: usize) {
        if self.rules.iban {
            self.add(Category::IBAN, iban::verdict(self.text, place));
        }
    }

    /// A number, or a word with digits in it.
    fn number(&mut self, place: usize, digits: bool) {
        let previous = before(self.text, place);
        let behind_digit = place >= 2 && is(self.text[place - 2], DIGIT);
        // A number begins with its first group.
        if matches!(previous, b'-' | b'.') && behind_digit || is_date(&self.text[place..]) {
            return;
        }
        let settled = digits && self.digits(place);
        if !settled && !(matches!(previous, b'/' | b':') && behind_digit) {
            self.national(place);
        }
    }

    fn national(&mut self, place: usize) {
        if let Some(hit) = national::at(self.text, place, &self.rules.packs) {
            self.add_named(hit.name, place, hit.end, hit.confidence, hit.rule);
        }
    }

    fn secret(&mut self, place: usize) {
        if !self.view {
            views::find_in_base64(self.text, place, self.rules, self.out);
        }
        if self.rules.crypto {
            self.add(Category::CRYPTO, crypto::verdict(self.text, place));
        }
        if !self.rules.secret {
            return;
        }
        if place >= self.run_end {
            self.run_end = run(self.text, place, WORD | DASH, usize::MAX - place);
        }
        if let Some(hit) = secret::at(self.text, place, self.run_end) {
            self.add_secret(hit);
        }
    }

    /// A `:` or `=`.
    fn assignment(&mut self, place: usize) {
        let text = self.text;
        let next = at(text, place + 1);
        if text[place] == b'=' && !self.view && views::is_trigger(text, place) {
            self.odd.push(place);
        }
        if text[place] == b':' {
            if self.rules.ip && (next == b':' || is(next, HEX)) {
                self.add(Category::IP_ADDRESS, ip::v6(text, place));
            }
            if next == b'/' && self.rules.secret {
                let hit = secret::url_credentials(text, place);
                return hit.into_iter().for_each(|hit| self.add_secret(hit));
            }
        }
        if self.rules.secret
            && let Some(hit) = secret::assignment(text, place)
        {
            self.add_secret(hit);
        }
        self.field(place);
    }

    fn field(&mut self, place: usize) {
        if self.rules.fields
            && let Some((category, hit)) = fields::assignment(self.text, place)
            && self.rules.reports(category)
        {
            self.add(category, Some(hit));
        }
    }

    fn option(&mut self, place: usize) {
        if self.rules.secret
            && let Some(hit) = secret::option(self.text, place)
        {
            self.add_secret(hit);
        }
    }

    fn add_secret(&mut self, hit: secret::Hit) {
        self.add_named(hit.name, hit.start, hit.end, hit.confidence, hit.rule);
    }

    fn add_named(
        &mut self,
        name: &'static str,
        start: usize,
        end: usize,
        confidence: u8,
        rule: &'static str,
    ) {
        if let Some(category) = self.rules.category(name) {
            self.out.push(Finding {
                start,
                end,
                category,
                confidence,
                rule,
            });
        }
    }
}

/// `2026-03-01`: the commonest of all numbers with separators.
fn is_date(text: &[u8]) -> bool {
    let [y @ .., b'-', m1, m2, b'-', d1, d2] =
        text.first_chunk::<10>().map_or(&[][..], |date| date)
    else {
        return false;
    };
    let digits = [*m1, *m2, *d1, *d2].iter().chain(y).all(u8::is_ascii_digit);
    let month = matches!(m1, b'0' | b'1');
    digits && month && matches!(y, [b'1', b'9', ..] | [b'2', b'0', ..]) && !is(at(text, 10), DIGIT)
}
