//! The log: on standard error, for people or for machines, and never with a value in it.

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::config::LogLevel;

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

/// Begins to log what this program and its stages have to say, and nobody else: what a library
/// prints may hold a value. A second call changes nothing.
pub fn init(level: LogLevel, format: LogFormat) {
    let level = LevelFilter::from(level);
    let ours = Targets::new()
        .with_target("cloakllm_gateway", level)
        .with_target("cloak_stages", level);
    let lines = fmt::layer().with_writer(io::stderr).with_target(false);
    let lines = match format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Human => lines.with_ansi(colours(&io::stderr())).compact().boxed(),
    };
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(ours))
        .try_init();
}

/// Whether colours can be shown there: on a terminal, unless `NO_COLOR` (<https://no-color.org>)
/// asks for none.
pub(crate) fn colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Info => Self::INFO,
            LogLevel::Warn => Self::WARN,
            LogLevel::Error => Self::ERROR,
            LogLevel::Silent => Self::OFF,
        }
    }
}
