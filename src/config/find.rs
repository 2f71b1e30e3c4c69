//! From where the configuration comes.

use std::path::{Path, PathBuf};

use super::client;
use super::expand::Lookup;
use super::parse::{ConfigError, Fields, Problems};
use super::{Config, json};

/// The variable that names the configuration file when the command line does not.
pub const ENV_FILE: &str = "CLOAKLLM_GATEWAY_CONFIG";

/// The file that is read when nothing names one.
pub const DEFAULT_FILE: &str = "cloakllm-gateway.json";

/// Largest configuration file, in bytes.
const MAX_FILE: u64 = 64 << 20;

impl Config {
    /// The configuration of `given`, else of [`ENV_FILE`], else of [`DEFAULT_FILE`] in the current
    /// folder.
    ///
    /// # Errors
    ///
    /// When there is no such file, it cannot be read, or anything in it is wrong.
    pub fn find(given: Option<&Path>) -> Result<Self, ConfigError> {
        match Self::file(given) {
            Some(file) => Self::load(&file),
            None => Err(ConfigError::one(
                "no configuration",
                format!(
                    "there is no ./{DEFAULT_FILE}; name a file with --config or {ENV_FILE}, or \
                     write the command of a server behind --"
                ),
            )),
        }
    }

    /// The file that is read: `given`, else what [`ENV_FILE`] names, else [`DEFAULT_FILE`] if it
    /// is there.
    #[must_use]
    pub fn file(given: Option<&Path>) -> Option<PathBuf> {
        let named = || {
            std::env::var_os(ENV_FILE)
                .filter(|name| !name.is_empty())
                .map(PathBuf::from)
        };
        let default = || Some(PathBuf::from(DEFAULT_FILE)).filter(|file| file.exists());
        given.map(Path::to_owned).or_else(named).or_else(default)
    }

    /// The configuration in a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or anything in it is wrong.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let config = Self::load_settings(path)?;
        if config.upstreams.is_empty() {
            return Err(ConfigError::one(
                path.display().to_string(),
                "no server is configured; write at least one under \"upstreams\"",
            ));
        }
        Ok(config)
    }

    /// As [`load`](Self::load), for a file that may have no servers.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn load_settings(path: &Path) -> Result<Self, ConfigError> {
        let source = path.display().to_string();
        let text = read_text(path).map_err(|what| ConfigError::one(&*source, what))?;
        let mut config = Self::parse(&text, &source, &|name| std::env::var(name).ok())?;
        config.source = Some(path.to_owned());
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let problems = Problems::default();
        config
            .detection
            .read_lists(&problems, |file| read_text(&folder.join(file)));
        match problems.into_vec() {
            problems if problems.is_empty() => Ok(config),
            problems => Err(ConfigError { source, problems }),
        }
    }

    /// The configuration in `text`, which is called `source` in errors. Variables of the
    /// environment come from `lookup`; files of allowed and denied values are not read.
    ///
    /// # Errors
    ///
    /// When anything in it is wrong.
    pub fn parse(text: &str, source: &str, lookup: &Lookup<'_>) -> Result<Self, ConfigError> {
        let (tree, twice) =
            json::read(text).map_err(|e| ConfigError::one(source, format!("is not JSON: {e}")))?;
        let problems = Problems::default();
        for path in twice {
            problems.add(path, "is written twice; remove one");
        }
        let mut config = Self::new();
        if let Some(mut fields) = Fields::of(&tree, "", &problems) {
            if let Some(key) = client::key_of(&fields) {
                client::read_clients(fields, key, &mut config, lookup);
            } else {
                client::read(&mut fields, &mut config, lookup);
                fields.finish();
            }
        }
        match problems.into_vec() {
            problems if problems.is_empty() => Ok(config),
            problems => Err(ConfigError {
                source: source.to_owned(),
                problems,
            }),
        }
    }
}

/// The text of a file, or what is wrong with it.
fn read_text(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path)
        .map_err(|e| format!("cannot be read: {e}"))?
        .len();
    if size > MAX_FILE {
        return Err(format!(
            "has {size} bytes; more than {MAX_FILE} cannot be a configuration"
        ));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
    String::from_utf8(bytes).map_err(|e| {
        format!(
            "is not UTF-8 (byte {}); save it as UTF-8",
            e.utf8_error().valid_up_to()
        )
    })
}
