//! What is measured: the server alone, and what can stand before it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::generate::file_name;
use super::server;
use super::session::Session;
use super::size::Size;
use super::workload::Kind;

/// What stands between the client and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// Nothing
    Direct,
    /// A program that copies bytes
    Relay,
    /// The gateway with "sanitize": false
    Transparent,
    /// The gateway as it is meant to be
    Protecting,
}

impl Mode {
    pub(super) const ALL: [Self; 4] = [
        Self::Direct,
        Self::Relay,
        Self::Transparent,
        Self::Protecting,
    ];
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Direct => "direct",
            Self::Relay => "relay",
            Self::Transparent => "transparent",
            Self::Protecting => "protecting",
        })
    }
}

/// Which gateway and which server.
#[derive(Debug, clap::Args)]
pub(super) struct Target {
    /// The gateway's program [default: the one beside this program]
    #[arg(long, value_name = "PATH", help_heading = "What is measured")]
    gateway: Option<PathBuf>,

    /// A configuration whose settings the gateway gets; its servers do not count
    #[arg(long, value_name = "FILE", help_heading = "What is measured")]
    settings: Option<PathBuf>,

    /// A server's command line instead of the built-in one; {dir} stands for a folder with the
    /// texts
    #[arg(long, value_name = "CMD", help_heading = "What is measured")]
    upstream: Option<String>,

    /// That server's tool to call
    #[arg(
        long,
        value_name = "NAME",
        default_value = "read_text_file",
        help_heading = "What is measured"
    )]
    tool: String,

    /// Its arguments; {file} stands for the path of a text
    #[arg(
        long,
        value_name = "JSON",
        default_value = r#"{"path":"{file}"}"#,
        help_heading = "What is measured"
    )]
    arguments: String,

    /// How many such servers stand behind the gateway; calls of `load` are spread over them
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "What is measured"
    )]
    pub(super) upstreams: usize,

    /// Another seed, other texts
    #[arg(long, default_value_t = 1, help_heading = "What is measured")]
    pub(super) seed: u64,

    /// Show what the processes say on standard error
    #[arg(long)]
    verbose: bool,
}

/// A target whose files are written.
pub(super) struct Bench<'a> {
    target: &'a Target,
    dir: TempDir,
    gateway: PathBuf,
    /// The server's command line.
    server: Vec<String>,
    settings: Value,
}

/// A session and the names of the tool in it, one of each server.
pub(super) struct Open {
    pub(super) session: Session,
    tools: Vec<String>,
}

impl Target {
    pub(super) fn prepare(&self) -> anyhow::Result<Bench<'_>> {
        let us = std::env::current_exe().context("this program does not know where it is")?;
        let gateway = match &self.gateway {
            Some(path) => path.clone(),
            None => us.with_file_name(env!("CARGO_PKG_NAME")),
        };
        ensure!(self.upstreams > 0, "--upstreams must be above 0");
        ensure!(
            gateway.is_file(),
            "there is no gateway at {}; build it, or name it with --gateway",
            gateway.display()
        );
        let dir = tempfile::Builder::new().prefix("cloak-bench").tempdir()?;
        let settings = match &self.settings {
            Some(path) => read_settings(path)?,
            None => json!({}),
        };
        let server = match &self.upstream {
            None => {
                let us = us.to_string_lossy().into_owned();
                vec![us, "serve".into(), "--seed".into(), self.seed.to_string()]
            }
            Some(line) => words(line)?
                .into_iter()
                .map(|word| word.replace("{dir}", &dir.path().to_string_lossy()))
                .collect(),
        };
        Ok(Bench {
            target: self,
            dir,
            gateway,
            server,
            settings,
        })
    }
}

fn read_settings(path: &Path) -> anyhow::Result<Value> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let settings: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
    ensure!(
        settings.is_object(),
        "{} does not hold a JSON object",
        path.display()
    );
    Ok(settings)
}

/// Splits a command line as a shell does.
pub(super) fn words(line: &str) -> anyhow::Result<Vec<String>> {
    let words = shlex::split(line).with_context(|| format!("a quote is open in {line:?}"))?;
    ensure!(!words.is_empty(), "an empty command line starts nothing");
    Ok(words)
}

impl Bench<'_> {
    /// The command line that stands for `mode`.
    pub(super) fn command(&self, mode: Mode) -> anyhow::Result<Vec<String>> {
        Ok(match mode {
            Mode::Direct => self.server.clone(),
            Mode::Relay => {
                let us = std::env::current_exe()?.to_string_lossy().into_owned();
                let mut words = vec![us, "relay".into()];
                words.extend_from_slice(&self.server);
                words
            }
            Mode::Transparent | Mode::Protecting => {
                let config = self.config(&mode.to_string(), mode == Mode::Protecting)?;
                vec![
                    self.gateway.to_string_lossy().into_owned(),
                    "--config".into(),
                    config.to_string_lossy().into_owned(),
                ]
            }
        })
    }

    /// Writes a configuration for the server.
    pub(super) fn config(&self, name: &str, sanitize: bool) -> anyhow::Result<PathBuf> {
        let mut config = self.settings.clone();
        config["sanitize"] = json!(sanitize);
        config["state_dir"] = json!(self.dir.path().join(format!("{name}-state")));
        let server = json!({"command": self.server[0], "args": self.server[1..]});
        config["upstreams"] = (1..=self.target.upstreams)
            .map(|number| (format!("bench{number}"), server.clone()))
            .collect::<Map<_, _>>()
            .into();
        let path = self.dir.path().join(format!("{name}.json"));
        fs::write(&path, config.to_string())?;
        Ok(path)
    }

    /// Starts what `mode` says.
    pub(super) fn open(&self, mode: Mode) -> anyhow::Result<Open> {
        self.open_command(&mode.to_string(), &self.command(mode)?)
    }

    pub(super) fn open_command(&self, name: &str, words: &[String]) -> anyhow::Result<Open> {
        let mut session = Session::start(name, words, self.target.verbose)?;
        let tools = session.tools(match self.target.upstream {
            None => server::GIVE,
            Some(_) => &self.target.tool,
        })?;
        Ok(Open { session, tools })
    }

    /// What to call so that the server returns such a text: the arguments, without the tool.
    pub(super) fn arguments(&self, kind: Kind, size: Size) -> anyhow::Result<String> {
        if self.target.upstream.is_none() {
            return Ok(json!({"kind": kind, "size": size}).to_string());
        }
        let path = self.dir.path().join(file_name(kind, size));
        if !path.exists() {
            fs::write(&path, kind.text(size.0, self.target.seed))?;
        }
        // A path inside a JSON string.
        let quoted = json!(path).to_string();
        let inner = quoted.trim_matches('"');
        Ok(self.target.arguments.replace("{file}", inner))
    }
}

impl Open {
    /// The parameters of a call with `arguments`, to the first server.
    pub(super) fn params(&self, arguments: &str) -> String {
        params(&self.tools[0], arguments)
    }

    /// The parameters of that call to each server.
    pub(super) fn params_of_each(&self, arguments: &str) -> Vec<String> {
        self.tools
            .iter()
            .map(|tool| params(tool, arguments))
            .collect()
    }
}

fn params(tool: &str, arguments: &str) -> String {
    format!(r#"{{"name":{},"arguments":{arguments}}}"#, json!(tool))
}
