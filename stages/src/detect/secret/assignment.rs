//! Values that a name beside them says are secret: `password: …`, `api_key=…`, `"secret": "…"`,
//! `Authorization: Bearer …`, `--password …`.

use super::Hit;
use super::keywords::{Sort, may_end, sort};
use super::texture::{Kinds, pairs, placeholder, random, uuid, wordy};

/// The longest name that is read.
const NAME: usize = 64;
/// The longest value that is taken.
const VALUE: usize = 512;
/// The shortest value of something a machine drew.
const TOKEN: usize = 10;
/// The shortest password.
const PASSWORD: usize = 6;

/// The secret value behind the `=` or `:` at `at`.
pub(crate) fn assignment(text: &[u8], at: usize) -> Option<Hit> {
    let name_end = before_operator(text, at)?;
    let [a, b] = *text[..name_end].last_chunk()?;
    if !may_end(a, b) {
        return None;
    }
    let sort = Name::read(&text[..name_end]).sort()?;
    let value = Value::read(text, after_operator(text, at)?)?;
    judge(text, value, sort)
}

/// Where the name before the operator at `at` ends, unless it is no assignment: `::`, `==`, `!=`,
/// `<=`, `://`.
fn before_operator(text: &[u8], at: usize) -> Option<usize> {
    let next = text.get(at + 1).copied().unwrap_or(b' ');
    let comparison = text[at] == b'=' && matches!(next, b'=' | b'~');
    if comparison || text[at] == b':' && (next == b':' || text[at + 1..].starts_with(b"//")) {
        return None;
    }
    let mut end = at;
    if text[at] == b'=' && end > 0 {
        match text[end - 1] {
            b'!' | b'<' | b'>' | b'=' | b'*' | b'/' | b'%' | b'^' | b'~' | b'-' => return None,
            b':' | b'?' | b'+' | b'|' => end -= 1,
            _ => {}
        }
    }
    let gap = |end: usize, bytes: &[u8], max: usize| {
        text[..end]
            .iter()
            .rev()
            .take(max)
            .take_while(|b| bytes.contains(b))
            .count()
    };
    end -= gap(end, b" \t", 24);
    end -= gap(end, b"\"'`\\]?", 4);
    (end >= 2).then_some(end)
}

/// Where the value behind the operator at `at` begins, quotes included.
fn after_operator(text: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 1;
    if matches!(text.get(from), Some(b'=' | b'>')) {
        from += 1;
    }
    from += text[from..]
        .iter()
        .take(24)
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    (from < text.len()).then_some(from)
}

/// The name before an operator, in lower-case words.
struct Name {
    bytes: [u8; NAME],
    /// Where each word ends in `bytes`; the words stand in order.
    ends: [u8; 8],
    words: usize,
}

impl Name {
    /// The last words of `text`.
    fn read(text: &[u8]) -> Self {
        let inner =
            |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.') || *b >= 0x80;
        let mut len = text
            .iter()
            .rev()
            .take(NAME)
            .take_while(|b| inner(b))
            .count();
        // `API key: …`, `mot de passe : …`: one or two more words.
        for _ in 0..2 {
            let head = &text[..text.len() - len];
            if len < 24 && head.last() == Some(&b' ') {
                let more = head[..head.len() - 1]
                    .iter()
                    .rev()
                    .take(16)
                    .take_while(|b| b.is_ascii_alphabetic())
                    .count();
                len += if more > 0 { more + 1 } else { break };
            }
        }
        let name = &text[text.len() - len..];
        let mut read = Self {
            bytes: [0; NAME],
            ends: [0; 8],
            words: 0,
        };
        // From the end, so that a long name keeps its last words.
        let mut words: [(usize, usize); 8] = [(0, 0); 8];
        let mut count = 0;
        let mut end = name.len();
        while end > 0 && count < 4 {
            while end > 0 && matches!(name[end - 1], b'_' | b'-' | b'.' | b' ') {
                end -= 1;
            }
            let mut from = end;
            while from > 0 && !matches!(name[from - 1], b'_' | b'-' | b'.' | b' ') {
                from -= 1;
                let here = name[from];
                let before = from.checked_sub(1).map_or(b'_', |i| name[i]);
                let next_lower = name.get(from + 1).is_some_and(u8::is_ascii_lowercase);
                let hump = here.is_ascii_uppercase()
                    && (before.is_ascii_lowercase()
                        || before.is_ascii_uppercase() && next_lower && from + 1 < end);
                let number = here.is_ascii_digit()
                    && before.is_ascii_alphabetic()
                    && name[from..end].iter().all(u8::is_ascii_digit);
                if hump || number {
                    break;
                }
            }
            if from < end {
                words[count] = (from, end);
                count += 1;
            }
            end = from;
        }
        let mut len = 0;
        for &(from, end) in words[..count].iter().rev() {
            let word = &name[from..end];
            if let Some(room) = read.bytes.get_mut(len..len + word.len()) {
                lower(word, room);
                len += word.len();
                read.ends[read.words] = len as u8;
                read.words += 1;
            }
        }
        read
    }

