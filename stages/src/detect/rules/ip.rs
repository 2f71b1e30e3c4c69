//! IPv4 and IPv6 addresses (RFC 791, RFC 4291), as they are written by people and programs.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Hit, Miss};
use crate::detect::bytes::{ALPHA, DIGIT, HEX, at, before, is, run, word_at, word_before};
use crate::detect::context::{WordList, words_before};

/// The longest textual form: an IPv4-mapped address with all groups written out.
const V6_MAX: usize = 45;
/// How far back the beginning of a path is looked for, in bytes.
const PATH_MAX: usize = 256;

/// The dotted quad that begins with the run of `length` digits at `start`.
pub(crate) fn v4(text: &[u8], start: usize, length: usize) -> Option<Hit> {
    if length > 3 || word_before(text, start) || !may_precede(text, start) {
        return None;
    }
    let (octets, end) = quad(text, start)?;
    let next = at(text, end);
    let goes_on = word_at(text, end)
        || matches!(next, b'.' | b'-') && is(at(text, end + 1), DIGIT | ALPHA)
        || next == b'+';
    let address = Ipv4Addr::from(octets);
    if goes_on || is_nobodys(address) || is_version(text, start, octets) {
        return None;
    }
    Some(Hit {
        start,
        end: prefix(text, end, 2),
        confidence: 90,
        rule: "ipv4",
    })
}

/// A dotted quad that is no address of anybody.
pub(crate) fn miss(text: &[u8], start: usize) -> Option<Miss> {
    let (octets, end) = quad(text, start).filter(|_| before(text, start) != b'.')?;
    let reason = if is_nobodys(Ipv4Addr::from(octets)) {
        "nobody's address: loopback, unspecified, broadcast or a mask"
    } else if is_version(text, start, octets) {
        "reads like the number of a version"
    } else {
        "an address would not go on before or behind it"
    };
    Some(Miss { start, end, reason })
}

fn quad(text: &[u8], start: usize) -> Option<([u8; 4], usize)> {
    let mut octets = [0; 4];
    let mut i = start;
    for (n, octet) in octets.iter_mut().enumerate() {
        if n > 0 {
            if at(text, i) != b'.' {
                return None;
            }
            i += 1;
        }
        let end = run(text, i, DIGIT, 4);
        let leading_zero = end - i > 1 && text[i] == b'0';
        if end == i || end - i > 3 || leading_zero {
            return None;
        }
        let value = text[i..end]
            .iter()
            .fold(0u32, |n, d| 10 * n + u32::from(d - b'0'));
        *octet = u8::try_from(value).ok()?;
        i = end;
    }
    Some((octets, i))
}

/// What stands before an address: not the rest of a longer number (`1.`), of a name (`lib-`) or
/// of a product (`Chrome/`).
fn may_precede(text: &[u8], start: usize) -> bool {
    let second = start.checked_sub(2).map_or(0, |i| text[i]);
    match before(text, start) {
        b'.' | b'-' => !second.is_ascii_alphanumeric(),
        b'/' => !is(second, ALPHA) || in_path(text, start),
        b':' => second != b':',
        b'+' | b'^' | b'~' => false,
        _ => true,
    }
}

/// Whether the number is a segment of a path or URL and an address rather than a version: what
/// stands before it begins with a sign of a path or names a scheme, as `Chrome/120.0.6.71` does
/// not, and its first number has two digits and more, which those of versions rarely have.
fn in_path(text: &[u8], start: usize) -> bool {
    let low = start.saturating_sub(PATH_MAX);
    let begins = text[low..start].iter().rposition(|c| {
        c.is_ascii_whitespace() || matches!(c, b'"' | b'\'' | b'`' | b'(' | b'<' | b'=' | b',')
    });
    let head = &text[begins.map_or(low, |i| low + i + 1)..start];
    let path = matches!(
        head,
        [b'/', ..] | [b'~' | b'.', b'/', ..] | [b'.', b'.', b'/', ..]
    ) || head.windows(3).any(|three| three == b"://");
    path && run(text, start, DIGIT, 4) - start >= 2
}

/// Unspecified, loopback, broadcast and masks say nothing about anybody (RFC 6890).
fn is_nobodys(address: Ipv4Addr) -> bool {
    let [first, _, _, last] = address.octets();
    let bits = u32::from(address);
    let mask = first == 255 && bits.leading_ones() + bits.trailing_zeros() == 32;
    first == 0 || first == 127 || mask || first >= 240 && last == 0
}

/// Four-part version numbers: a word that says so, a heading of a change log, or numbers so small
/// that an address would be a rarity (`1.84.1.0`).
fn is_version(text: &[u8], start: usize, octets: [u8; 4]) -> bool {
    static WORDS: WordList = WordList::new(&[
        "version",
        "versions",
        "ver",
        "release",
        "released",
        "firmware",
        "assembly",
        "build",
        "upgrade",
        "upgraded",
        "rev",
        "revision",
        "changelog",
        "v",
        "section",
        "clause",
        "oid",
        "fileversion",
        "productversion",
    ]);
    static IP: WordList = WordList::new(&[
        "ip", "ips", "ipv4", "host", "addr", "address", "server", "from", "client",
    ]);
    let mut before_it = words_before(text, start);
    let near = before_it.next().unwrap_or_default();
    if IP.has(near) {
        return false;
    }
    let heading = before(text, start) == b'['
        && before(text, start - 1) == b' '
        && start >= 3
        && text[start - 3] == b'#';
    heading
        || WORDS.has(near)
        || before_it.next().is_some_and(|word| WORDS.has(word))
        || octets[0] < 10 && octets[3] == 0 && octets[2] < 10
}

