//! One pass over the bytes that proposes places, and the rules that judge them.
//!
//! A rule is asked about one place and reads a bounded neighbourhood of it in the whole text,
//! never where the scan began nor what else was found. So the findings of a range are those of
//! the whole that are proposed within it, and the union over any cuts is the whole.

use super::bytes::{at, before, run};
use super::masks::{BLOCK, Masks};
use super::rules::{Hit, card, email, iban, ip, phone, ssn};
use super::{Category, Finding};

/// How far to either side of its place a rule reads, in bytes: the widest of all rules.
pub(super) const REACH: usize = 512;

/// The rules that are asked.
#[derive(Clone, Default, Debug)]
pub(super) struct Rules {
    pub(super) email: bool,
    pub(super) ssn: bool,
    pub(super) card: bool,
    pub(super) iban: bool,
    pub(super) phone: bool,
    pub(super) ip: bool,
    /// The regions whose national numbers are known.
    pub(super) regions: Vec<phone::Region>,
}

/// Adds what is proposed at `low..high` of the text, nearly in reading order.
pub(super) fn scan(text: &[u8], low: usize, high: usize, rules: &Rules, out: &mut Vec<Finding>) {
    let mut scan = Scan { text, rules, out };
    let mut last = Masks::default();
    if low > 0 {
        // What came before matters only for whether something begins at `low`.
        let mut block = [0; BLOCK];
        let from = low.saturating_sub(BLOCK);
        block[BLOCK - (low - from)..].copy_from_slice(&text[from..low]);
        last = Masks::load(&block, 0);
    }
    let mut here = Masks::load(text, low);
    let mut base = low;
    while base < high {
        let next = Masks::load(text, base + BLOCK);
        let events = Events::of(&last, &here, &next);
        let mut set = events.digits | events.at | events.colon | events.iban;
        if high - base < BLOCK {
            set &= (1 << (high - base)) - 1;
        }
        while set != 0 {
            let bit = set & set.wrapping_neg();
            let place = base + set.trailing_zeros() as usize;
            set ^= bit;
            if events.digits & bit != 0 {
                scan.digits(place);
            } else if events.at & bit != 0 {
                scan.at_sign(place);
            } else if events.colon & bit != 0 {
                scan.colon(place);
            }
            if events.iban & bit != 0 {
                scan.iban(place);
            }
        }
        (last, here) = (here, next);
        base += BLOCK;
    }
}

/// The places of a block that are worth a rule's time.
struct Events {
    /// Where a number begins that is long, or goes on behind a separator, or is opened by one.
    digits: u64,
    /// Every `@`.
    at: u64,
    /// A colon that may be the first of an IPv6 address.
    colon: u64,
    /// A word of two letters and then two digits.
    iban: u64,
}

impl Events {
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

        let hex_or_colon = wide(here.hex | here.colon, next.hex | next.colon);
        let colon = here.colon & (hex_or_colon >> 1) as u64;

        let word = wide(here.word, next.word);
        let letter = word & !digit;
        let word_begins = here.word & !after(here.word, last.word, 1);
        let iban = word_begins & (letter & letter >> 1 & run2 >> 2) as u64;
        Self {
            digits,
            at: here.at,
            colon,
            iban,
        }
    }
}

struct Scan<'a> {
    text: &'a [u8],
    rules: &'a Rules,
    out: &'a mut Vec<Finding>,
}

impl Scan<'_> {
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

    fn digits(&mut self, place: usize) {
        let text = self.text;
        let length = run(text, place, super::bytes::DIGIT, 20) - place;
        if self.rules.card && (length >= 12 || matches!(length, 4..=6)) {
            self.add(Category::CREDIT_CARD, card::verdict(text, place, length));
        }
        if self.rules.ssn && matches!(length, 3 | 9) {
            self.add(Category::SSN, ssn::verdict(text, place, length));
        }
        if self.rules.ip && length <= 3 && at(text, place + length) == b'.' {
            self.add(Category::IP_ADDRESS, ip::v4(text, place, length));
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
    }

    fn at_sign(&mut self, place: usize) {
        if self.rules.email {
            self.add(Category::EMAIL, email::verdict(self.text, place));
        }
    }

    fn colon(&mut self, place: usize) {
        if self.rules.ip {
            self.add(Category::IP_ADDRESS, ip::v6(self.text, place));
        }
    }

    fn iban(&mut self, place: usize) {
        if self.rules.iban {
            self.add(Category::IBAN, iban::verdict(self.text, place));
        }
    }
}
