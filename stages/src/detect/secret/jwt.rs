//! JSON Web Tokens (RFC 7519), signed (RFC 7515: three parts) or encrypted (RFC 7516: five).

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Hit;
use super::charset::{URL64, span};
use super::checks::base64;

/// The longest token that is read.
pub(super) const LONGEST: usize = 8192;
/// The longest header, in base64url.
const LONGEST_HEADER: usize = 1024;

#[derive(Deserialize)]
struct Header {
    alg: Option<IgnoredAny>,
    typ: Option<IgnoredAny>,
}

/// The token whose header is the run from `start` to `run_end`.
pub(super) fn at(text: &[u8], start: usize, run_end: usize) -> Option<Hit> {
    let token = &text[start..text.len().min(start + LONGEST)];
    if !token.starts_with(b"ey") {
        return None;
    }
    let header = run_end - start;
    if header > LONGEST_HEADER || token.get(header) != Some(&b'.') || !is_header(&token[..header]) {
        return None;
    }
    let mut end = header;
    let mut parts = 1;
    while parts < 5 && token.get(end) == Some(&b'.') {
        let part = span(URL64, &token[end + 1..], LONGEST);
        // A dot that ends a sentence is none of the token's; an unsigned token ends in one.
        if part == 0 && parts != 2 {
            break;
        }
        end += 1 + part;
        parts += 1;
    }
    // The payload of a token that was cut before its signature still says who it is about.
    let whole = parts >= 3;
    let end = if whole {
        trim_sentence(token, end)
    } else {
        end
    };
    (parts >= 2 && end - header > 8).then_some(Hit {
        start,
        end: start + end,
        name: "JWT",
        confidence: if whole { 98 } else { 80 },
        rule: "jwt",
    })
}

fn trim_sentence(token: &[u8], end: usize) -> usize {
    if token[end - 1] == b'.' { end - 1 } else { end }
}

fn is_header(part: &[u8]) -> bool {
    let mut json = [0; LONGEST_HEADER];
    let decoded = base64(part, &mut json).map(|len| &json[..len]);
    let header = decoded.and_then(|json| serde_json::from_slice::<Header>(json).ok());
    header.is_some_and(|header| header.alg.is_some() || header.typ.is_some())
}