/// The IPv6 address whose first colon is at `colon`.
pub(crate) fn v6(text: &[u8], colon: usize) -> Option<Hit> {
    let mut start = colon;
    while start > 0 && colon - start < 5 && is(text[start - 1], HEX) {
        start -= 1;
    }
    if colon - start > 4 || before(text, start) == b':' || word_before(text, start) {
        return None;
    }
    let limit = text.len().min(start + V6_MAX + 1);
    let mut end = colon;
    while end < limit && (is(text[end], HEX) || matches!(text[end], b':' | b'.')) {
        end += 1;
    }
    while end > colon && (text[end - 1] == b'.' || text[end - 1] == b':' && text[end - 2] != b':') {
        end -= 1;
    }
    if end - start > V6_MAX || at(text, end) == b':' || word_at(text, end) {
        return None;
    }
    let written = std::str::from_utf8(&text[start..end]).ok()?;
    let address: Ipv6Addr = written.parse().ok()?;
    if address.is_loopback() || address.is_unspecified() || !is_written_as_address(written) {
        return None;
    }
    if let Some(mapped) = address
        .to_ipv4_mapped()
        .filter(|mapped| is_nobodys(*mapped))
    {
        return (!mapped.is_loopback()).then_some(Hit {
            start,
            end,
            confidence: 60,
            rule: "ipv6",
        });
    }
    Some(Hit {
        start,
        end: prefix(text, zone(text, end), 3),
        confidence: 92,
        rule: "ipv6",
    })
}

/// Not `dead::beef` or `a::b` of a program, nor a fingerprint or serial of eight bytes.
fn is_written_as_address(written: &str) -> bool {
    let groups = || written.split(':').filter(|group| !group.is_empty());
    if written.contains('.') {
        return true;
    }
    let Some(first) = groups().next() else {
        return false;
    };
    if !written.contains("::") {
        return groups().any(|group| group.len() != 2);
    }
    let digits = written.bytes().any(|c| c.is_ascii_digit());
    let global = first.len() >= 3 && matches!(first.as_bytes()[0], b'2' | b'3' | b'f' | b'F');
    digits && (global || groups().count() >= 4 || first == "64" && written.contains("ff9b"))
        || first.len() == 4 && first[..2].eq_ignore_ascii_case("fe")
}

/// `%eth0` behind a link-local address: RFC 4007, 11.2.
fn zone(text: &[u8], end: usize) -> usize {
    if at(text, end) != b'%' {
        return end;
    }
    let stop = run(text, end + 1, DIGIT | ALPHA, 16);
    if stop > end + 1 { stop } else { end }
}

/// The length of a prefix behind an address, `/24`: RFC 4632, 3.1; RFC 4291, 2.3.
fn prefix(text: &[u8], end: usize, digits: usize) -> usize {
    let stop = run(text, end + 1, DIGIT, 4);
    let fits = at(text, end) == b'/' && (1..=digits).contains(&(stop.saturating_sub(end + 1)));
    if fits && !word_at(text, stop) && at(text, stop) != b'/' {
        stop
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(text: &str) -> Option<&str> {
        let bytes = text.as_bytes();
        let hit = (0..bytes.len()).find_map(|i| match bytes[i] {
            b':' => v6(bytes, i),
            b'0'..=b'9' if !before(bytes, i).is_ascii_digit() => {
                v4(bytes, i, run(bytes, i, DIGIT, 99) - i)
            }
            _ => None,
        })?;
        Some(&text[hit.start..hit.end])
    }

    #[test]
    fn addresses() {
        for address in [
            "10.203.254.33",
            "203.0.113.9",
            "2001:db8::8a2e:370:7334",
            "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
            "fe80::1",
            "fe80::a1b2%eth0",
            "::ffff:203.0.113.9",
            "64:ff9b::1",
        ] {
            for (left, right) in [
                ("", ""),
                ("ip=", ";"),
                ("from ", ","),
                ("[", "]:443"),
                ("x ", "."),
            ] {
                let text = format!("{left}{address}{right}");
                assert_eq!(finds(&text), Some(address), "{text}");
            }
        }
        assert_eq!(finds("http://203.0.113.9:80/x"), Some("203.0.113.9"));
        assert_eq!(finds("203.0.113.9/24"), Some("203.0.113.9/24"));
        for text in [
            "https://h/203.0.113.9",
            "https://h.example/a/203.0.113.9?x",
            "/home/203.0.113.9/x",
            "see ~/logs/203.0.113.9",
        ] {
            assert_eq!(finds(text), Some("203.0.113.9"), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "127.0.0.1",
            "0.0.0.0",
            "255.255.255.0",
            "::1",
            "::",
            "1.2.3.4.5",
            "256.1.1.1",
            "01.2.3.4",
            "Chrome/120.0.6099.71",
            "version 13.84.11.20",
            "## [1.10.0.0] - 2026-03-02",
            "1.84.1.0",
            "v1.2.3.4",
            "lib-1.2.3.4",
            "std::vector",
            "a::b",
            "dead::beef",
            "12:34:56",
            "0c:4d:e9:9a:11:7f",
            "0c:4d:e9:9a:11:7f:00:01",
            "x::1",
            "see Chrome/120.0.60.71",
            "/usr/lib/1.2.3.4/bin",
            "https://h/pkg/1.2.3.4/x",
            "10.1.2.3.tar",
        ] {
            assert_eq!(finds(text), None, "{text}");
        }
    }
}
