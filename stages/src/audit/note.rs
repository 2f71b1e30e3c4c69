//! Signed notes (C2SP signed-note): a short text, a blank line, and a line for each signature.
//!
//! Keys are written as the Go module `sumdb/note` writes them, so that its tools read ours. The
//! crates that implement the format bring a second generation of every cryptographic crate, which
//! is why these lines are here.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// The signature type that stands for Ed25519.
const ED25519: u8 = 1;
const MAX_NAME_BYTES: usize = 64;
const SIGNATURE_MARK: &str = "\u{2014} ";

/// An Ed25519 signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature(pub [u8; 64]);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(&self.0))
    }
}

/// A public key with the name of the log it speaks for, `<name>+<id>+<key>`.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    key: VerifyingKey,
}

impl VerifierKey {
    /// The name of the log; the first line of its checkpoints.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first four bytes of the hash of name and key.
    #[must_use]
    pub fn id(&self) -> u32 {
        let hash = Sha256::new()
            .chain_update(self.name.as_bytes())
            .chain_update([b'\n', ED25519])
            .chain_update(self.key.as_bytes())
            .finalize();
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }

    /// Whether `signature` is this key's signature of `text`.
    #[must_use]
    pub fn verifies(&self, text: &str, signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        self.key.verify_strict(text.as_bytes(), &signature).is_ok()
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}+{:08x}+{}",
            self.name,
            self.id(),
            encode(self.key.as_bytes())
        )
    }
}

impl fmt::Debug for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for VerifierKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let (name, id, bytes) = parts(text)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| BadKey::Key)?;
        let key = Self {
            name: name.to_owned(),
            key,
        };
        if key.id() == id {
            Ok(key)
        } else {
            Err(BadKey::Id)
        }
    }
}

/// A private key with the name of the log it speaks for, `PRIVATE+KEY+<name>+<id>+<seed>`.
#[derive(Clone)]
pub struct SignerKey {
    public: VerifierKey,
    secret: SigningKey,
}

impl SignerKey {
    /// The key whose seed is these 32 random bytes.
    ///
    /// # Errors
    ///
    /// If `name` is not 1 to 64 letters, digits and `_ - . / :`.
    pub fn new(name: &str, seed: &[u8; 32]) -> Result<Self, BadKey> {
        if !is_key_name(name) {
            return Err(BadKey::Name);
        }
        let secret = SigningKey::from_bytes(seed);
        Ok(Self {
            public: VerifierKey {
                name: name.to_owned(),
                key: secret.verifying_key(),
            },
            secret,
        })
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> &VerifierKey {
        &self.public
    }

    /// Signs a text.
    #[must_use]
    pub fn sign(&self, text: &str) -> Signature {
        Signature(self.secret.sign(text.as_bytes()).to_bytes())
    }

    /// The seed, to derive other secrets from.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        self.secret.as_bytes()
    }

    /// The key as text, to be kept where nobody else reads it.
    #[must_use]
    pub fn encoded(&self) -> Zeroizing<String> {
        let seed = Zeroizing::new(encode(self.secret.as_bytes()));
        Zeroizing::new(format!(
            "{PRIVATE}{}+{:08x}+{}",
            self.public.name,
            self.public.id(),
            *seed
        ))
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignerKey({}, ***)", self.public)
    }
}

impl FromStr for SignerKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let (name, id, seed) = parts(text.strip_prefix(PRIVATE).ok_or(BadKey::Form)?)?;
        let key = Self::new(name, &Zeroizing::new(seed))?;
        if key.public.id() == id {
            Ok(key)
        } else {
            Err(BadKey::Id)
        }
    }
}

const PRIVATE: &str = "PRIVATE+KEY+";

/// Why a text is no key. It never repeats the text, which may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// It has not the parts of a key.
    #[error(
        "a key reads <name>+<8 hexadecimal digits>+<base64>, and a private one has PRIVATE+KEY+ before that"
    )]
    Form,
    /// Its name is not one.
    #[error("the name of a key is 1 to 64 letters, digits and _ - . / :")]
    Name,
    /// It is not an Ed25519 key.
    #[error("the key is not an Ed25519 key of 32 bytes")]
    Key,
    /// Its parts do not belong together.
    #[error("the id of the key does not fit its name and bytes: one of them was altered")]
    Id,
}

fn parts(text: &str) -> Result<(&str, u32, [u8; 32]), BadKey> {
    let (name, rest) = text.split_once('+').ok_or(BadKey::Form)?;
    let (id, key) = rest.split_once('+').ok_or(BadKey::Form)?;
    if !is_key_name(name) {
        return Err(BadKey::Name);
    }
    let well_formed = id.len() == 8
        && id
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let id = u32::from_str_radix(id, 16)
        .ok()
        .filter(|_| well_formed)
        .ok_or(BadKey::Form)?;
    let bytes = Zeroizing::new(BASE64.decode(key.as_bytes()).map_err(|_| BadKey::Form)?);
    match bytes.split_first() {
        Some((&ED25519, key)) => Ok((name, id, key.try_into().map_err(|_| BadKey::Key)?)),
        _ => Err(BadKey::Key),
    }
}

fn is_key_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte))
}

fn encode(key: &[u8; 32]) -> String {
    let mut bytes = Zeroizing::new([ED25519; 33]);
    bytes[1..].copy_from_slice(key);
    BASE64.encode(&*bytes)
}

/// A text and the signatures under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<(String, u32, Vec<u8>)>,
}

impl Note {
    /// The longest note that is read, in bytes, and the most signatures in one.
    pub const MAX_BYTES: usize = 64 * 1024;
    const MAX_SIGNATURES: usize = 100;

