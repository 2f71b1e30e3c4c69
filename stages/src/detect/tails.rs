//! How known names end.

/// The ends of many names, so that nearly every other name is refused by a look at its last
/// letters.
pub(super) struct Tails {
    /// A bit for every three letters.
    three: Vec<u64>,
    /// A bit for the two letters of names that have no more.
    two: Vec<u64>,
}

impl Tails {
    /// The tails of names in lower case.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut tails = Self {
            three: vec![0; (1 << 15) / 64],
            two: vec![0; (1 << 10) / 64],
        };
        for name in names {
            match *name.as_bytes() {
                [.., a, b, c] => insert(&mut tails.three, bits(&[a, b, c])),
                [a, b] => insert(&mut tails.two, bits(&[a, b])),
                _ => {}
            }
        }
        tails
    }

    /// Whether one of the names, in any case and with separators between its words, may end where
    /// `text` does. Those in other scripts than Latin always may.
    #[inline(always)]
    pub(super) fn may_end(&self, text: &[u8]) -> bool {
        let Some((c, rest, _)) = letter_before(text) else {
            return false;
        };
        let Some((b, rest, _)) = letter_before(rest) else {
            return !c.is_ascii();
        };
        if !b.is_ascii() || !c.is_ascii() {
            return true;
        }
        match letter_before(rest) {
            None => has(&self.two, bits(&[b, c])),
            Some((a, _, parted)) => {
                has(&self.three, bits(&[a, b, c]))
                    || (parted || begins_word(a, b, c)) && has(&self.two, bits(&[b, c]))
            }
        }
    }
}

/// The last letter or digit of a text, what stands before it, and whether a separator stood behind.
#[inline(always)]
fn letter_before(text: &[u8]) -> Option<(u8, &[u8], bool)> {
    let mut rest = text;
    loop {
        let (&last, head) = rest.split_last()?;
        match last {
            b'_' | b'-' | b'.' | b' ' | b'/' | b'\'' if text.len() - head.len() <= 3 => rest = head,
            _ if last.is_ascii_alphanumeric() || !last.is_ascii() => {
                return Some((last, head, rest.len() < text.len()));
            }
            _ => return None,
        }
    }
}

/// Letters without their case; what is none falls together with some.
#[inline(always)]
fn bits(letters: &[u8]) -> usize {
    letters
        .iter()
        .fold(0, |bits, letter| bits << 5 | usize::from(letter & 31))
}

fn insert(set: &mut [u64], bit: usize) {
    set[bit / 64] |= 1 << (bit % 64);
}

#[inline(always)]
fn has(set: &[u64], bit: usize) -> bool {
    set[bit / 64] >> (bit % 64) & 1 == 1
}

/// Whether a word of `camelCase` may begin at `b`.
#[inline(always)]
fn begins_word(a: u8, b: u8, c: u8) -> bool {
    let upper = b.is_ascii_uppercase();
    upper && (a.is_ascii_lowercase() || c.is_ascii_lowercase()) || !a.is_ascii_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_names() {
        let tails = Tails::of(["firstname", "ip", "id2", "имя", "createdby"].into_iter());
        for name in [
            "first_name",
            "firstName",
            "NAME",
            "ip",
            "client_ip",
            "clientIp",
            "DBIp",
            "id2",
            "id_2",
            "ИМЯ",
            "created_by",
            "CreatedBy",
            "\"ip",
        ] {
            assert!(tails.may_end(name.as_bytes()), "{name}");
        }
        for name in [
            "", "e", "title", "zip", "ZIP", "is", "\"id", "22", "x_e", "used_bx", ":p",
        ] {
            assert!(!tails.may_end(name.as_bytes()), "{name}");
        }
    }
}
