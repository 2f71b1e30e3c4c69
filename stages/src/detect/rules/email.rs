//! E-mail addresses: RFC 5321 dot-strings, with the Unicode of RFC 6531.

use super::{Hit, Miss};
use crate::detect::bytes::{ALNUM, ALPHA, DIGIT, LOCAL, at, before, is, run, word_at};
use crate::detect::context::{WordList, word_within};

/// RFC 5321, 4.5.3.1.1 asks for 64 octets; tracking addresses are longer in practice.
const LOCAL_MAX: usize = 128;
/// RFC 5321, 4.5.3.1.2.
const DOMAIN_MAX: usize = 255;
/// RFC 1035, 2.3.4.
const LABEL_MAX: usize = 63;
/// The rule for addresses without a domain, which gives way to all that is surer.
pub(crate) const ACCOUNT_RULE: &str = "account at host";
/// How far back the scheme of a URL is looked for.
const SCHEME_MAX: usize = 64;

/// The address around the `@` at `at_sign`.
pub(crate) fn verdict(text: &[u8], at_sign: usize) -> Option<Hit> {
    let start = local_part(text, at_sign)?;
    let (end, rule, confidence) = domain(text, start, at_sign)?;
    if is_remote(text, start, at_sign, end) || is_user_of_url(text, start) {
        return None;
    }
    Some(Hit {
        start,
        end,
        confidence,
        rule,
    })
}

/// Where the local part begins: at a letter or digit (or `_`), behind no empty atom.
/// What stands around an `@` that is no address of anybody.
pub(crate) fn miss(text: &[u8], at_sign: usize) -> Option<Miss> {
    let start = local_part(text, at_sign)?;
    let rest = run(text, at_sign + 1, LOCAL, DOMAIN_MAX);
    let (end, reason) = match domain(text, start, at_sign) {
        None => (rest, "what follows the @ is the domain of no address"),
        Some((end, ..)) if is_remote(text, start, at_sign, end) => {
            (end, "a place on another machine, as ssh and git write it")
        }
        Some((end, ..)) if is_user_of_url(text, start) => (end, "the user of a URL"),
        Some((end, ..)) => (end, "no address where it stands"),
    };
    (end > at_sign + 1).then_some(Miss { start, end, reason })
}

fn local_part(text: &[u8], at_sign: usize) -> Option<usize> {
    if before(text, at_sign) == b'"' {
        return quoted_local_part(text, at_sign);
    }
    let low = at_sign.saturating_sub(LOCAL_MAX);
    let mut start = at_sign;
    while start > low {
        let c = text[start - 1];
        let empty_atom = c == b'.' && at(text, start) == b'.';
        if !(c >= 0x80 || is(c, LOCAL)) || empty_atom || c == b'\'' && !apostrophe(text, start - 1)
        {
            break;
        }
        start -= 1;
    }
    // A character of which only the tail lies within reach, and punctuation of the sentence.
    while start < at_sign && (text[start] & 0xC0 == 0x80 || is_edge(text, start)) {
        start += 1;
    }
    if before(text, start) == b'\\' && matches!(text[start], b'n' | b'r' | b't' | b'b' | b'f') {
        // The letter belongs to an escape of the language around.
        start += 1;
    }
    (start < at_sign && text[at_sign - 1] != b'%').then_some(start)
}

fn is_edge(text: &[u8], i: usize) -> bool {
    match text[i] {
        c if c >= 0x80 => !word_at(text, i),
        c => !is(c, ALNUM) && c != b'_',
    }
}

/// `O'Brien`, but neither the quote before an address nor Python's `f'…'`.
fn apostrophe(text: &[u8], i: usize) -> bool {
    let prefix = before(text, i);
    let string_prefix =
        matches!(prefix, b'b' | b'f' | b'r' | b'u') && !before(text, i - 1).is_ascii_alphanumeric();
    is(prefix, ALPHA) && !string_prefix && run(text, i + 1, ALPHA, 3) == i + 4
}

/// `"John Doe"@example.org`, RFC 5321, 4.1.2.
fn quoted_local_part(text: &[u8], at_sign: usize) -> Option<usize> {
    let close = at_sign - 1;
    let low = close.saturating_sub(64);
    let open = (low..close)
        .rev()
        .find(|&i| matches!(text[i], b'"' | b'\n'))?;
    (text[open] == b'"' && open + 1 < close && text[open + 1] != b' ' && text[close - 1] != b' ')
        .then_some(open)
}

