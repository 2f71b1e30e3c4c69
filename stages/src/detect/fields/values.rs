//! What a value must look like, given what its field's name says.

use super::dictionary::Kind;
use crate::detect::Category;
use crate::detect::bytes::is;
use crate::detect::bytes::{ALNUM, ALPHA, DIGIT};

/// The longest name of a person, address or the like, in bytes.
const TEXT_MAX: usize = 120;

/// The category of the value, how sure that is, and how many of its bytes it takes; `None` when
/// the value does not look like what the name says.
///
/// An unquoted value may be an expression of a program, so the name of a person must be
/// capitalised there.
pub(super) fn judge(kind: Kind, value: &str, unquoted: bool) -> Option<(Category, u8, usize)> {
    let whole = |category, confidence| Some((category, confidence, value.len()));
    if value.is_empty() || value.len() > TEXT_MAX || is_placeholder(value) {
        return None;
    }
    match kind {
        Kind::Person => person(value, 1, unquoted).map(|end| (Category::PERSON, 85, end)),
        Kind::Role => person(value, 2, true).map(|end| (Category::PERSON, 70, end)),
        Kind::Phone if is_number(value, 6..=17, " -./()+x") => whole(Category::PHONE, 90),
        Kind::Ssn if is_number(value, 9..=9, " -.") => whole(Category::SSN, 92),
        Kind::Card if is_number(value, 12..=19, " -.") => whole(Category::CREDIT_CARD, 85),
        Kind::Iban if is_iban(value) => whole(Category::IBAN, 80),
        Kind::Ip
            if value
                .parse::<std::net::IpAddr>()
                .is_ok_and(|ip| is_somebodys(&ip)) =>
        {
            whole(Category::IP_ADDRESS, 92)
        }
        Kind::Birth if is_date(value) => whole(Category::DATE_OF_BIRTH, 92),
        Kind::Address if is_address(value) => whole(Category::ADDRESS, 80),
        Kind::Postal if is_code(value, 3..=10, 2) => whole(Category::POSTAL_CODE, 80),
        Kind::Passport if is_code(value, 6..=12, 4) => whole(Category::PASSPORT, 85),
        Kind::License if is_code(value, 5..=20, 4) => whole(Category::DRIVER_LICENSE, 80),
        Kind::Account if is_number(value, 6..=20, " -") => whole(Category::BANK_ACCOUNT, 80),
        _ => None,
    }
}

fn is_somebodys(ip: &std::net::IpAddr) -> bool {
    !ip.is_loopback() && !ip.is_unspecified()
}

/// What stands where there is no value, and the types of a schema.
fn is_placeholder(value: &str) -> bool {
    const NONE: &[&str] = &[
        "null",
        "none",
        "nil",
        "nan",
        "n/a",
        "na",
        "unknown",
        "undefined",
        "true",
        "false",
        "string",
        "str",
        "text",
        "varchar",
        "integer",
        "int",
        "number",
        "object",
        "array",
        "boolean",
        "bool",
        "required",
        "optional",
        "default",
        "todo",
        "tbd",
        "test",
        "example",
        "empty",
        "self",
        "yes",
        "no",
        "redacted",
        "anonymous",
        "admin",
        "root",
        "system",
        "user",
        "char",
        "float",
        "date",
        "email",
        "phone",
        "name",
        "first",
        "last",
        "this",
        "char*",
        "any",
        "all",
        "new",
        "get",
        "set",
    ];
    NONE.iter().any(|none| value.eq_ignore_ascii_case(none))
}

/// Where the name of a person ends that the value begins with: words of letters, `'`, `-`, `.`;
/// capitals where `strict`.
fn person(value: &str, words: usize, strict: bool) -> Option<usize> {
    let mut count = 0;
    let mut end = 0;
    let mut at = 0;
    for word in value.split(' ') {
        let trimmed = word.trim_end_matches([',', ';', ')']);
        let small = matches!(
            trimmed,
            "de" | "del"
                | "della"
                | "da"
                | "dos"
                | "di"
                | "la"
                | "le"
                | "van"
                | "von"
                | "der"
                | "den"
                | "bin"
                | "ibn"
                | "al"
                | "y"
                | "e"
                | "zu"
                | "af"
                | "ter"
        );
        let fits = count < 6
            && !trimmed.is_empty()
            && (small && (count > 0 || !strict) || is_name_word(trimmed, strict));
        if !fits {
            // The whole of an unquoted value must be a name where any spelling will do.
            return (strict && count >= words).then_some(end);
        }
        count += usize::from(!small);
        if !small {
            end = at + trimmed.len();
        }
        at += word.len() + 1;
        if trimmed.len() < word.len() && !word.ends_with(',') {
            break;
        }
        if word.ends_with(',') && strict {
            break;
        }
    }
    (count >= words).then_some(end)
}

fn is_name_word(word: &str, strict: bool) -> bool {
    const THINGS: &[&str] = &[
        "inc",
        "ltd",
        "llc",
        "gmbh",
        "corp",
        "company",
        "team",
        "group",
        "service",
        "server",
        "project",
        "university",
        "department",
        "bank",
        "foundation",
        "systems",
        "software",
        "street",
        "the",
        "and",
        "new",
        "test",
        "default",
        "unknown",
        "user",
        "admin",
        "manager",
        "api",
        "app",
        "data",
        "file",
        "error",
        "not",
        "for",
        "with",
        "house",
        "international",
        "solutions",
        "labs",
        "studio",
        "studios",
        "build",
        "type",
        "open",
        "general",
        "customer",
        "support",
        "sales",
        "account",
        "contributors",
        "authors",
        "authority",
        "association",
    ];
    let first = word.chars().next().unwrap_or(' ');
    let letters = word.chars().all(|c| {
        c.is_alphabetic()
            || matches!(c, '\'' | '’' | '-' | '.' | '\u{300}'..='\u{36f}' | '\u{900}'..='\u{97f}')
    });
    // Scripts without case have no capitals to ask for.
    let capital = first.is_uppercase() || !first.is_lowercase() && first.is_alphabetic();
    // `MAX_SIZE` and `camelCase` are words of programs; `McKay` and `DiCaprio` are not.
    let dotted = word.trim_end_matches('.').contains('.') && word.len() > 5;
    letters
        && first.is_alphabetic()
        && !dotted
        && (capital || !strict)
        && !(strict && THINGS.iter().any(|thing| word.eq_ignore_ascii_case(thing)))
}

