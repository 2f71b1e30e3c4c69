//! Verdicts about values that a name says are secret: a password, something a machine drew, or a
//! placeholder, a word, an expression of a program.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::texture::{Kinds, automaton, pairs, placeholder, random, uuid, wordy};

/// The shortest value of something a machine drew.
const TOKEN: usize = 10;
/// The shortest password.
const PASSWORD: usize = 6;

/// A password: short, chosen by a person, but no word, no placeholder, no expression.
pub(super) fn password(value: &[u8], quoted: bool) -> Option<u8> {
    if value.len() < PASSWORD
        || placeholder(value)
        || stands_for_one(value)
        || !quoted && expression(value)
    {
        return None;
    }
    let kinds = Kinds::of(value);
    let spaces = value.iter().filter(|b| **b == b' ').count();
    let words = spaces > 0 && wordy(value);
    let name = kinds.digits == 0
        && value
            .iter()
            .all(|b| b.is_ascii_alphabetic() || b"_-. :/".contains(b) || *b >= 0x80);
    let cases = kinds.upper > 1 && kinds.lower > 1;
    if words || name && !(mixed(value) && (quoted || cases)) || hash(value) || integrity(value) {
        return None;
    }
    let strong = kinds.digits > 0
        && kinds.letters() > 0
        && (kinds.other > 0 || kinds.upper > 0 || kinds.turns > 1);
    Some(if strong { 90 } else { 70 })
}

/// Letters only, but not a word: both cases in the middle, or improbable.
fn mixed(value: &[u8]) -> bool {
    let (usual, all) = pairs(value);
    all >= 5 && usual * 10 < all * 7
}

/// Something a machine drew.
pub(super) fn token(value: &[u8], quoted: bool) -> Option<u8> {
    if value.len() < TOKEN
        || placeholder(value)
        || stands_for_one(value)
        || !quoted && expression(value)
    {
        return None;
    }
    let kinds = Kinds::of(value);
    if kinds.monotonous(value.len())
        || kinds.letters() == 0
        || value.contains(&b' ')
        || integrity(value)
    {
        return None;
    }
    if value.starts_with(b"/") && wordy(value) || memchr::memmem::find(value, b"://").is_some() {
        return None;
    }
    let hexadecimal =
        value.len() >= 16 && value.iter().all(u8::is_ascii_hexdigit) && kinds.digits > 2;
    let drawn = if value.len() < 16 {
        kinds.digits > 0 && kinds.turns >= 2 && !wordy(value)
    } else {
        random(value) || kinds.digits > 0 && kinds.turns >= 2 && kinds.other == 0 && !wordy(value)
    };
    if uuid(value) || hexadecimal {
        Some(75)
    } else if drawn {
        Some(85)
    } else {
        let signs = kinds.other > 1 && kinds.digits > 1 && kinds.upper > 0 && kinds.lower > 0;
        (signs && kinds.turns > 1 && !wordy(value)).then_some(65)
    }
}

/// What follows a scheme in a header.
pub(super) fn header(value: &[u8]) -> Option<u8> {
    let kinds = Kinds::of(value);
    let plain = value.len() >= 12
        && !value.contains(&b' ')
        && !placeholder(value)
        && !stands_for_one(value)
        && !expression(value);
    (plain && kinds.digits > 0 && !kinds.monotonous(value.len()) || random(value) && plain)
        .then_some(88)
}

/// Finds what stands for a value in a program or its settings.
#[rustfmt::skip]
static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    automaton(&[
        "process.env", "os.environ", "getenv", "secrets.", "vault:", "env:", "op://", "arn:aws", "\\(", "...", " + ", "…", "!Ref", "!Sub",
    ])
});