fn domain(text: &[u8], start: usize, at_sign: usize) -> Option<(usize, &'static str, u8)> {
    let first = at_sign + 1;
    if at(text, first) == b'[' {
        let close = run(text, first + 1, DIGIT, 40).max(first + 1);
        let end = (close..text.len().min(first + 48))
            .find(|&i| !is(text[i], ALNUM) && !matches!(text[i], b'.' | b':'))?;
        let literal = std::str::from_utf8(&text[first + 1..end]).ok()?;
        let literal = literal.strip_prefix("IPv6:").unwrap_or(literal);
        return (text[end] == b']' && literal.parse::<std::net::IpAddr>().is_ok()).then_some((
            end + 1,
            "address literal",
            90,
        ));
    }
    let mut end = None;
    let mut labels = 0;
    let mut i = first;
    while let Some(stop) = label(text, i).filter(|stop| stop - first <= DOMAIN_MAX) {
        labels += 1;
        if labels > 1 && is_top_level(&text[i..stop]) && !word_at(text, stop) {
            end = Some(stop);
        }
        if at(text, stop) != b'.' {
            break;
        }
        i = stop + 1;
    }
    let Some(end) = end else {
        return single_label(text, start, first).map(|end| (end, ACCOUNT_RULE, 60));
    };
    let tail = at(text, end);
    let call = tail == b'(' || tail == b'.' && at(text, end + 1) == b'/';
    (!call && !is_file_name(&text[first..end]) && !is_version(&text[first..end]))
        .then_some((end, "address", 95))
}

/// The end of the label that begins at `i`: letters, digits and inner hyphens.
fn label(text: &[u8], i: usize) -> Option<usize> {
    let limit = text.len().min(i + 2 * LABEL_MAX);
    let mut stop = i;
    while stop < limit {
        let c = text[stop];
        let fits = is(c, ALNUM) || c == b'-' || c >= 0x80 && is_idn(text, stop);
        if !fits {
            break;
        }
        stop += 1;
    }
    while stop > i && text[stop - 1] == b'-' {
        stop -= 1;
    }
    (stop > i && text[i] != b'-').then_some(stop)
}

/// Whether the byte at `i` belongs to a letter, digit or mark of an internationalised label.
fn is_idn(text: &[u8], i: usize) -> bool {
    text[i] & 0xC0 == 0x80 || word_at(text, i)
}

/// At least two letters, or an internationalised label.
fn is_top_level(label: &[u8]) -> bool {
    label.len() >= 2
        && (label.iter().all(|c| is(*c, ALPHA) || *c >= 0x80)
            || label.len() > 4 && label[..4].eq_ignore_ascii_case(b"xn--"))
}

/// Names of files that carry an `@` (`icon@2x.png`, `devicon@master/devicon.min.css`) and units
/// of systemd (`getty@tty1.service`). None of these endings is a top-level domain.
fn is_file_name(domain: &[u8]) -> bool {
    const ENDINGS: [&[u8]; 36] = [
        b"png", b"jpg", b"jpeg", b"gif", b"svg", b"webp", b"ico", b"bmp", b"css", b"scss", b"js",
        b"mjs", b"cjs", b"jsx", b"ts", b"tsx", b"json", b"html", b"htm", b"xml", b"yml", b"yaml",
        b"toml", b"lock", b"txt", b"log", b"map", b"pdf", b"gz", b"tgz", b"jar", b"service",
        b"socket", b"timer", b"target", b"mount",
    ];
    let dot = domain
        .iter()
        .rposition(|c| *c == b'.')
        .map_or(0, |dot| dot + 1);
    ENDINGS
        .iter()
        .any(|ending| domain[dot..].eq_ignore_ascii_case(ending))
}

/// `v1.2.beta` and `2.0.rc`: a version behind the name of a package.
fn is_version(domain: &[u8]) -> bool {
    let numbers = domain.strip_prefix(b"v").unwrap_or(domain);
    let mut labels = numbers.split(|c| *c == b'.');
    let mut numeric = || {
        labels.next().is_some_and(|label| {
            !label.is_empty() && label.len() < 3 && label.iter().all(u8::is_ascii_digit)
        })
    };
    let first = numeric();
    first && (numbers.len() < domain.len() || numeric())
}

