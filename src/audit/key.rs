//! The file of the key that signs checkpoints.
//!
//! Its first line is the key. After a rotation, further lines hold the signatures by which each
//! older key vouches for its successor, so that whoever trusts the oldest can follow.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cloak_stages::audit::{BadKey, Signature, SignerKey, VerifierKey, endorse};
use data_encoding::BASE64;
use zeroize::Zeroizing;

use super::files::{extended, private};

/// A key as it is kept on file.
#[derive(Clone, Debug)]
pub struct KeyFile {
    /// The key.
    pub key: SignerKey,
    /// The key it took the place of, and that key's signature.
    pub before: Option<(VerifierKey, Signature)>,
}

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It cannot be read or written.
    #[error("the key file {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Others can read it.
    #[error("the key file {} can be read or written by others (mode {mode:03o}): chmod 600 it, or make a new key", path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It holds no key.
    #[error("the key file {}: {source}", path.display())]
    BadKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: BadKey,
    },
    /// There is a key already.
    #[error("{} is there already: name another file, or say --replace to rotate the key", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
}

impl KeyFile {
    /// Reads a key file, which nobody but its owner may be able to read.
    ///
    /// # Errors
    ///
    /// See [`KeyError`].
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::Io {
            path: path.to_owned(),
            source,
        };
        let file = private(OpenOptions::new().read(true))
            .open(path)
            .map_err(failed)?;
        #[cfg(unix)]
        {
            let mode =
                std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(failed)?) & 0o777;
            if mode & 0o077 != 0 {
                return Err(KeyError::NotPrivate {
                    path: path.to_owned(),
                    mode,
                });
            }
        }
        let text = Zeroizing::new(io::read_to_string(file).map_err(failed)?);
        Self::parse(&text).map_err(|source| KeyError::BadKey {
            path: path.to_owned(),
            source,
        })
    }

    fn parse(text: &str) -> Result<Self, BadKey> {
        let mut lines = text.lines();
        let key = lines.next().ok_or(BadKey::Form)?.parse()?;
        let before = lines.next().map(|line| {
            let (previous, signature) = line.strip_prefix(BEFORE)?.split_once(' ')?;
            let signature = BASE64.decode(signature.as_bytes()).ok()?.try_into().ok()?;
            Some((previous.parse().ok()?, Signature(signature)))
        });
        Ok(Self {
            key,
            before: before
                .map(|before| before.ok_or(BadKey::Form))
                .transpose()?,
        })
    }

    /// Makes a new key and writes it to `path`.
    ///
    /// With `replace`, a key that is there vouches for the new one and is kept beside it as
    /// `<path>.<id>`; otherwise nothing that is there is touched. The name of a replaced key stays.
    ///
    /// # Errors
    ///
    /// See [`KeyError`].
    pub fn generate(path: &Path, name: Option<&str>, replace: bool) -> Result<Self, KeyError> {
        let failed = |source| KeyError::Io {
            path: path.to_owned(),
            source,
        };
        let bad = |source| KeyError::BadKey {
            path: path.to_owned(),
            source,
        };
        let old = if replace {
            Some(Self::load(path)?.key)
        } else {
            None
        };
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|error| failed(error.into()))?;
        let own_name = format!("cloakllm-gateway/{:08x}", random_u32().map_err(failed)?);
        let name = old
            .as_ref()
            .map(|old| old.public().name())
            .or(name)
            .unwrap_or(&own_name);
        let key = SignerKey::new(name, &seed).map_err(bad)?;
        let before = old
            .as_ref()
            .map(|old| (old.public().clone(), endorse(old, key.public())));
        let new = Self { key, before };
        if let Some(old) = old {
            let kept = extended(path, &format!("{:08x}", old.public().id()));
            fs::rename(path, &kept).map_err(failed)?;
        }
        new.write(path)?;
        Ok(new)
    }

    fn write(&self, path: &Path) -> Result<(), KeyError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => KeyError::Exists {
                path: path.to_owned(),
            },
            _ => KeyError::Io {
                path: path.to_owned(),
                source,
            },
        };
        let mut file = private(OpenOptions::new().write(true).create_new(true))
            .open(path)
            .map_err(failed)?;
        writeln!(file, "{}", *self.key.encoded()).map_err(failed)?;
        if let Some((previous, signature)) = &self.before {
            writeln!(file, "{BEFORE}{previous} {}", BASE64.encode(&signature.0)).map_err(failed)?;
        }
        file.sync_all().map_err(failed)
    }
}

const BEFORE: &str = "replaces ";

fn random_u32() -> io::Result<u32> {
    getrandom::u32().map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_private_and_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.key");
        let made = KeyFile::generate(&path, Some("example.eu/log"), false).unwrap();
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap()) & 0o777,
            0o600
        );
        assert_eq!(
            KeyFile::load(&path).unwrap().key.public(),
            made.key.public()
        );
        assert!(matches!(
            KeyFile::generate(&path, None, false),
            Err(KeyError::Exists { .. })
        ));
        assert_eq!(
            KeyFile::load(&path).unwrap().key.public(),
            made.key.public()
        );
    }

    #[test]
    fn a_rotated_key_is_vouched_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.key");
        let old = KeyFile::generate(&path, None, false).unwrap();
        KeyFile::generate(&path, None, true).unwrap();
        let new = KeyFile::load(&path).unwrap();
        let (previous, signature) = new.before.unwrap();
        assert_eq!(&previous, old.key.public());
        assert_eq!(previous.name(), new.key.public().name());
        let text = cloak_stages::audit::endorsement(&previous, new.key.public());
        assert!(previous.verifies(&text, &signature));
        let kept = dir.path().join(format!("audit.key.{:08x}", previous.id()));
        assert_eq!(KeyFile::load(&kept).unwrap().key.public(), &previous);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.key");
        KeyFile::generate(&path, None, false).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(
            KeyFile::load(&path),
            Err(KeyError::NotPrivate { mode: 0o640, .. })
        ));
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.key");
        let mut file = private(OpenOptions::new().write(true).create_new(true))
            .open(&path)
            .unwrap();
        file.write_all(b"secret words\n").unwrap();
        let error = KeyFile::load(&path).unwrap_err().to_string();
        assert!(
            error.contains("a key reads") && !error.contains("secret words"),
            "{error}"
        );
    }
}
