//! What the names of fields say: `fields.txt`, and the words of the national rules.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::detect::national;

/// What the values of a field are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Person,
    Role,
    Email,
    Phone,
    Ssn,
    Card,
    Iban,
    Ip,
    Birth,
    Address,
    Postal,
    Passport,
    License,
    Account,
    /// A number of a national rule.
    National,
}

/// The longest name, in bytes without separators.
pub(super) const NAME_MAX: usize = 48;

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(Dictionary::read);

struct Dictionary {
    kinds: HashMap<&'static str, Kind>,
    /// Whether a name ends with these two bytes; one bit each.
    endings: Vec<u64>,
}

impl Dictionary {
    fn read() -> Self {
        let mut kinds: HashMap<_, _> = national::keywords()
            .flat_map(|(_, words)| words)
            .map(|word| (*word, Kind::National))
            .collect();
        for line in include_str!("fields.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
        {
            let Some((kind, names)) = line.split_once(':') else {
                continue;
            };
            let kind = kind_of(kind);
            kinds.extend(names.split(',').map(|name| (name.trim(), kind)));
        }
        let mut endings = vec![0; 1 << 10];
        for name in kinds.keys() {
            let [.., a, b] = *name.as_bytes() else {
                continue;
            };
            set(&mut endings, a, b);
        }
        Self { kinds, endings }
    }
}

fn kind_of(name: &str) -> Kind {
    match name {
        "person" => Kind::Person,
        "role" => Kind::Role,
        "email" => Kind::Email,
        "phone" => Kind::Phone,
        "ssn" => Kind::Ssn,
        "card" => Kind::Card,
        "iban" => Kind::Iban,
        "ip" => Kind::Ip,
        "birth" => Kind::Birth,
        "address" => Kind::Address,
        "postal" => Kind::Postal,
        "passport" => Kind::Passport,
        "license" => Kind::License,
        "account" => Kind::Account,
        other => unreachable!("fields.txt has no kind {other}"),
    }
}

fn place(a: u8, b: u8) -> (usize, u64) {
    let index = usize::from(a) << 8 | usize::from(b);
    (index >> 6, 1 << (index & 63))
}

fn set(endings: &mut [u64], a: u8, b: u8) {
    let (word, bit) = place(a, b);
    endings[word] |= bit;
}

/// Whether a name may end with these two bytes, in either case. Cheap, to be asked first.
#[inline(always)]
pub(super) fn may_end(a: u8, b: u8) -> bool {
    let (word, bit) = place(a.to_ascii_lowercase(), b.to_ascii_lowercase());
    DICTIONARY.endings[word] & bit != 0
}

/// The kind of exactly this name, written as in the dictionary.
pub(super) fn kind(name: &str) -> Option<Kind> {
    DICTIONARY.kinds.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_normal() {
        for (name, kind) in &DICTIONARY.kinds {
            let normal = *name == name.to_lowercase()
                && name.chars().all(char::is_alphanumeric)
                && name.len() <= NAME_MAX;
            assert!(normal || *kind == Kind::National, "{name}");
        }
    }

    #[test]
    fn endings_cover_the_names() {
        assert!(may_end(b'm', b'e') && may_end(b'M', b'E') && !may_end(b'q', b'q'));
        assert_eq!(kind("firstname"), Some(Kind::Person));
        assert_eq!(kind("nhs"), Some(Kind::National));
    }
}