/// `admin@intranet-dc1`, only behind a word that announces an account.
fn single_label(text: &[u8], start: usize, first: usize) -> Option<usize> {
    static ACCOUNT: WordList = WordList::new(&[
        "account", "email", "for", "login", "mail", "mailbox", "user", "username",
    ]);
    let stop = label(text, first)?;
    let host = &text[first..stop];
    let like_a_host = host[0].is_ascii_alphabetic()
        && host.iter().any(|c| *c == b'-' || c.is_ascii_digit())
        || host.eq_ignore_ascii_case(b"localhost");
    let ends = !word_at(text, stop) && !matches!(at(text, stop), b'/' | b'(' | b':' | b'.' | b'@');
    (like_a_host && ends && before(text, start) != b'/' && word_within(text, start, 2, &ACCOUNT))
        .then_some(stop)
}

/// A place on another machine as `ssh`, `scp`, `rsync` and `git` write it: `git@host:path`.
fn is_remote(text: &[u8], start: usize, at_sign: usize, end: usize) -> bool {
    if at(text, end) != b':' {
        return false;
    }
    let next = at(text, end + 1);
    let user: &[u8] = &text[start..at_sign];
    matches!(next, b'/' | b'~')
        || matches!(user, b"git" | b"hg" | b"svn" | b"gitea" | b"org") && is(next, ALNUM)
}

/// Whether the address is the user of a URL (`ssh://git@host`, `https://bot:$TOKEN@host`):
/// RFC 3986, 3.2.1.
fn is_user_of_url(text: &[u8], start: usize) -> bool {
    let low = start.saturating_sub(SCHEME_MAX);
    for i in (low..start).rev() {
        match text[i] {
            b'/' => {
                return i >= 2 && text[i - 1] == b'/' && text[i - 2] == b':' && {
                    let scheme = &text[low.min(i - 2)..i - 2];
                    !scheme.to_ascii_lowercase().ends_with(b"mailto")
                };
            }
            c if c <= b' '
                || matches!(c, b'"' | b'\'' | b'<' | b'>' | b'?' | b'#' | b',' | b';') =>
            {
                return false;
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        text.match_indices('@')
            .filter_map(|(i, _)| verdict(text.as_bytes(), i))
            .map(|hit| &text[hit.start..hit.end])
            .collect()
    }

    #[test]
    fn addresses() {
        for address in [
            "marie@example.eu",
            "a.b-c+tag@sub.example.co.uk",
            "olga@xn--e1afmkfd.com",
            "olga@example.xn--p1ai",
            "büro@jäger-möbel.de",
            "иван@пример.рф",
            "O'Brien@example.ie",
            "\"John Doe\"@example.org",
            "jo@[192.0.2.7]",
            "jo@[IPv6:2001:db8::1]",
            "_x@a.io",
            "12345@163.com",
        ] {
            for (left, right) in [
                ("", ""),
                ("mail ", " now"),
                ("<", ">"),
                ("(", ")."),
                ("=", "&x"),
            ] {
                let text = format!("{left}{address}{right}");
                assert_eq!(found(&text), [address], "{text}");
            }
        }
        assert_eq!(found("'x@a.org'"), ["x@a.org"]);
        assert_eq!(found("f'x@a.org'"), ["x@a.org"]);
        assert_eq!(found("...x@a.org..."), ["x@a.org"]);
        assert_eq!(found("a..b@a.org"), ["b@a.org"]);
        assert_eq!(found(r"\nlena@a.org\nb"), ["lena@a.org"]);
        assert_eq!(found("a@b.org,c@d.org"), ["a@b.org", "c@d.org"]);
        assert_eq!(
            found("login failed for admin@intranet-dc1"),
            ["admin@intranet-dc1"]
        );
        assert_eq!(found("mailto://a@b.org"), ["a@b.org"]);
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "icon@2x.png",
            "devicon@master/devicon.min.css",
            "git@github.com:acme/widgets.git",
            "rsync deploy@build7.example.com:/srv/www/ .",
            "npm i @creatio/ui-kit@1.2.3 node@20.11.1",
            "getty@tty1.service",
            "ssh://git@example.com/x",
            "https://bot:$GITHUB_TOKEN@git.example/acme/x",
            "x @ y.com",
            "@example.com",
            "a@-b.com",
            "a@b.c",
            "a@b",
            "foo@bar.baz()",
            "pkg@v1.2.beta",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
