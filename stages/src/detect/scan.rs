//! One pass over the bytes that proposes places, and the rules that judge them.
//!
//! A rule is asked about one place and reads a bounded neighbourhood of it in the whole text,
//! never where the scan began nor what else was found. So the findings of a range are those of
//! the whole that are proposed within it, and the union over any cuts is the whole.

use super::bytes::{DASH, DIGIT, HEX, LOCAL, WORD, at, before, is, run};
use super::events::Events;
use super::masks::{BLOCK, Masks, classify};
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

/// How many blocks are sorted into classes before the first of them is looked at.
const BLOCKS: usize = 16;

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
        // The blocks of a step, with the one before and the one behind.
        let mut masks = [Masks::default(); BLOCKS + 2];
        if low > 0 {
            // What came before matters only for whether something begins at `low`.
            let from = low.saturating_sub(BLOCK);
            let mut before = [0; BLOCK];
            before[BLOCK - (low - from)..].copy_from_slice(&self.text[from..low]);
            classify(&before, 0, &mut masks[..1]);
        }
        for from in (low..high).step_by(BLOCKS * BLOCK) {
            classify(self.text, from, &mut masks[1..]);
            let bases = (from..high).step_by(BLOCK);
            for (neighbours, base) in masks.windows(3).zip(bases) {
                let [last, here, next] = neighbours else {
                    unreachable!("windows of three");
                };
                let events = Events::of(last, here, next, self.rules.mac);
                self.block(base, high, &events);
            }
            masks[0] = masks[BLOCKS];
        }
    }

    fn block(&mut self, base: usize, high: usize, events: &Events) {
        let mut set = events.all();
        if high - base < BLOCK {
            set &= (1 << (high - base)) - 1;
        }
        let words = events.words();
        while set != 0 {
            let bit = set & set.wrapping_neg();
            let place = base + set.trailing_zeros() as usize;
            set ^= bit;
            if words & bit != 0 {
                self.word(place, bit, events);
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
    }

    /// A word or number begins.
    #[inline(always)]
    fn word(&mut self, place: usize, bit: u64, events: &Events) {
        if events.named & bit != 0 && is_date(&self.text[place..]) {
            return;
        }
        if events.hardware & bit != 0 {
            self.add(Category::MAC_ADDRESS, mac::verdict(self.text, place));
        }
        if events.iban & bit != 0 {
            self.iban(place);
        }
        if events.named & bit != 0 {
            self.number(place, events.digits & bit != 0);
        }
        if events.at_word & bit != 0 && self.rules.email {
            // The sign of an address that is spelled out.
            self.add(Category::EMAIL, spelled::verdict(self.text, place));
        }
        if events.secret & bit != 0 {
            self.secret(place);
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

    #[inline(always)]
    fn odd(&mut self, place: usize) {
        if !self.view && views::is_trigger(self.text, place) {
            self.odd.push(place);
        }
    }

    fn at_sign(&mut self, place: usize) {
        let part = |c: u8| c >= 0x80 || is(c, LOCAL) || matches!(c, b'"' | b'[');
        let between = part(before(self.text, place)) && part(at(self.text, place + 1));
        if between && self.rules.email {
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
        if matches!(previous, b'-' | b'.') && behind_digit {
            return;
        }
        let settled = digits && self.digits(place);
        if !(settled || matches!(previous, b'/' | b':') && behind_digit) {
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
        let (previous, next) = (before(text, place), at(text, place + 1));
        if text[place] == b':' && previous == b':' {
            return;
        }
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
            if next == b':' {
                return;
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