    /// Signs a text, which must end with a newline and hold no other control character.
    #[must_use]
    pub fn sign(text: String, key: &SignerKey) -> Self {
        let signature = key.sign(&text).0.to_vec();
        Self {
            signatures: vec![(key.public.name.clone(), key.public.id(), signature)],
            text,
        }
    }

    /// Puts a note together again from its text and a signature kept elsewhere.
    #[must_use]
    pub fn with_signature(text: String, key: &VerifierKey, signature: &Signature) -> Self {
        Self {
            text,
            signatures: vec![(key.name.clone(), key.id(), signature.0.to_vec())],
        }
    }

    /// The signed text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signature of `key`, if there is one and it is right.
    #[must_use]
    pub fn signature_of(&self, key: &VerifierKey) -> Option<Signature> {
        self.signatures
            .iter()
            .filter(|(name, id, _)| *name == key.name && *id == key.id())
            .filter_map(|(_, _, bytes)| bytes.as_slice().try_into().ok().map(Signature))
            .find(|signature| key.verifies(&self.text, signature))
    }

    /// The ids of the keys that are said to have signed, in the order of the note.
    pub fn signers(&self) -> impl Iterator<Item = (&str, u32)> {
        self.signatures
            .iter()
            .map(|(name, id, _)| (name.as_str(), *id))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for (name, id, signature) in &self.signatures {
            let mut bytes = id.to_be_bytes().to_vec();
            bytes.extend_from_slice(signature);
            writeln!(f, "{SIGNATURE_MARK}{name} {}", BASE64.encode(&bytes))?;
        }
        Ok(())
    }
}

impl FromStr for Note {
    type Err = BadNote;

    fn from_str(note: &str) -> Result<Self, BadNote> {
        if note.len() > Self::MAX_BYTES || note.chars().any(|c| c < ' ' && c != '\n') {
            return Err(BadNote);
        }
        let end_of_text = note.rfind("\n\n").ok_or(BadNote)? + 1;
        let signatures = note[end_of_text + 1..].strip_suffix('\n').ok_or(BadNote)?;
        let signatures: Vec<_> = signatures
            .split('\n')
            .map(signature_line)
            .collect::<Option<_>>()
            .ok_or(BadNote)?;
        if signatures.len() > Self::MAX_SIGNATURES {
            return Err(BadNote);
        }
        Ok(Self {
            text: note[..end_of_text].to_owned(),
            signatures,
        })
    }
}

fn signature_line(line: &str) -> Option<(String, u32, Vec<u8>)> {
    let (name, signature) = line.strip_prefix(SIGNATURE_MARK)?.split_once(' ')?;
    let bytes = BASE64.decode(signature.as_bytes()).ok()?;
    let (id, signature) = bytes.split_first_chunk::<4>()?;
    Some((name.to_owned(), u32::from_be_bytes(*id), signature.to_vec()))
}

/// A text is no signed note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no signed note: a text, a blank line, and lines \"\u{2014} <name> <base64>\"")]
pub struct BadNote;

#[cfg(test)]
mod tests {
    use super::*;

    // The example of the C2SP specification and of Go's sumdb/note.
    const SECRET: &str =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
    const PUBLIC: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const TEXT: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    const SIGNATURE: &str = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=";

    #[test]
    fn keys_and_notes_are_those_of_go() {
        let key: SignerKey = SECRET.parse().unwrap();
        assert_eq!(*key.encoded(), SECRET);
        assert_eq!(key.public().to_string(), PUBLIC);
        assert_eq!(key.public(), &PUBLIC.parse().unwrap());
        let note = Note::sign(TEXT.to_owned(), &key);
        assert_eq!(
            note.to_string(),
            format!("{TEXT}\n\u{2014} PeterNeumann {SIGNATURE}\n")
        );
        assert_eq!(note.to_string().parse(), Ok(note));
    }

    #[test]
    fn an_altered_note_has_no_signature() {
        let public: VerifierKey = PUBLIC.parse().unwrap();
        let good = format!("{TEXT}\n\u{2014} PeterNeumann {SIGNATURE}\n");
        assert!(
            good.parse::<Note>()
                .unwrap()
                .signature_of(&public)
                .is_some()
        );
        let altered = good
            .replace("cryptography", "Cryptography")
            .parse::<Note>()
            .unwrap();
        assert_eq!(altered.signature_of(&public), None);
        let foreign = SignerKey::new("PeterNeumann", &[3; 32]).unwrap();
        assert_eq!(
            Note::sign(TEXT.to_owned(), &foreign).signature_of(&public),
            None
        );
    }

    #[test]
    fn what_is_no_note_or_key_is_refused() {
        for note in [
            "",
            "\n",
            "\n\n",
            "a\n",
            "a\n\n",
            "a\n\nb\n",
            "a\n\n\u{2014} n AAAA",
            "a\n\n\u{2014} n AA==\n",
            "\u{1}\n\n\u{2014} n AAAAAA==\n",
        ] {
            assert_eq!(note.parse::<Note>(), Err(BadNote), "{note:?}");
        }
        for key in [
            "",
            "a+b+c",
            "n+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
            &PUBLIC.replace("c74f", "C74f"),
        ] {
            assert!(key.parse::<VerifierKey>().is_err(), "{key:?}");
        }
        assert!(PUBLIC.parse::<SignerKey>().is_err());
        assert_eq!(
            SignerKey::new("two words", &[0; 32]).err(),
            Some(BadKey::Name)
        );
        assert_eq!(SignerKey::new("a+b", &[0; 32]).err(), Some(BadKey::Name));
    }

    #[test]
    fn a_private_key_is_not_printed() {
        let key: SignerKey = SECRET.parse().unwrap();
        assert!(!format!("{key:?}").contains("AYEKFALVFGyNhPJEMzD1QIDr"));
    }
}
