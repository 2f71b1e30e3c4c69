//! Models that were installed: a folder each, with the SHA-256 of its files, which is looked at
//! each time before the model is used.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cloak_names::Names;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::os;

/// Where the sums of a model's files are kept, beside them.
const RECORD: &str = "installed.json";

/// The files of models of either kind.
pub(super) const MODEL: [&str; 4] = [
    "model.json",
    "config.json",
    "tokenizer.json",
    "model.safetensors",
];

/// What is taken from a folder, if it is there. The others are not needed and may be large.
const FILES: [&str; 8] = [
    MODEL[0],
    MODEL[1],
    MODEL[2],
    MODEL[3],
    "LICENSE",
    "LICENSES_SOURCES",
    "NOTICE",
    "README.md",
];

/// Largest file of a model.
const LARGEST: u64 = 4 << 30;

/// Why a model cannot be installed or used.
#[derive(Debug, Error)]
pub(crate) enum InstallError {
    /// It is not a model.
    #[error(transparent)]
    Model(#[from] cloak_names::ModelError),
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    File { file: PathBuf, source: io::Error },
    /// There is no home to install to.
    #[error("there is no folder for models: neither HOME nor XDG_DATA_HOME is set")]
    Homeless,
    /// Its name is no name for a folder.
    #[error(
        "{0:?} cannot be a model's name: use 1 to 64 letters, digits, hyphens, dots and underscores, \
         a letter or digit first; --name chooses one"
    )]
    Name(String),
    /// There is one of this name.
    #[error("a model {name:?} is installed already; remove {} to install another", folder.display())]
    Exists { name: String, folder: PathBuf },
    /// There is none of this name.
    #[error(
        "no model {name:?} is installed in {}; `cloakllm-gateway model add FOLDER` installs one, and a \
         path with a slash names a folder", folder.display()
    )]
    Missing { name: String, folder: PathBuf },
    /// A file is not as it was when the model was installed.
    #[error(
        "{}: is not what was installed: its SHA-256 is {found}, where {RECORD} has {expected}; \
         remove the folder and install the model again", file.display()
    )]
    Changed {
        file: PathBuf,
        found: String,
        expected: String,
    },
    /// A wheel or another archive.
    #[error(
        "{}: is not a folder. Unpack it; models/README.md of the source tells which script turns a spaCy \
         or ONNX model into a folder with model.safetensors", .0.display()
    )]
    NoFolder(PathBuf),
}

/// What was installed.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The SHA-256 of each file, in hexadecimal digits.
    sha256: BTreeMap<String, String>,
}

/// The folder of all installed models.
pub(crate) struct Store(PathBuf);

impl Store {
    /// The user's own.
    pub(crate) fn open() -> Result<Self, InstallError> {
        let data = os::data_dir(|name| std::env::var_os(name)).ok_or(InstallError::Homeless)?;
        Ok(Self(data.join(env!("CARGO_PKG_NAME")).join("models")))
    }

    /// Copies a model, once it has been seen to work, and notes the sums of its files. Returns its
    /// name.
    pub(crate) fn add(&self, from: &Path, name: Option<&str>) -> Result<String, InstallError> {
        if from.is_file() {
            return Err(InstallError::NoFolder(from.to_owned()));
        }
        Names::open(from)?;
        let own = || {
            from.canonicalize()
                .ok()?
                .file_name()?
                .to_str()
                .map(str::to_owned)
        };
        let name = name.map(str::to_owned).or_else(own).unwrap_or_default();
        if !is_name(&name) {
            return Err(InstallError::Name(name));
        }
        let folder = self.0.join(&name);
        if folder.exists() {
            return Err(InstallError::Exists { name, folder });
        }
        os::private_dir(&self.0).map_err(at(&self.0))?;
        // Half a model must not be taken for one, so its folder gets its name last.
        let unfinished = tempfile::tempdir_in(&self.0).map_err(at(&self.0))?;
        let mut record = Record {
            sha256: BTreeMap::new(),
        };
        for file in FILES {
            let (old, new) = (from.join(file), unfinished.path().join(file));
            if !old.is_file() {
                continue;
            }
            fs::copy(&old, &new).map_err(at(&old))?;
            record.sha256.insert(file.to_owned(), sum(&new)?);
        }
        let path = unfinished.path().join(RECORD);
        let text = serde_json::to_string_pretty(&record).unwrap_or_default() + "\n";
        fs::write(&path, text).map_err(at(&path))?;
        let unfinished = unfinished.keep();
        fs::rename(&unfinished, &folder).map_err(at(&folder))?;
        Ok(name)
    }

    /// The names of all models, in order.
    pub(crate) fn list(&self) -> Result<Vec<String>, InstallError> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(at(&self.0)(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(at(&self.0))?.file_name();
            names.extend(
                name.to_str()
                    .filter(|name| is_name(name))
                    .map(str::to_owned),
            );
        }
        names.sort();
        Ok(names)
    }

