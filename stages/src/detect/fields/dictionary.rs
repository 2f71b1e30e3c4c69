//! What the names of fields say: `fields.txt`, and the words of the national rules.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::detect::national;
use crate::detect::tails::Tails;

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
    /// How those names end that make a finding of an assignment.
    tails: Tails,
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
        // Other rules find these two, with or without a name.
        let found_anyway = |kind: &Kind| matches!(kind, Kind::Email | Kind::National);
        let names = kinds.iter().filter(|(_, kind)| !found_anyway(kind));
        let tails = Tails::of(names.map(|(name, _)| *name));
        Self { kinds, tails }
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

/// Whether a name that makes a finding may end where `text` does. Cheap, to be asked first.
#[inline(always)]
pub(super) fn may_end(text: &[u8]) -> bool {
    DICTIONARY.tails.may_end(text)
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
        assert!(may_end(b"name") && may_end(b"FIRST_NAME") && !may_end(b"iraq"));
        assert_eq!(kind("firstname"), Some(Kind::Person));
        assert_eq!(kind("nhs"), Some(Kind::National));
    }
}
