//! Changes, written out.

use std::borrow::Cow;

use crate::detect::Category;
use crate::json;
use crate::layers::{Change, New, TokenAt};
use crate::vault::VaultError;

/// Why a message cannot be let through. Its text holds no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error("a text in it is longer than {0} characters, the longest that is looked through")]
    TooLong(usize),
}

/// Knows tokens and values.
pub(crate) trait Fill {
    /// Appends the token of a value.
    fn token(
        &mut self,
        value: &str,
        category: Category,
        numeric: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault>;

    /// The value of a token, and whether it was a number; `None` leaves the token as it is.
    fn value(&mut self, token: &TokenAt) -> Option<(Cow<'_, str>, bool)>;
}

/// Appends what shall stand in place of `change.at` in `source`, and tells whether anything shall.
pub(crate) fn render(
    change: &Change,
    source: &[u8],
    fill: &mut impl Fill,
    out: &mut Vec<u8>,
) -> Result<bool, Fault> {
    let there = change.at.of(source);
    match &change.new {
        New::Put(text) => out.extend_from_slice(text.as_bytes()),
        New::TokenOf(category) => {
            fill.token(&unescaped(there, change.layers), *category, false, out)?;
        }
        New::TokenOfNumber(category) => {
            quote_in(change.layers, out);
            fill.token(&unescaped(there, change.layers), *category, true, out)?;
            quote_in(change.layers, out);
        }
        New::ValueOf(token) => {
            let Some((value, numeric)) = fill.value(token) else {
                return Ok(false);
            };
            let value = if token.percent {
                Cow::Owned(percent_encoded(&value))
            } else {
                value
            };
            let value = match (token.whole, numeric) {
                (true, false) => Cow::Owned(json::quote(&value)),
                _ => value,
            };
            escape_in(change.layers, &value, out);
        }
        New::Recoded(recoded) => {
            let text = recoded.text.as_bytes();
            let mut new = Vec::with_capacity(text.len());
            let mut done = 0;
            let mut any = false;
            for change in &recoded.changes {
                let kept = new.len();
                new.extend_from_slice(&text[done..change.at.start as usize]);
                if render(change, text, fill, &mut new)? {
                    done = change.at.end as usize;
                    any = true;
                } else {
                    new.truncate(kept);
                }
            }
            if !any {
                return Ok(false);
            }
            new.extend_from_slice(&text[done..]);
            recoded.encode(&new, out);
        }
    }
    Ok(true)
}

/// What `text`, which stands in this many JSON strings, says.
fn unescaped(text: &[u8], layers: u8) -> Cow<'_, str> {
    if !text.contains(&b'\\')
        && let Ok(text) = std::str::from_utf8(text)
    {
        return Cow::Borrowed(text);
    }
    let mut said = String::from_utf8_lossy(text);
    for _ in 0..layers {
        said = Cow::Owned(json::decode(said.as_bytes()).into_owned());
    }
    said
}

fn escape_in(layers: u8, text: &str, out: &mut Vec<u8>) {
    match layers {
        0 => out.extend_from_slice(text.as_bytes()),
        1 => json::escape(text, out),
        _ => {
            let mut once = Vec::with_capacity(text.len() + 2);
            json::escape(text, &mut once);
            escape_in(layers - 1, &String::from_utf8_lossy(&once), out);
        }
    }
}

fn quote_in(layers: u8, out: &mut Vec<u8>) {
    escape_in(layers, "\"", out);
}

/// For any place in a URI: all but the unreserved (RFC 3986 section 2.3) and `@` and `:` encoded.
/// What is encoded already stays so.
fn percent_encoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut out = String::with_capacity(value.len());
    for (at, &byte) in bytes.iter().enumerate() {
        let encoded = byte == b'%'
            && matches!(bytes.get(at + 1..at + 3), Some([a, b]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
        let plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'@' | b':');
        if plain || encoded {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_once() {
        assert_eq!(percent_encoded("a+b c@é%40%"), "a%2Bb%20c@%C3%A9%40%25");
    }

    #[test]
    fn escaped_for_each_layer() {
        let mut out = Vec::new();
        escape_in(2, "a\"", &mut out);
        assert_eq!(out, br#"a\\\""#);
        assert_eq!(unescaped(&out, 2), "a\"");
    }
}