    /// Opens a model whose files are those that were installed.
    pub(crate) fn load(&self, name: &str) -> Result<Names, InstallError> {
        let folder = self.0.join(name);
        if !is_name(name) || !folder.is_dir() {
            return Err(InstallError::Missing {
                name: name.to_owned(),
                folder: self.0.clone(),
            });
        }
        let path = folder.join(RECORD);
        let text = fs::read(&path).map_err(at(&path))?;
        let record: Record = serde_json::from_slice(&text)
            .map_err(|error| at(&path)(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        for file in FILES {
            let path = folder.join(file);
            let expected = record.sha256.get(file);
            if expected.is_none() && !path.exists() {
                continue;
            }
            let found = sum(&path)?;
            if expected != Some(&found) {
                return Err(InstallError::Changed {
                    file: path,
                    found,
                    expected: expected.cloned().unwrap_or_else(|| "nothing".to_owned()),
                });
            }
        }
        Ok(Names::open(&folder)?)
    }
}

/// A model by its folder, which has a slash in it, or else by its name.
pub(crate) fn open(which: &str) -> Result<Names, InstallError> {
    if which.contains(std::path::is_separator) {
        return Ok(Names::open(Path::new(which))?);
    }
    Store::open()?.load(which)
}

/// Where a model is, by its folder or its name; nothing says that it is there.
pub(super) fn folder(which: &str) -> Result<PathBuf, InstallError> {
    if which.contains(std::path::is_separator) {
        return Ok(PathBuf::from(which));
    }
    Ok(Store::open()?.0.join(which))
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    name.len() <= 64
        && chars.next().is_some_and(|c| c.is_ascii_alphanumeric())
        && chars.all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
}

fn sum(file: &Path) -> Result<String, InstallError> {
    let mut open = fs::File::open(file).map_err(at(file))?;
    let size = open.metadata().map_err(at(file))?.len();
    if size > LARGEST {
        let why = format!("has {size} bytes; a model's file may have {LARGEST}");
        return Err(at(file)(io::Error::other(why)));
    }
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match io::Read::read(&mut open, &mut piece).map_err(at(file))? {
            0 => return Ok(HEXLOWER.encode(&hash.finalize())),
            length => hash.update(&piece[..length]),
        }
    }
}

fn at(file: &Path) -> impl Fn(io::Error) -> InstallError {
    let file = file.to_owned();
    move |source| InstallError::File {
        file: file.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("models/spacy-en-sm")
    }

    #[test]
    fn a_model_is_installed_and_listed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store(dir.path().join("models"));
        assert_eq!(store.list().unwrap(), [""; 0]);
        assert_eq!(store.add(&built_in(), None).unwrap(), "spacy-en-sm");
        assert_eq!(store.add(&built_in(), Some("b.2")).unwrap(), "b.2");
        assert_eq!(store.list().unwrap(), ["b.2", "spacy-en-sm"]);
        store.load("b.2").unwrap();
        let error = store.add(&built_in(), Some("b.2")).unwrap_err();
        assert!(
            error.to_string().contains("is installed already"),
            "{error}"
        );
    }

    #[test]
    fn a_model_that_was_changed_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store(dir.path().to_owned());
        store.add(&built_in(), Some("x")).unwrap();
        let file = dir.path().join("x/model.safetensors");
        let mut bytes = fs::read(&file).unwrap();
        // Still a model, but another.
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        fs::write(&file, bytes).unwrap();
        Names::open(&dir.path().join("x")).unwrap();
        let error = store.load("x").err().unwrap().to_string();
        assert!(
            error.contains("model.safetensors: is not what was installed"),
            "{error}"
        );
        fs::remove_file(&file).unwrap();
        assert!(matches!(store.load("x"), Err(InstallError::File { .. })));
    }

    #[test]
    fn what_cannot_be_installed_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store(dir.path().join("models"));
        let error = |from: &Path, name| store.add(from, name).err().unwrap().to_string();
        let long = "a".repeat(65);
        for name in ["", "../x", ".x", "a b", &long] {
            assert!(error(&built_in(), Some(name)).contains("cannot be a model's name"));
        }
        assert!(error(dir.path(), None).contains("model.json: cannot be read"));
        let wheel = dir.path().join("model.whl");
        fs::write(&wheel, "PK").unwrap();
        assert!(error(&wheel, None).contains("is not a folder"));
        let error = store.load("nobody").err().unwrap().to_string();
        assert!(
            error.starts_with("no model \"nobody\" is installed in "),
            "{error}"
        );
        assert!(
            !dir.path().join("models").exists(),
            "nothing is left behind"
        );
    }
}