/// A variable, a template, a path or a call in place of a value, as also a quoted text may be.
fn stands_for_one(value: &[u8]) -> bool {
    let edge = |a: u8, b: u8| value.first() == Some(&a) && value.last() == Some(&b);
    let name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b' ');
    let variable = matches!(value[0], b'$' | b'%')
        && value
            .get(1)
            .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
        && value[1..]
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'.'))
        && (value.len() < 8
            || !value.iter().any(u8::is_ascii_digit)
            || value[1..]
                .iter()
                .all(|b| b.is_ascii_uppercase() || !b.is_ascii_alphabetic()));
    // `${NAME}`, `{{ name }}`, `$(command)`, `#{name}`, `%{name}`, `${{ secrets.NAME }}`.
    let template = value.windows(2).enumerate().any(|(i, open)| {
        let close: u8 = match open {
            b"${" | b"{{" | b"#{" | b"%{" | b"@{" => b'}',
            b"$(" => b')',
            b"<%" => b'>',
            _ => return false,
        };
        let inner = &value[i + 2..];
        let len = memchr::memchr(close, inner).unwrap_or(inner.len());
        len > 0
            && inner[..len]
                .iter()
                .all(|b| name(b) || b"{:$\"'|/()%=?!".contains(b))
            && (len < inner.len() || inner.len() < 3)
    });
    variable
        || template
        || call(value)
        || edge(b'<', b'>')
            && value[1..value.len() - 1]
                .iter()
                .all(|b| name(b) || b"/:|".contains(b))
        || edge(b'{', b'}') && value[1..value.len() - 1].iter().all(name)
        || edge(b'[', b']') && value[1..value.len() - 1].iter().all(name)
        || edge(b'%', b'%')
        || edge(b'_', b'_')
        || MARKS.is_match(value)
}

/// A call, also where quotes stand around it: `getpass.getpass()`, `String::new()`.
fn call(value: &[u8]) -> bool {
    let path = |b: &u8| b.is_ascii_alphanumeric() || b"_.:->".contains(b);
    value.last() == Some(&b')')
        && memchr::memchr(b'(', value)
            .is_some_and(|open| open > 2 && value[..open].iter().all(path) && wordy(&value[..open]))
}

/// An expression of a program, as an unquoted value may be: a call, an index, a member, an operator.
fn expression(value: &[u8]) -> bool {
    let called = value
        .windows(2)
        .any(|w| (w[0].is_ascii_alphanumeric() || w[0] == b'_') && matches!(w[1], b'(' | b'['));
    let plain = value
        .strip_prefix(b"&")
        .or_else(|| value.strip_prefix(b"*"))
        .unwrap_or(value);
    let member = plain
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"._->:[]()".contains(b))
        && plain.iter().any(|b| b".>:(".contains(b))
        && plain
            .split(|b| !b.is_ascii_alphanumeric() && *b != b'_')
            .filter(|piece| !piece.is_empty())
            .all(identifier);
    // A pointer type, a reference, an alias of YAML.
    let referring = plain.len() < value.len()
        && plain
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let marks = value.first().is_some_and(|b| b"&*(![{$@|".contains(b))
        && value.iter().any(|b| b"()[]{}".contains(b));
    called || member || referring || marks || identifier(value)
}

/// A name of a program: words, perhaps with a number behind.
fn identifier(value: &[u8]) -> bool {
    let word = value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || *b == b'_')
        && !value[0].is_ascii_digit();
    let kinds = Kinds::of(value);
    let spoken = !mixed(value) || kinds.upper < 2 || kinds.lower < 2;
    word && (kinds.digits == 0 && spoken
        || kinds.turns <= 1 && kinds.digits <= 2 && (wordy(value) || value.len() < 8))
}

/// A password hash in its own notation is what is left of a secret, not the secret: `$2b$…`, `{SSHA}…`.
fn hash(value: &[u8]) -> bool {
    value.starts_with(b"$2")
        || value.starts_with(b"$argon2")
        || value.starts_with(b"$6$")
        || value.starts_with(b"pbkdf2")
        || value.starts_with(b"{SSHA")
}

/// Subresource integrity and digests with their algorithm: `sha512-…`, `sha256:…`.
fn integrity(value: &[u8]) -> bool {
    [
        &b"sha1-"[..],
        b"sha256",
        b"sha384",
        b"sha512",
        b"md5-",
        b"md5:",
        b"sha1:",
    ]
    .iter()
    .any(|p| value.starts_with(p))
}
