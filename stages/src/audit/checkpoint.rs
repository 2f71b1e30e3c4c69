//! Checkpoints (C2SP tlog-checkpoint): the log's name, its size and its root, signed.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;

use super::name::Digest;
use super::note::{Note, SignerKey};

/// What a log says about itself: "these are my first `size` entries".
///
/// ```
/// use cloak_stages::audit::{Checkpoint, SignerKey, Tree};
///
/// let key = SignerKey::new("example.eu/gateway", &[7; 32])?;
/// let note = Checkpoint::of(&Tree::new(), key.public().name()).sign(&key);
/// assert!(note.signature_of(key.public()).is_some());
/// # Ok::<(), cloak_stages::audit::BadKey>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log, the same as that of the key that signs.
    pub origin: String,
    /// The number of entries.
    pub size: u64,
    /// The root of the Merkle tree over them.
    pub root: Digest,
}

impl Checkpoint {
    /// More entries than any log holds; larger sizes are refused where they are read.
    pub const MAX_SIZE: u64 = 1 << 53;

    /// The checkpoint of a tree as it stands.
    #[must_use]
    pub fn of(tree: &super::Tree, origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            size: tree.size(),
            root: tree.root(),
        }
    }

    /// The checkpoint as a signed note.
    #[must_use]
    pub fn sign(&self, key: &SignerKey) -> Note {
        Note::sign(self.to_string(), key)
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}\n{}\n{}",
            self.origin,
            self.size,
            BASE64.encode(&self.root.0)
        )
    }
}

impl FromStr for Checkpoint {
    type Err = BadCheckpoint;

    fn from_str(text: &str) -> Result<Self, BadCheckpoint> {
        let mut lines = text.split('\n');
        let (Some(origin), Some(size), Some(root), Some(_)) =
            (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Err(BadCheckpoint);
        };
        let number: u64 = size.parse().map_err(|_| BadCheckpoint)?;
        let root = BASE64.decode(root.as_bytes()).map_err(|_| BadCheckpoint)?;
        if origin.is_empty() || number.to_string() != size || number > Self::MAX_SIZE {
            return Err(BadCheckpoint);
        }
        let root = Digest(root.try_into().map_err(|_| BadCheckpoint)?);
        Ok(Self {
            origin: origin.to_owned(),
            size: number,
            root,
        })
    }
}

/// A text is no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no checkpoint: three lines with the log's name, its size, and its root in base64")]
pub struct BadCheckpoint;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_read_back() {
        let checkpoint = Checkpoint {
            origin: "example.eu/log".into(),
            size: 42,
            root: Digest::of(b""),
        };
        let text = checkpoint.to_string();
        assert_eq!(
            text,
            "example.eu/log\n42\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
        );
        assert_eq!(text.parse(), Ok(checkpoint.clone()));
        assert_eq!(format!("{text}an extension\n").parse(), Ok(checkpoint));
    }

    #[test]
    fn what_is_no_checkpoint_is_refused() {
        let root = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        for text in [
            String::new(),
            format!("log\n42\n{root}"),
            format!("\n42\n{root}\n"),
            format!("log\n042\n{root}\n"),
            format!("log\n-1\n{root}\n"),
            format!("log\n18446744073709551615\n{root}\n"),
            "log\n42\nAAAA\n".into(),
        ] {
            assert_eq!(text.parse::<Checkpoint>(), Err(BadCheckpoint), "{text:?}");
        }
    }
}