/// Digits of the given count, with nothing else but `others`.
fn is_number(value: &str, digits: std::ops::RangeInclusive<usize>, others: &str) -> bool {
    let count = value.bytes().filter(u8::is_ascii_digit).count();
    value.ends_with(|c: char| c.is_ascii_digit())
        && digits.contains(&count)
        && value
            .chars()
            .all(|c| c.is_ascii_digit() || others.contains(c))
}

/// Letters, digits and single separators, at least `digits` of them digits.
fn is_code(value: &str, length: std::ops::RangeInclusive<usize>, digits: usize) -> bool {
    let bytes = value.as_bytes();
    let inner = bytes
        .iter()
        .all(|c| is(*c, ALNUM) || matches!(c, b' ' | b'-'));
    inner
        && length.contains(&bytes.len())
        && bytes.iter().filter(|c| is(**c, DIGIT)).count() >= digits
        && is(bytes[0], ALNUM)
}

fn is_iban(value: &str) -> bool {
    let compact: Vec<u8> = value.bytes().filter(|c| *c != b' ').collect();
    (15..=34).contains(&compact.len())
        && compact[..2].iter().all(|c| is(*c, ALPHA))
        && compact[2..4].iter().all(|c| is(*c, DIGIT))
        && compact.iter().all(|c| is(*c, ALNUM))
}

/// `1990-02-28`, `28.2.1990`, `2/28/90`, `28 February 1990`, also with a time behind.
fn is_date(value: &str) -> bool {
    let date = value.split(['T', ',']).next().unwrap_or(value);
    let numbers = date
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty());
    let lengths: Vec<usize> = numbers.map(str::len).collect();
    let letters = date.chars().filter(|c| c.is_alphabetic()).count();
    let separators = date
        .chars()
        .all(|c| c.is_alphanumeric() || " ./-".contains(c));
    let numeric = matches!(lengths[..], [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 2 | 4] | [8]);
    let written = matches!(lengths[..], [1 | 2, 2 | 4]) && (3..=12).contains(&letters);
    separators && (numeric && letters <= 4 || written)
}

/// Letters and a number, or several words.
fn is_address(value: &str) -> bool {
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let digits = value.chars().any(|c| c.is_ascii_digit());
    let dense = value.chars().any(|c| c as u32 >= 0x2e80);
    let words = value
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .count();
    let plain = !value.contains(['{', '}', '[', ']', '<', '>', '=', '@', '$', '\\'])
        && !value.contains("::");
    plain && letters >= 3 && (digits && words >= 2 || dense && letters >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people() {
        let whole = |kind, value: &str| {
            judge(kind, value, false).is_some_and(|(.., end)| end == value.len())
        };
        for name in [
            "Marie",
            "marie",
            "HÉLÈNE",
            "JEAN-MARC",
            "O'Brien",
            "María de la Cruz",
            "李小龍",
        ] {
            assert!(whole(Kind::Person, name), "{name}");
        }
        for name in [
            "Marie Keller",
            "MARTA KOWALCZYK",
            "Walter B. Quigley Jr.",
            "Jan van der Berg",
        ] {
            assert!(whole(Kind::Role, name), "{name}");
        }
        assert_eq!(
            judge(Kind::Role, "Marie Keller (admin)", false).unwrap().2,
            12
        );
        for value in ["null", "user_1", "x = 3", "a/b", "Marie2", "get_name()"] {
            assert_eq!(judge(Kind::Person, value, false), None, "{value}");
        }
        for value in [
            "Marie",
            "platform team",
            "Acme Inc",
            "The Service",
            "3 apples",
        ] {
            assert_eq!(judge(Kind::Role, value, false), None, "{value}");
        }
    }

    #[test]
    fn numbers_dates_addresses() {
        assert!(
            judge(Kind::Ssn, "123456789", false).is_some()
                && judge(Kind::Ssn, "12345678", false).is_none()
        );
        assert!(
            judge(Kind::Phone, "467 3395", false).is_some()
                && judge(Kind::Phone, "call me", false).is_none()
        );
        for date in [
            "1990-02-28",
            "28.2.1990",
            "2/28/90",
            "28 February 1990",
            "1990-02-28T00:00:00Z",
        ] {
            assert!(judge(Kind::Birth, date, false).is_some(), "{date}");
        }
        assert!(judge(Kind::Birth, "tomorrow", false).is_none());
        assert!(judge(Kind::Address, "12 Harbour Road", false).is_some());
        assert!(
            judge(Kind::Address, "0x7fff", false).is_none()
                && judge(Kind::Address, "localhost", false).is_none()
        );
        // What stands in an address field when its values are replaced.
        assert!(judge(Kind::Address, "[EMAIL_0], or call [PHONE_0]", false).is_none());
        assert!(
            judge(Kind::Postal, "SW1A 1AA", false).is_some()
                && judge(Kind::Postal, "file", false).is_none()
        );
    }
}
