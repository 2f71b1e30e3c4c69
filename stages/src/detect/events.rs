//! The places that are worth a rule's time, sixty-four bytes at a time.

use super::masks::Masks;

/// The places of a block that are worth a rule's time.
#[derive(Default)]
pub(super) struct Events {
    /// Where a number begins that is long, or goes on behind a separator, or is opened by one.
    pub(super) digits: u64,
    /// A word of two letters and then two digits.
    pub(super) iban: u64,
    /// A word that has digits among its first characters and is long or goes on behind a hyphen, or one to three letters before a number,
    /// and every place of `digits`.
    pub(super) named: u64,
    /// A word with twelve and more characters of a key ahead.
    pub(super) secret: u64,
    /// The word `at`.
    pub(super) at_word: u64,
    /// Two hexadecimal digits before a colon or hyphen, or four before a separator.
    pub(super) hardware: u64,
    /// Where something may stand in disguise.
    pub(super) odd: u64,
    /// Every `@`.
    pub(super) at: u64,
    /// The first dash of an option (`--password`).
    pub(super) option: u64,
    /// Every `=` and `:`.
    pub(super) assignment: u64,
}

impl Events {
    /// The places where words of which the first sets speak begin.
    #[inline(always)]
    pub(super) fn words(&self) -> u64 {
        self.iban | self.named | self.secret | self.at_word | self.hardware
    }

    #[inline(always)]
    pub(super) fn all(&self) -> u64 {
        self.words() | self.odd | self.at | self.option | self.assignment
    }

    /// The events of the block `here`, between its neighbours.
    #[inline(always)]
    pub(super) fn of(last: &Masks, here: &Masks, next: &Masks, hardware: bool) -> Self {
        let word = wide(here.word, next.word);
        let dash = wide(here.dash, next.dash);
        let begins = here.word & !after(here.word, last.word);
        let key = word | dash;
        let key2 = key & key >> 1;
        let key4 = key2 & key2 >> 2;
        let key8 = key4 & key4 >> 4;
        let word_or_dash = here.dash | here.word;
        let not_digit = !(wide(here.digit, next.digit) >> 1);
        let mut events = Self {
            secret: begins & (key8 & key4 >> 8) as u64,
            at_word: begins & here.a & (wide(here.t, next.t) >> 1 & !(word >> 2)) as u64,
            odd: here.odd,
            at: here.at,
            option: here.dash
                & !after(word_or_dash, last.dash | last.word)
                & (key >> 1 & not_digit) as u64,
            assignment: here.colon | here.equals,
            ..Self::default()
        };
        // Most of prose and code has no digit far and wide.
        if here.digit | next.digit & 0xFFFF != 0 {
            events.add_numbers(last, here, next, begins);
        }
        if hardware {
            let hex = wide(here.hex, next.hex);
            let hex2 = hex & hex >> 1;
            let parts = wide(here.colon, next.colon) | dash;
            let separator = wide(here.separator, next.separator);
            events.hardware =
                begins & (hex2 & parts >> 2 | hex2 & hex2 >> 2 & separator >> 4) as u64;
        }
        events
    }

    /// What begins with a number, or has one in it.
    #[inline(always)]
    fn add_numbers(&mut self, last: &Masks, here: &Masks, next: &Masks, begins: u64) {
        let word = wide(here.word, next.word);
        let digit = wide(here.digit, next.digit);
        let separator = wide(here.separator, next.separator);
        let letter = word & !digit;

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
        self.digits = here.digit & !after(here.digit, last.digit) & (joined | run7) as u64;

        self.iban = begins & (letter & letter >> 1 & run2 >> 2) as u64;

        let word2 = word & word >> 1;
        let word4 = word2 & word2 >> 2;
        let word6 = word4 & word2 >> 4;
        let digit2 = digit | digit >> 1;
        let digit4 = digit2 | digit2 >> 2;
        let dash = wide(here.dash, next.dash);
        let short =
            word2 & word >> 2 & (dash >> 3 | word >> 3 & (dash >> 4 | word >> 4 & dash >> 5));
        let mixed = word6 & (digit4 | digit4 >> 4) | short & digit4;
        let ahead = joint >> 1 & letter
            | joint >> 2 & letter & letter >> 1
            | joint >> 3 & letter & letter >> 1 & letter >> 2;
        self.named = (begins & (mixed | ahead) as u64) | self.digits;
    }
}

/// The positions of two blocks as one set.
#[inline(always)]
fn wide(here: u64, next: u64) -> u128 {
    u128::from(next) << 64 | u128::from(here)
}

/// The positions behind those of a set.
#[inline(always)]
fn after(here: u64, last: u64) -> u64 {
    here << 1 | last >> 63
}
