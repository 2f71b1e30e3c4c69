//! The only texts an entry can hold: names, digests, ids and tokens.
//!
//! None of these types can be built from arbitrary text, which is why an audit log written
//! through them cannot hold a personal value.

use std::borrow::Cow;
use std::fmt;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A name that is fit for a log: of an upstream, a method, a tool, a category, a stage.
///
/// A name begins with an ASCII letter, goes on with letters, digits, `_`, `-`, `.`, `/` and `:`,
/// has at most [`Name::MAX_BYTES`] bytes and at most [`Name::MAX_DIGITS`] digits, and no long word
/// of digits and both cases. So it is never an address, a phone, card, account or identity number,
/// and hardly ever a key. It could still be a word: names that a model or a client made up (a tool
/// no server listed) belong in [`PayloadKey::pseudonym`].
///
/// ```
/// use cloak_stages::audit::Name;
///
/// assert!(Name::parse("read_text_file").is_some());
/// assert!(Name::parse("marie@example.eu").is_none());
/// assert!(Name::parse("FR7630006000011234567890189").is_none());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Cow<'static, str>);

impl Name {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 64;
    /// The most digits in one name; identity, card and phone numbers have more.
    pub const MAX_DIGITS: usize = 5;

    /// A name known when the program was written.
    ///
    /// # Panics
    ///
    /// If the text is not a name; in a constant that is an error of the compiler.
    #[must_use]
    pub const fn literal(text: &'static str) -> Self {
        assert!(is_name(text.as_bytes()), "not a name that a log may hold");
        Self(Cow::Borrowed(text))
    }

    /// The text as a name, if it is one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_name(text.as_bytes()).then(|| Self(Cow::Owned(text.to_owned())))
    }

    /// The text of this name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const fn is_name(text: &[u8]) -> bool {
    if text.is_empty() || text.len() > Name::MAX_BYTES || !text[0].is_ascii_alphabetic() {
        return false;
    }
    let (mut at, mut digits) = (0, 0);
    let mut word = Word::NONE;
    while at < text.len() {
        let byte = text[at];
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => word = word.with(byte),
            b'_' | b'-' | b'.' | b'/' | b':' => word = Word::NONE,
            _ => return false,
        }
        digits += byte.is_ascii_digit() as usize;
        if word.is_key() {
            return false;
        }
        at += 1;
    }
    digits <= Name::MAX_DIGITS
}

/// A run of letters and digits: how long it is, and what it has.
#[derive(Clone, Copy)]
struct Word {
    bytes: usize,
    lower: bool,
    upper: bool,
    digits: usize,
}

impl Word {
    const NONE: Self = Self {
        bytes: 0,
        lower: false,
        upper: false,
        digits: 0,
    };

    const fn with(self, byte: u8) -> Self {
        Self {
            bytes: self.bytes + 1,
            lower: self.lower || byte.is_ascii_lowercase(),
            upper: self.upper || byte.is_ascii_uppercase(),
            digits: self.digits + byte.is_ascii_digit() as usize,
        }
    }

    /// Random keys are long and mix digits and both cases; names of things have a digit at most.
    const fn is_key(self) -> bool {
        self.bytes >= 12 && self.lower && self.upper && self.digits >= 2
    }
}

/// A SHA-256 or HMAC-SHA-256 digest, printed as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// What the first entry of a chain names as its predecessor: 64 zeros.
    pub const GENESIS: Self = Self([0; 32]);

    /// The SHA-256 of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || HEXLOWER.decode_mut(text, &mut bytes).is_err() {
            return None;
        }
        Some(Self(bytes))
    }

    /// The 64 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> [u8; 64] {
        let mut text = [0; 64];
        HEXLOWER.encode_mut(&self.0, &mut text);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The secret that hides what was said before it was sanitised.
///
/// The plain SHA-256 of a short message can be found by trying every likely value. Under this key
/// it cannot; and whoever holds the key can still prove that a payload is the one recorded.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PayloadKey([u8; 32]);

impl PayloadKey {
    /// A key from 32 random bytes.
    #[must_use]
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// A key derived from a longer-lived secret, so that one file has to be kept and not two.
    #[must_use]
    pub fn derived(secret: &[u8]) -> Self {
        Self(hmac(secret, &[b"cloakllm audit payload key v1"]).0)
    }

    /// The keyed digest of a payload that may hold values.
    #[must_use]
    pub fn digest(&self, payload: &[u8]) -> Digest {
        hmac(&self.0, &[b"payload\0", payload])
    }

    /// The text itself where it is a [`Name`], else its [pseudonym](Self::pseudonym).
    #[must_use]
    pub fn name(&self, text: &str) -> Name {
        Name::parse(text).unwrap_or_else(|| self.pseudonym(text))
    }

    /// A name that stands for `text` and does not tell it: `hmac-` and 16 hexadecimal digits.
    #[must_use]
    pub fn pseudonym(&self, text: &str) -> Name {
        let digest = hmac(&self.0, &[b"name\0", text.as_bytes()]);
        Name(Cow::Owned(format!(
            "hmac-{}",
            HEXLOWER.encode(&digest.0[..8])
        )))
    }
}

impl fmt::Debug for PayloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PayloadKey(***)")
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Digest {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    for part in parts {
        mac.update(part);
    }
    Digest(mac.finalize().into_bytes().into())
}

/// The id of a JSON-RPC request. A client may put anything into a text id, so only a name passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text; see [`PayloadKey::name`].
    Name(Name),
}

/// A token that stood for a value: `[EMAIL_0]` is the category `EMAIL` and the number 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The category of the value it stands for.
    pub category: Name,
    /// Its number within the category.
    pub number: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_narrow_alphabet() {
        for text in [
            "a",
            "tools/call",
            "fs",
            "read_text_file",
            "EMAIL",
            "v1.2",
            "urn:x-y",
            "getAccountV2",
            "listAllOpenInvoices",
            &"n".repeat(64),
        ] {
            assert_eq!(
                Name::parse(text).map(|name| name.to_string()).as_deref(),
                Some(text)
            );
        }
        let too_long = "n".repeat(65);
        for text in [
            "",
            "1a",
            "_a",
            "marie@example.eu",
            "Marie Curie",
            "+33612345678",
            "tel:0612345678",
            "AB123456",
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
            "FR7630006000011234567890189",
            "a\nb",
            "a\"b",
            "a\\b",
            "é",
            &too_long,
        ] {
            assert_eq!(Name::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_pseudonym_is_stable_under_one_key_and_tells_nothing() {
        let (key, other) = (PayloadKey::new([1; 32]), PayloadKey::new([2; 32]));
        assert_eq!(key.name("read_file").as_str(), "read_file");
        let hidden = key.name("marie@example.eu");
        assert!(hidden.as_str().starts_with("hmac-") && hidden.as_str().len() == 21);
        assert_eq!(hidden, key.pseudonym("marie@example.eu"));
        assert_ne!(hidden, other.name("marie@example.eu"));
        assert_ne!(key.digest(b"0612345678"), Digest::of(b"0612345678"));
    }

    #[test]
    fn the_key_is_not_printed() {
        assert_eq!(format!("{:?}", PayloadKey::new([7; 32])), "PayloadKey(***)");
    }

    #[test]
    fn digests_are_read_back_strictly() {
        let digest = Digest::of(b"abc");
        assert_eq!(
            digest.to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(Digest::from_hex(&digest.hex()), Some(digest));
        assert_eq!(
            Digest::from_hex(digest.to_string().to_uppercase().as_bytes()),
            None
        );
        assert_eq!(Digest::from_hex(b"00"), None);
    }
}
