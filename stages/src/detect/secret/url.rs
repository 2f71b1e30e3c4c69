//! Passwords inside addresses: `scheme://user:password@host` (RFC 3986 § 3.2.1).

use super::Hit;
use super::texture::placeholder;

/// The longest user information.
const LONGEST: usize = 512;

/// The password of the URL whose `://` stands at `at`.
pub(crate) fn url_credentials(text: &[u8], at: usize) -> Option<Hit> {
    let from = at + 3;
    let scheme = text[..at]
        .iter()
        .rev()
        .take(20)
        .take_while(|b| b.is_ascii_alphanumeric() || b"+.-".contains(b))
        .count();
    if scheme == 0 || !text[at..].starts_with(b"://") {
        return None;
    }
    let rest = &text[from..text.len().min(from + LONGEST)];
    // Nearly every address has no user.
    memchr::memchr(b'@', rest)?;
    // The authority ends at a slash, but passwords are often written unescaped.
    let stop = |b: &u8| b.is_ascii_whitespace() || b"\"'<>`\\|".contains(b);
    let end = rest.iter().position(stop).unwrap_or(rest.len());
    let authority = &rest[..end];
    let slash = memchr::memchr3(b'/', b'?', b'#', authority).unwrap_or(end);
    let mut at_sign = memchr::memrchr(b'@', &authority[..slash]);
    if at_sign.is_none() {
        // An unescaped `/`, `?` or `#` in the password: only where a colon stands before it and a
        // host after the sign.
        let sign = memchr::memchr(b'@', authority)?;
        let colon = memchr::memchr(b':', &authority[..slash])?;
        let port = authority[colon + 1..slash].iter().all(u8::is_ascii_digit);
        at_sign = (!port && slash > colon + 1).then_some(sign);
    }
    let at_sign = at_sign?;
    let host = authority[at_sign + 1..]
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b"-._[{$%".contains(b))
        .count();
    let colon = memchr::memchr(b':', &authority[..at_sign])?;
    let password = &authority[colon + 1..at_sign];
    if host == 0
        || password.is_empty()
        || stands_for_one(password)
        || password == &authority[..colon] && placeholder(password)
    {
        return None;
    }
    Some(Hit {
        start: from + colon + 1,
        end: from + at_sign,
        name: "PASSWORD",
        confidence: if placeholder(password) || password.len() < 4 {
            45
        } else {
            92
        },
        rule: "url-password",
    })
}

/// A variable, a template or a blank in place of a password.
fn stands_for_one(password: &[u8]) -> bool {
    let marks = password.iter().any(|b| b"<>{}".contains(b));
    let variable = password.starts_with(b"$")
        && password[1..]
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let percent = password.starts_with(b"%") && password.ends_with(b"%");
    let alike = password
        .iter()
        .all(|b| matches!(b, b'*' | b'x' | b'X' | b'.' | b'-' | b'_'));
    const WORDS: &[&str] = &[
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "changeme",
        "your_password",
        "your-password",
        "yourpassword",
        "%s",
        "...",
        "foo",
        "bar",
        "p",
        "port",
        "pass1",
        "xxx",
    ];
    marks
        || variable
        || percent
        || alike
        || WORDS
            .iter()
            .any(|w| password.eq_ignore_ascii_case(w.as_bytes()))
}
