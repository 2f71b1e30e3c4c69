//! How known names end.

/// The ends of many names, so that nearly every other name is refused by a look at its last
/// letters.
pub(super) struct Tails {
    /// A bit for every two bytes.
    two: Vec<u64>,
    /// A bit for every three letters.
    three: Vec<u64>,
}

impl Tails {
    /// The tails of names in lower case.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut tails = Self {
            two: vec![0; (1 << 16) / 64],
            three: vec![0; (1 << 15) / 64],
        };
        for name in names.map(str::as_bytes) {
            if let [.., a, b] = *name {
                let bit = pair(a, b);
                tails.two[bit / 64] |= 1 << (bit % 64);
            }
            if let [.., a, b, c] = *name {
                let bit = letters(a, b, c);
                tails.three[bit / 64] |= 1 << (bit % 64);
            }
        }
        tails
    }

    /// Whether one of the names, in any case of ASCII, may end where `text` does. Those in other
    /// scripts always may.
    #[inline(always)]
    pub(super) fn may_end(&self, text: &[u8]) -> bool {
        let has = |set: &[u64], bit: usize| set[bit / 64] >> (bit % 64) & 1 == 1;
        match *text {
            [.., a, b] if !a.is_ascii() || !b.is_ascii() => true,
            [.., a, b, c] if in_one_word(a, b, c) => has(&self.three, letters(a, b, c)),
            [.., a, b] => has(
                &self.two,
                pair(a.to_ascii_lowercase(), b.to_ascii_lowercase()),
            ),
            _ => false,
        }
    }
}

fn pair(a: u8, b: u8) -> usize {
    usize::from(a) << 8 | usize::from(b)
}

/// The three letters without their case; what is none falls together with some.
fn letters(a: u8, b: u8, c: u8) -> usize {
    [a, b, c]
        .iter()
        .fold(0, |bits, letter| bits << 5 | usize::from(letter & 31))
}

/// Whether the bytes are letters between which no word of `camelCase` begins.
#[inline(always)]
fn in_one_word(a: u8, b: u8, c: u8) -> bool {
    let alike = |a: u8, b: u8| (a ^ b) & 0x20 == 0;
    [a, b, c].iter().all(u8::is_ascii_alphabetic)
        && alike(b, c)
        && (alike(a, b) || a.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_names() {
        let tails = Tails::of(["firstname", "ip", "id2", "имя"].into_iter());
        for name in [
            "first_name",
            "firstName",
            "NAME",
            "ip",
            "client_ip",
            "clientIp",
            "DBIp",
            "id2",
            "ИМЯ",
        ] {
            assert!(tails.may_end(name.as_bytes()), "{name}");
        }
        for name in ["", "e", "title", "zip", "ZIP", "is", "22", "x_e"] {
            assert!(!tails.may_end(name.as_bytes()), "{name}");
        }
    }
}
