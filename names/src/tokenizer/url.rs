//! Is a word an address on the web? Such a word stays one token.
//!
//! The pattern is spaCy's: an optional scheme, an optional user before `@`, a host (a public IPv4
//! address or a name with a top-level domain), an optional port, and anything after `/`, `?` or `#`.
//! Its backtracking is replaced by trying the few places where a host may begin; each attempt
//! stops at the next `@`, so that all of them together read the word once.

use super::classes::{Classes, TOP_LEVEL, WORD};

pub(super) fn is_url(classes: &Classes, word: &str) -> bool {
    if !word.contains('.') {
        return false;
    }
    if host_to_end(classes, word) {
        return true;
    }
    if let Some(at) = word.find("://") {
        let scheme = &word[..at];
        let allowed = |c| classes.is(c, WORD) || matches!(c, '+' | '-' | '.');
        if scheme.chars().nth(1).is_some()
            && scheme.chars().all(allowed)
            && host_to_end(classes, &word[at + 3..])
        {
            return true;
        }
    }
    let mut users = word.match_indices('@').skip_while(|(at, _)| *at == 0);
    users.any(|(at, _)| host_to_end(classes, &word[at + 1..]))
}

/// Host, port and path, to the end of the word.
fn host_to_end(classes: &Classes, word: &str) -> bool {
    let end = word.find([':', '/', '?', '#', '@']).unwrap_or(word.len());
    let (host, rest) = word.split_at(end);
    is_port_and_path(rest) && (is_public_address(host) || is_domain(classes, host))
}

fn is_port_and_path(rest: &str) -> bool {
    let path = match rest.strip_prefix(':') {
        None => rest,
        Some(port) => {
            let digits = port.bytes().take(6).take_while(u8::is_ascii_digit).count();
            if !(2..=5).contains(&digits) {
                return false;
            }
            &port[digits..]
        }
    };
    path.is_empty() || path.starts_with(['/', '?', '#'])
}

/// An IPv4 address that is neither private nor reserved.
fn is_public_address(host: &str) -> bool {
    let mut parts = host.split('.');
    let (Some(a), Some(b), Some(c), Some(d), None) = (
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
    ) else {
        return false;
    };
    // The two octets in the middle may have a leading zero, if they have no more than two digits.
    let octet = |part: &str, zero_first: bool| -> Option<u8> {
        let digits = part.bytes().all(|b| b.is_ascii_digit());
        let zero = part.starts_with('0') && !(zero_first && part.len() <= 2);
        if digits && !zero {
            part.parse().ok()
        } else {
            None
        }
    };
    let (Some(a), Some(b), Some(_), Some(d)) = (
        octet(a, false),
        octet(b, true),
        octet(c, true),
        octet(d, false),
    ) else {
        return false;
    };
    let private = matches!(
        (a, b),
        (10 | 127, _) | (169, 254) | (192, 168) | (172, 16..=31)
    );
    !private && (1..=223).contains(&a) && (1..=254).contains(&d)
}

/// One label or more, and a top-level domain of letters.
fn is_domain(classes: &Classes, host: &str) -> bool {
    let Some((labels, top)) = host.rsplit_once('.') else {
        return false;
    };
    let length = top.chars().take(64).count();
    let letters = top.chars().take(64).all(|c| classes.is(c, TOP_LEVEL));
    (2..=63).contains(&length) && letters && labels.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\u{a1}'..='\u{ffff}');
    let mut chars = label.chars();
    let edges = chars.next().is_some_and(plain) && chars.next_back().is_none_or(plain);
    edges
        && label
            .chars()
            .take(65)
            .all(|c| plain(c) || c == '_' || c == '-')
        && label.chars().take(65).count() <= 64
}