    fn sort(&self) -> Option<Sort> {
        let mut words: [&[u8]; 8] = [&[]; 8];
        let mut from = 0;
        for (word, &end) in words.iter_mut().zip(&self.ends[..self.words]) {
            *word = &self.bytes[from..usize::from(end)];
            from = usize::from(end);
        }
        sort(&words[..self.words])
    }
}

/// Copies a word in lower case, where that has as many bytes.
fn lower(word: &[u8], to: &mut [u8]) {
    to.copy_from_slice(word);
    to.make_ascii_lowercase();
    if !word.is_ascii()
        && let Ok(text) = str::from_utf8(word)
    {
        let text = text.to_lowercase();
        if text.len() == to.len() {
            to.copy_from_slice(text.as_bytes());
        }
    }
}

/// A value as it stands in the text.
#[derive(Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    quoted: bool,
}

impl Value {
    /// The value at `from`: between quotes (also escaped ones), or up to what cannot be one's part.
    fn read(text: &[u8], from: usize) -> Option<Self> {
        let rest = &text[from..text.len().min(from + VALUE)];
        // Prefixes of string literals, and references that YAML or a shell put before a value.
        let prefix = match rest {
            [
                b'b' | b'r' | b'f' | b'u' | b'@' | b'L' | b'$',
                b'"' | b'\'',
                ..,
            ] => 1,
            [b'[' | b'(', b'"' | b'\'', ..] => 1,
            _ => 0,
        };
        let escapes = rest[prefix..]
            .iter()
            .take(3)
            .take_while(|b| **b == b'\\')
            .count();
        let quote = *rest.get(prefix + escapes)?;
        if matches!(quote, b'"' | b'\'' | b'`') {
            let start = prefix + escapes + 1;
            let body = &rest[start..];
            let mut end = 0;
            while let Some(&b) = body.get(end) {
                match b {
                    _ if b == quote || b == b'\n' => break,
                    b'\\' if escapes == 0 && body.get(end + 1).is_some() => end += 2,
                    b'\\' if escapes > 0 => break,
                    _ => end += 1,
                }
            }
            let end = end.min(body.len());
            let closed =
                body.get(end).is_some_and(|b| *b == quote || *b == b'\\') || rest.len() < VALUE;
            return (closed && end > 0).then_some(Self {
                start: from + start,
                end: from + start + end,
                quoted: true,
            });
        }
        let stop = |b: &u8| b.is_ascii_whitespace() || *b < b' ' || b"\"'`<>".contains(b);
        let mut end = rest.iter().position(stop).unwrap_or(rest.len());
        // A query or a connection string goes on behind the value.
        if let Some(cut) = rest[..end].iter().position(|b| matches!(b, b'&' | b';')) {
            end = cut;
        }
        while end > 0
            && matches!(
                rest[end - 1],
                b',' | b'.' | b')' | b']' | b'}' | b':' | b'\\'
            )
        {
            end -= 1;
        }
        if rest[..end].ends_with(b"\\n") {
            end -= 2;
        }
        (end > 0).then_some(Self {
            start: from,
            end: from + end,
            quoted: false,
        })
    }
}

/// Whether a value that a name says is secret is one.
fn judge(text: &[u8], mut value: Value, sort: Sort) -> Option<Hit> {
    let mut sort = sort;
    let mut schemed = false;
    if let Some((scheme, rest)) = scheme(text, value) {
        (value, schemed) = (rest, true);
        sort = if scheme == b"Basic" {
            Sort::Token
        } else {
            Sort::Header
        };
    }
    let bytes = &text[value.start..value.end];
    if sort == Sort::Header && !schemed {
        sort = Sort::Token;
    }
    let (name, rule, confidence) = match sort {
        Sort::Password => (
            "PASSWORD",
            "password-assignment",
            password(bytes, value.quoted)?,
        ),
        Sort::Token => ("SECRET", "secret-assignment", token(bytes, value.quoted)?),
        Sort::Header => ("SECRET", "authorization-header", header(bytes)?),
    };
    Some(Hit {
        start: value.start,
        end: value.end,
        name,
        confidence,
        rule,
    })
}

