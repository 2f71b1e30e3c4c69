//! What the gateway is told to do: the configuration file, read strictly.
//!
//! Nothing in the file is passed over: an unknown key is refused with the known key next to it, a
//! value of the wrong type with its path, and everything that is wrong is told at once.

mod client;
mod detection;
mod expand;
mod find;
mod json;
mod nearest;
mod parse;
mod upstream;
mod values;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

pub use cloak_stages::protect::{FreshValues, Mode, Scope};
pub use detection::{Detection, NameModel, Names};
pub use find::{DEFAULT_FILE, ENV_FILE};
pub use parse::{ConfigError, Problem};
pub use upstream::{MAX_NAME, Upstream, wrapped};

pub use crate::audit::Fsync;
use parse::Fields;
pub(crate) use values::Keyword;
use values::{Count, Size, keywords};

/// How long a list of tools, prompts or resources may take when nothing else is said.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a server may take to answer `initialize` when nothing else is said.
pub const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);

/// Everything the gateway is told.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file it was read from, if it was one.
    pub source: Option<PathBuf>,
    /// The servers, in the order of the file.
    pub upstreams: Vec<Upstream>,
    /// Whether names of tools and prompts carry the name of their server (`files__read`). Off only
    /// for a single server wrapped on the command line.
    pub prefix: bool,
    /// Whether anything is sanitised and restored at all. Off means byte for byte.
    pub sanitize: bool,
    /// What is looked for, and what becomes of it.
    pub detection: Detection,
    /// Which server may be given the value behind a token, unless it says otherwise itself.
    pub token_scope: Scope,
    /// What happens to a personal value that the model itself wrote into a call to a third party,
    /// unless the server says otherwise itself.
    pub fresh_values: FreshValues,
    /// What is logged.
    pub log_level: LogLevel,
    /// How long a call may stay silent before it is given up: from the request, or from its last
    /// progress. `None` is for ever.
    pub request_timeout: Option<Duration>,
    /// Longest message, in bytes.
    pub max_message: usize,
    /// Whether servers may answer `initialize` with a version of the protocol that is not known.
    pub allow_unknown_protocol_version: bool,
    /// Where the numbers of tokens are remembered; `None` is the place of the operating system.
    pub state_dir: Option<PathBuf>,
    /// The audit log, if one is kept.
    pub audit: Option<AuditConfig>,
    /// What the reader of the configuration wants the user to know, in whole sentences.
    pub warnings: Vec<String>,
}

impl Config {
    /// A configuration without servers, everything else as when nothing is said.
    #[must_use]
    pub fn new() -> Self {
        Self {
            source: None,
            upstreams: Vec::new(),
            prefix: true,
            sanitize: true,
            detection: Detection::default(),
            token_scope: Scope::Session,
            fresh_values: FreshValues::Report,
            log_level: LogLevel::default(),
            request_timeout: None,
            max_message: cloak_stages::frame::MAX_LINE,
            allow_unknown_protocol_version: false,
            state_dir: None,
            audit: None,
            warnings: Vec::new(),
        }
    }

    /// One server, by its command, with its names left as they are.
    ///
    /// The other settings stay what they are in `self`.
    #[must_use]
    pub fn wrap(mut self, command: String, args: Vec<String>) -> Self {
        let mut upstream = Upstream::new(wrapped(&command), command);
        upstream.args = args;
        upstream.token_scope = self.token_scope;
        upstream.fresh_values = self.fresh_values;
        upstream.request_timeout = self.request_timeout;
        self.upstreams = vec![upstream];
        self.prefix = false;
        self
    }

    /// How long a list may take.
    #[must_use]
    pub fn list_timeout(&self) -> Duration {
        self.request_timeout.unwrap_or(LIST_TIMEOUT)
    }

    /// Takes the settings that stand beside the servers.
    fn read_settings(&mut self, fields: &mut Fields<'_>) {
        fields.set("sanitize", &mut self.sanitize);
        fields.set("token_scope", &mut self.token_scope);
        fields.set("fresh_values", &mut self.fresh_values);
        fields.set("log_level", &mut self.log_level);
        self.request_timeout = fields.take("request_timeout");
        if let Some(Size(bytes)) = fields.take("max_message") {
            self.max_message = bytes;
        }
        self.state_dir = fields.take("state_dir");
        if let Some(mut fields) = fields.object("detection") {
            self.detection = Detection::read(&mut fields, &mut self.warnings);
            fields.finish();
        }
        if let Some(mut fields) = fields.object("audit") {
            self.audit = AuditConfig::read(&mut fields);
            fields.finish();
        }
        fields.set(
            "allow_unknown_protocol_version",
            &mut self.allow_unknown_protocol_version,
        );
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

/// Who is behind a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The user's own: what the model writes goes to it freely.
    #[default]
    Local,
    /// Somebody else: [`FreshValues`] holds for it.
    ThirdParty,
}

/// What is logged: this and all that is graver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogLevel {
    /// Every message, by kind and size.
    Debug,
    /// What starts, ends and was protected.
    #[default]
    Info,
    /// What the user should look at.
    Warn,
    /// What went wrong.
    Error,
    /// Nothing.
    Silent,
}

/// The audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditConfig {
    /// Where it is kept.
    pub dir: PathBuf,
    /// Whether a call is refused that cannot be recorded.
    pub required: bool,
    /// When entries are forced to the disk.
    pub fsync: Fsync,
    /// After how many days a file is removed; `None` keeps all.
    pub retention_days: Option<u32>,
    /// The key that signs checkpoints; without one there are none.
    pub key: Option<PathBuf>,
}

impl AuditConfig {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let dir = fields.require("dir");
        let mut audit = Self {
            dir: PathBuf::new(),
            required: false,
            fsync: Fsync::default(),
            retention_days: None,
            key: fields.take("key"),
        };
        fields.set("required", &mut audit.required);
        fields.set("fsync", &mut audit.fsync);
        audit.retention_days = fields.take::<Count>("retention_days").map(|days| days.0);
        audit.dir = dir?;
        Some(audit)
    }
}

keywords! {
    Scope { "session" => Session, "upstream" => Upstream }
    FreshValues { "allow" => Allow, "report" => Report, "block" => Block }
    Trust { "local" => Local, "third-party" => ThirdParty }
    LogLevel {
        "debug" => Debug, "info" => Info, "warn" => Warn, "error" => Error, "silent" => Silent,
    }
    Fsync { "batch" => Batch, "each" => Each, "none" => None }
    Mode { "tokenize" => Tokenize, "redact" => Redact }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for LogLevel {
    type Err = &'static str;

    /// Reads the word of the configuration file.
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::from_word(word).ok_or("expected debug, info, warn, error or silent")
    }
}

#[cfg(test)]
mod tests;
