//! The command line.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::audit::{self, AuditCommand, Handle, SystemClock, Verdict};
use crate::config::{Config, ConfigError, LogLevel};
use crate::logs::{self, LogFormat};
#[cfg(feature = "ner")]
use crate::names;
use crate::protection::Protection;
use crate::recording::Record;
use crate::{check, demo, detect, gateway, scrub, selftest, state};

/// A command line or a configuration that cannot be used. Clap ends with the same code.
const UNUSABLE: u8 = 2;

/// An MCP gateway that keeps personal data from the model while the tools still get it.
#[derive(Debug, Parser)]
#[command(name = env!("CARGO_PKG_NAME"), version, max_term_width = 100)]
#[command(after_help = "\
Without a command it serves: it talks to a client on standard input and output, and starts the
servers of the configuration.

  cloakllm-gateway --config gateway.json       serve what is configured
  cloakllm-gateway -- npx -y SERVER ARGS…      wrap one server, without a configuration
  cloakllm-gateway demo                        see what it does, with nothing else installed")]
struct Cli {
    #[command(flatten)]
    common: Common,

    /// Check the configuration, the detection and the commands, report, and serve nothing
    #[arg(long)]
    check: bool,

    /// A server to wrap, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    server: Vec<String>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Args)]
struct Common {
    /// The configuration [default: the file that $CLOAKLLM_GATEWAY_CONFIG names, else
    /// ./cloakllm-gateway.json]
    #[arg(long, value_name = "PATH", global = true)]
    config: Option<PathBuf>,

    /// What is logged: debug, info, warn, error or silent; instead of what is configured
    #[arg(long, value_name = "LEVEL", global = true)]
    log_level: Option<LogLevel>,

    /// How the log on standard error is written
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        global = true
    )]
    log_format: LogFormat,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what the gateway does, with a small file server and invented data
    Demo(demo::Demo),
    /// Show what is found in a text
    Detect(detect::Detect),
    /// Take personal data out of texts
    Scrub(scrub::Scrub),
    /// Look into the audit log, prove what is in it, make the key that signs it
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Install models that find names, list them, try them
    #[cfg(feature = "ner")]
    #[command(subcommand)]
    Model(names::ModelCommand),
    /// Serve the files of a folder over MCP, for the demo and for tests
    #[command(hide = true)]
    ServeFiles(demo::ServeFiles),
}

/// Runs the program: reads the command line, does what it says, tells the code to end with.
///
/// 0 is success, 1 something that went wrong, 2 a command line or configuration that cannot be
/// used.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error:#}", env!("CARGO_PKG_NAME"));
            match error.downcast_ref::<ConfigError>() {
                Some(_) => ExitCode::from(UNUSABLE),
                None => ExitCode::FAILURE,
            }
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli {
        common,
        check,
        server,
        command,
    } = cli;
    match command {
        Some(Command::Demo(demo)) => demo.run(common.log_level.unwrap_or(LogLevel::Error)),
        Some(Command::ServeFiles(files)) => files.run(),
        Some(Command::Audit(command)) => audit(&command, &common),
        #[cfg(feature = "ner")]
        Some(Command::Model(command)) => command.run(),
        Some(Command::Detect(detect)) => {
            let config = common.settings()?;
            common.log(&config);
            detect.run(&config)
        }
        Some(Command::Scrub(scrub)) => {
            let config = common.settings()?;
            common.log(&config);
            scrub.run(&config)
        }
        None => {
            let config = common.servers(server)?;
            common.log(&config);
            if check {
                check::run(&config)
            } else {
                serve(&config)
            }
        }
    }
}

impl Common {
    /// What is configured, where there may be nothing and servers do not matter.
    fn settings(&self) -> Result<Config, ConfigError> {
        match Config::file(self.config.as_deref()) {
            Some(file) => Config::load_settings(&file),
            None => Ok(Config::new()),
        }
    }

    /// What is to be served: a server on the command line instead of those of the configuration,
    /// which then has to be named on the command line too.
    fn servers(&self, server: Vec<String>) -> Result<Config, ConfigError> {
        let mut words = server.into_iter();
        let Some(command) = words.next() else {
            return Config::find(self.config.as_deref());
        };
        let config = match &self.config {
            Some(file) => Config::load_settings(file)?,
            None => Config::new(),
        };
        Ok(config.wrap(command, words.collect()))
    }

    fn log(&self, config: &Config) {
        logs::init(self.log_level.unwrap_or(config.log_level), self.log_format);
        for warning in &config.warnings {
            tracing::warn!("{warning}");
        }
    }
}

/// Serves, if the self-test finds that what is looked for is caught.
fn serve(config: &Config) -> anyhow::Result<ExitCode> {
    if !config.sanitize {
        tracing::warn!("nothing is protected: \"sanitize\" is false");
        return session(config, None);
    }
    let (numbers, warning) = state::numbers(config.state_dir.clone());
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
    let protection = Protection::new(config, numbers)?;
    if let Some(gap) = &protection.names().gap {
        tracing::warn!("{gap}");
    }
    let passed = selftest::run(config, &protection)?;
    tracing::info!(values = passed.values, "the self-test has passed");
    session(config, Some(&protection))
}

/// One session, told to the audit log if there is one.
fn session(config: &Config, protection: Option<&Protection>) -> anyhow::Result<ExitCode> {
    let Some(audit) = &config.audit else {
        gateway::serve(config, protection, &Handle::off())?;
        return Ok(ExitCode::SUCCESS);
    };
    let record = Record::open(audit)?;
    record.started(config, protection.map(Protection::detectors));
    let served = gateway::serve(config, protection, &record.handle());
    record.ended()?;
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a command on the audit log, by default that of the configuration.
fn audit(command: &AuditCommand, common: &Common) -> anyhow::Result<ExitCode> {
    let config = common.settings().ok();
    let dir = config
        .and_then(|config| config.audit)
        .map(|audit| audit.dir);
    let mut context = audit::Context {
        default_dir: dir.as_deref(),
        clock: &SystemClock::new(),
        out: &mut io::stdout().lock(),
        stopped: &|| false,
    };
    Ok(match command.run(&mut context) {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{}: {why}", env!("CARGO_PKG_NAME"));
            ExitCode::from(UNUSABLE)
        }
    })
}

/// Whether the error is that nobody reads our output any more, as with `| head`.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref::<io::Error>().is_some_and(broken)
}
