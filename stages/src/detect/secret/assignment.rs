//! Values that a name beside them says are secret: `password: …`, `api_key=…`, `"secret": "…"`,
//! `Authorization: Bearer …`, `--password …`.

use super::Hit;
use super::keywords::{Sort, may_end};
use super::name::{LONGEST as LONGEST_NAME, Name};
use super::verdict::{header, password, token};
use crate::detect::rules::Miss;

/// So many assignments without a space between are nobody's value.
const INNER: usize = 3;
/// The longest value that is taken.
const VALUE: usize = 512;

/// The secret value behind the `=` or `:` at `at`, or in the element whose tag ends in the `>` there.
pub(crate) fn assignment(text: &[u8], at: usize) -> Option<Hit> {
    let (sort, value) = named(text, at)?;
    judge(text, value, sort)
}

/// A value that a name says is secret and that reads otherwise.
pub(crate) fn miss(text: &[u8], at: usize) -> Option<Miss> {
    let (_, value) = named(text, at)?;
    Some(Miss {
        start: value.start,
        end: value.end,
        reason: "its name says that it is secret, but it reads like a word, a placeholder or code",
    })
}

/// The value behind the operator at `at`, and what the name before it says about it.
fn named(text: &[u8], at: usize) -> Option<(Sort, Value)> {
    if !may_end(before_operator(text, at)) {
        return None;
    }
    let operator = Operator::at(text, at)?;
    let name = match operator.name_end {
        end if text[..end].ends_with(b"value") => attribute(text, end - 5).unwrap_or(end),
        end => end,
    };
    let sort = Name::read(&text[..name]).sort()?;
    let value = Value::read(text, operator.value)?;
    (operator.kind == Kind::Assignment || value.quoted).then_some((sort, value))
}

/// The secret that follows an option of a command: `--password …`, `--token …`, `-p …`; `at` is where
/// the first dash stands.
pub(crate) fn option(text: &[u8], at: usize) -> Option<Hit> {
    let dashes = text[at..]
        .iter()
        .take(3)
        .take_while(|b| **b == b'-')
        .count();
    let name = &text[at + dashes..text.len().min(at + dashes + LONGEST_NAME)];
    let len = name
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        .count();
    let end = at + dashes + len;
    if !matches!(text.get(end), Some(b' ' | b'\t')) || dashes > 2 {
        return None;
    }
    let sort = match (dashes, &name[..len]) {
        (2, _) => Name::read(&text[at + dashes..end]).sort()?,
        (1, b"p" | b"P" | b"pw") => Sort::Password,
        _ => return None,
    };
    let start = end
        + text[end..]
            .iter()
            .take(4)
            .take_while(|b| **b == b' ')
            .count();
    if text.get(start) == Some(&b'-') {
        return None;
    }
    let mut hit = judge(text, Value::read(text, start)?, sort)?;
    let short = dashes == 1;
    // `-p` is a port or a path at least as often as a password.
    let strong = hit.confidence >= 90
        && !text[hit.start..hit.end]
            .iter()
            .any(|b| b"/:,=\\".contains(b));
    if short {
        hit.confidence = 60;
    }
    (!short || strong).then_some(hit)
}

/// The text up to the name that the operator at `at` may stand behind.
fn before_operator(text: &[u8], at: usize) -> &[u8] {
    let skip = |mut text: &[u8], set: &[u8], most: usize| {
        let longest = text.len();
        while let Some((last, head)) = text.split_last()
            && set.contains(last)
            && longest - text.len() < most
        {
            text = head;
        }
        text.len()
    };
    let mut end = at;
    if text[at] == b'=' {
        end = skip(&text[..end], b"=!:?+|", 3);
    }
    end = skip(&text[..end], b" \t", 24);
    &text[..skip(&text[..end], b"\"'`\\]?", 4)]
}

/// What stands between a name and its value.
struct Operator {
    kind: Kind,
    name_end: usize,
    /// Where the value begins, quotes included.
    value: usize,
}

#[derive(PartialEq, Eq)]
enum Kind {
    Assignment,
    /// `==`, `!=`: a program that compares with a secret has it.
    Comparison,
}

impl Operator {
    /// The operator whose last `=` or first `:` or whose `>` is at `at`, unless it is none: `::`,
    /// `<=`, `://`, `->`.
    fn at(text: &[u8], at: usize) -> Option<Self> {
        let next = text.get(at + 1).copied().unwrap_or(b' ');
        let before = text[..at].last().copied().unwrap_or(b' ');
        let mut kind = Kind::Assignment;
        let mut name_end = at;
        match text[at] {
            b':' if next == b':' || before == b':' || text[at + 1..].starts_with(b"//") => {
                return None;
            }
            b'=' if matches!(next, b'=' | b'~') => return None,
            b'=' => match before {
                b'=' | b'!' => {
                    kind = Kind::Comparison;
                    name_end -= text[..at]
                        .iter()
                        .rev()
                        .take(3)
                        .take_while(|b| matches!(b, b'=' | b'!'))
                        .count();
                }
                b'<' | b'>' | b'*' | b'/' | b'%' | b'^' | b'~' | b'-' | b'&' => return None,
                b':' | b'?' | b'+' | b'|' => name_end -= 1,
                _ => {}
            },
            b'>' => {
                let name = text[..at]
                    .iter()
                    .rev()
                    .take(LONGEST_NAME)
                    .take_while(|b| b.is_ascii_alphanumeric() || **b >= 0x80 || b"_-.:".contains(b))
                    .count();
                if text[..at - name].last() != Some(&b'<') {
                    return None;
                }
            }
            _ => {}
        }
        let gap = |end: usize, bytes: &[u8], max: usize| {
            text[..end]
                .iter()
                .rev()
                .take(max)
                .take_while(|b| bytes.contains(b))
                .count()
        };
        name_end -= gap(name_end, b" \t", 24);
        name_end -= gap(name_end, b"\"'`\\]?", 4);
        let mut value = at + 1 + usize::from(matches!(next, b'=' | b'>') && text[at] != b'>');
        value += text[value.min(text.len())..]
            .iter()
            .take(24)
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        (name_end >= 2 && value < text.len()).then_some(Self {
            kind,
            name_end,
            value,
        })
    }
}

/// Where the name ends in `key="password" value=`, of which `value` starts at `end`.
fn attribute(text: &[u8], end: usize) -> Option<usize> {
    let spaces = text[..end]
        .iter()
        .rev()
        .take(16)
        .take_while(|b| b.is_ascii_whitespace())
        .count();
    let end = end - spaces;
    (spaces > 0 && matches!(text[..end].last(), Some(b'"' | b'\''))).then(|| end - 1)
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
        // A query or a connection string goes on behind the value.
        let stop = |b: u8| b <= b' ' || b"\"'`<>&;".contains(&b);
        let (mut end, mut inner) = (0, 0);
        while let Some(&b) = rest.get(end)
            && !stop(b)
        {
            let assigns = b == b'=' && rest.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
            inner += usize::from(assigns);
            // A row of assignments, `a=b=c=…`, is no value.
            if inner == INNER {
                return None;
            }
            end += 1;
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