/// `Bearer …`, `Basic …`, `Token …`: the scheme, and the value behind it.
fn scheme(text: &[u8], value: Value) -> Option<(&'static [u8], Value)> {
    const SCHEMES: &[&[u8]] = &[
        b"Bearer",
        b"Basic",
        b"Token",
        b"ApiKey",
        b"Digest",
        b"Key",
        b"SSWS",
        b"GenieKey",
    ];
    let bytes = &text[value.start..];
    let scheme = *SCHEMES.iter().find(|scheme| {
        bytes.len() > scheme.len()
            && bytes[..scheme.len()].eq_ignore_ascii_case(scheme)
            && bytes[scheme.len()] == b' '
    })?;
    let start = value.start + scheme.len() + 1;
    if value.quoted {
        return (start < value.end).then_some((scheme, Value { start, ..value }));
    }
    Value::read(text, start).map(|value| (scheme, value))
}

/// A password: short, chosen by a person, but no word, no placeholder, no expression.
fn password(value: &[u8], quoted: bool) -> Option<u8> {
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
    if words || name && (!quoted || !mixed(value)) || hash(value) {
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
fn token(value: &[u8], quoted: bool) -> Option<u8> {
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
        random(value)
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
fn header(value: &[u8]) -> Option<u8> {
    let kinds = Kinds::of(value);
    let plain = value.len() >= 12
        && !value.contains(&b' ')
        && !placeholder(value)
        && !stands_for_one(value)
        && !expression(value);
    (plain && kinds.digits > 0 && !kinds.monotonous(value.len()) || random(value) && plain)
        .then_some(88)
}

/// A variable, a template, a path or a call in place of a value, as also a quoted text may be.
fn stands_for_one(value: &[u8]) -> bool {
    let find = |needle: &[u8]| memchr::memmem::find(value, needle).is_some();
    let edge = |a: u8, b: u8| value.first() == Some(&a) && value.last() == Some(&b);
    let variable = matches!(value[0], b'$' | b'%')
        && value[1..]
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'.'))
        && value[1..].iter().any(|b| b.is_ascii_alphabetic())
        && (value.len() < 3 || value[1].is_ascii_alphabetic() || value[1] == b'_');
    edge(b'<', b'>')
        || edge(b'{', b'}')
        || edge(b'[', b']')
        || edge(b'%', b'%')
        || edge(b'_', b'_')
        || variable
        || find(b"${")
        || find(b"{{")
        || find(b"$(")
        || find(b"#{")
        || find(b"process.env")
        || find(b"os.environ")
        || find(b"getenv")
        || find(b"secrets.")
        || find(b"vault:")
        || find(b"env:")
        || find(b"op://")
        || find(b"arn:aws")
        || find(b"\\(")
        || find(b"...")
        || find(b"\xE2\x80\xA6")
        || value.first() == Some(&b'<')
        || find(b" + ")
}

/// An expression of a program, as an unquoted value may be: a call, an index, a member, an operator.
fn expression(value: &[u8]) -> bool {
    let called = value
        .windows(2)
        .any(|w| (w[0].is_ascii_alphanumeric() || w[0] == b'_') && matches!(w[1], b'(' | b'['));
    let member = value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"._->:!?&*[]()$@".contains(b))
        && value.iter().any(|b| matches!(b, b'.' | b'>' | b':' | b'('))
        && value
            .split(|b| !b.is_ascii_alphanumeric() && *b != b'_')
            .filter(|p| !p.is_empty())
            .all(identifier);
    let marks = value.first().is_some_and(|b| b"&*(![{$@|".contains(b))
        && value.iter().any(|b| b"()[]{}".contains(b));
    called || member || marks || identifier(value)
}

/// A name of a program: words, perhaps with a number behind.
fn identifier(value: &[u8]) -> bool {
    let word = value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || *b == b'_')
        && !value[0].is_ascii_digit();
    let kinds = Kinds::of(value);
    word && (kinds.digits == 0 && (!mixed(value) || value.len() < 12)
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
