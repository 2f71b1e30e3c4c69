//! Which keys a verification trusts, and the checkpoints that the log itself records.

use data_encoding::BASE64;

use super::checkpoint::Checkpoint;
use super::entry::{Entry, Event};
use super::finding::Problem;
use super::line::StoredEntry;
use super::name::{Digest, Name};
use super::note::{Note, Signature, SignerKey, VerifierKey};

const KEY: Name = Name::literal("key");
const PREVIOUS: Name = Name::literal("previous");
const ROOT: Name = Name::literal("root");
const SIGNATURE: Name = Name::literal("signature");
const SIZE: Name = Name::literal("size");

/// The entry that says: from here on checkpoints are signed by `key`.
///
/// `before` is the key until now with its signature of the [`endorsement`], where there was one.
#[must_use]
pub fn key_change(key: &VerifierKey, before: Option<(&VerifierKey, Option<Signature>)>) -> Entry {
    let mut entry = Entry::new(Event::KeyChange).fact(KEY, key.clone());
    if let Some((previous, signature)) = before {
        entry = entry.fact(PREVIOUS, previous.clone());
        if let Some(signature) = signature {
            entry = entry.fact(SIGNATURE, signature);
        }
    }
    entry
}

/// The entry that records a checkpoint; it has to be the first one that the checkpoint does not cover.
#[must_use]
pub fn checkpoint_entry(checkpoint: &Checkpoint, key: &VerifierKey, signature: Signature) -> Entry {
    Entry::new(Event::Checkpoint)
        .fact(KEY, key.clone())
        .fact(ROOT, checkpoint.root)
        .fact(SIGNATURE, signature)
        .fact(SIZE, checkpoint.size)
}

/// What a key signs when another one takes its place.
#[must_use]
pub fn endorsement(previous: &VerifierKey, next: &VerifierKey) -> String {
    format!("cloakllm audit key change\n{previous}\n{next}\n")
}

/// Signs that `next` takes the place of `previous`.
#[must_use]
pub fn endorse(previous: &SignerKey, next: &VerifierKey) -> Signature {
    previous.sign(&endorsement(previous.public(), next))
}

#[derive(Debug)]
pub(super) struct Keyring {
    trusted: Vec<VerifierKey>,
    /// Whether the caller named the keys; else the log's own word is taken, and said to be.
    pub(super) named: bool,
    /// Those whose signatures were accepted.
    pub(super) used: Vec<VerifierKey>,
}

impl Keyring {
    pub(super) fn new(keys: &[VerifierKey]) -> Self {
        Self {
            trusted: keys.to_vec(),
            named: !keys.is_empty(),
            used: Vec::new(),
        }
    }

    /// Where no key was named, the first that the log names is taken.
    fn adopt(&mut self, key: &VerifierKey) {
        if self.trusted.is_empty() {
            self.trusted.push(key.clone());
        }
    }

    /// An entry names the key in use.
    pub(super) fn seen(&mut self, entry: &StoredEntry<'_>) {
        if let Some(key) = key_of(entry, &KEY) {
            self.adopt(&key);
        }
    }

    /// An entry says that another key is used from here on.
    pub(super) fn change(&mut self, entry: &StoredEntry<'_>) -> Result<(), Problem> {
        let key = key_of(entry, &KEY).ok_or(Problem::KeyNotSigned)?;
        self.adopt(&key);
        if self.trusted.contains(&key) {
            return Ok(());
        }
        let endorsed = key_of(entry, &PREVIOUS)
            .zip(signature_of(entry))
            .is_some_and(|(previous, signature)| {
                self.trusted.contains(&previous)
                    && previous.verifies(&endorsement(&previous, &key), &signature)
            });
        if endorsed || !self.named {
            self.trusted.push(key);
        }
        if endorsed {
            Ok(())
        } else {
            Err(Problem::KeyNotSigned)
        }
    }

    /// The checkpoint that an entry records, if a trusted key signed it.
    pub(super) fn recorded(&mut self, entry: &StoredEntry<'_>) -> Result<Checkpoint, Problem> {
        let source_name = format!("entry {}", entry.seq);
        let read = || {
            let size = entry
                .number(SIZE.as_str())
                .filter(|size| *size == entry.seq)?;
            let root = Digest::from_hex(entry.text(ROOT.as_str())?.as_bytes())?;
            Some((key_of(entry, &KEY)?, size, root, signature_of(entry)?))
        };
        let Some((key, size, root, signature)) = read() else {
            return Err(Problem::BadCheckpoint { source_name });
        };
        self.adopt(&key);
        let checkpoint = Checkpoint {
            origin: key.name().to_owned(),
            size,
            root,
        };
        let note = Note::with_signature(checkpoint.to_string(), &key, &signature);
        self.signed(&note, checkpoint, source_name)
    }

    /// The checkpoint, if a trusted key signed the note it was read from.
    pub(super) fn signed(
        &mut self,
        note: &Note,
        checkpoint: Checkpoint,
        source_name: String,
    ) -> Result<Checkpoint, Problem> {
        let signer = self
            .trusted
            .iter()
            .find(|key| key.name() == checkpoint.origin && note.signature_of(key).is_some());
        let Some(key) = signer else {
            return Err(Problem::BadSignature {
                source_name,
                named: self.named,
            });
        };
        if !self.used.contains(key) {
            self.used.push(key.clone());
        }
        Ok(checkpoint)
    }
}

fn key_of(entry: &StoredEntry<'_>, fact: &Name) -> Option<VerifierKey> {
    entry.text(fact.as_str())?.parse().ok()
}

fn signature_of(entry: &StoredEntry<'_>) -> Option<Signature> {
    let bytes = BASE64
        .decode(entry.text(SIGNATURE.as_str())?.as_bytes())
        .ok()?;
    Some(Signature(bytes.try_into().ok()?))
}
