//! `--check`: everything that a start would find out, without serving.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::config::{Config, Keyword, Mode, Upstream};
use crate::protection::Protection;
use crate::{selftest, state};

/// Looks at everything and reports on standard error. The code is that of a start: 1 if it would
/// fail.
///
/// # Errors
///
/// When a setting of the detection cannot be used.
pub(crate) fn run(config: &Config) -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    report.configuration(config);
    if config.sanitize {
        report.protection(config)?;
    } else {
        report.warn(
            "protection",
            "off: nothing is sanitised, everything reaches the model",
        );
    }
    for upstream in &config.upstreams {
        report.server(upstream);
    }
    for warning in &config.warnings {
        report.warn("note", warning);
    }
    report.end();
    io::stderr().lock().write_all(report.text.as_bytes())?;
    Ok(if report.faults == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Where the program of a server is.
///
/// # Errors
///
/// Why it cannot be started, with the name of the program.
pub(crate) fn program(upstream: &Upstream) -> Result<PathBuf, String> {
    let variable = |(name, value): &(String, String)| (name == "PATH").then(|| value.into());
    let path = upstream
        .env
        .iter()
        .find_map(variable)
        .or_else(|| std::env::var_os("PATH"));
    let folder = match &upstream.cwd {
        Some(cwd) if !cwd.is_dir() => {
            return Err(format!("its cwd {} is not a folder", cwd.display()));
        }
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir().map_err(|e| format!("there is no current folder: {e}"))?,
    };
    which::which_in(&upstream.command, path, folder).map_err(|_| {
        let command = &upstream.command;
        if command.contains(std::path::is_separator) {
            format!("there is no program {command:?}; correct \"command\"")
        } else {
            format!("there is no program {command:?} on PATH; install it, or write its whole path")
        }
    })
}

#[derive(Debug, Default)]
struct Report {
    text: String,
    faults: usize,
}

impl Report {
    fn configuration(&mut self, config: &Config) {
        let name = match &config.source {
            Some(file) => file.display().to_string(),
            None => "none; a server on the command line".to_owned(),
        };
        self.row("ok", "configuration", &name);
        self.row("ok", "log level", &config.log_level.to_string());
        if let Some(audit) = &config.audit {
            self.row("ok", "audit", &audit.dir.display().to_string());
        }
    }

    fn protection(&mut self, config: &Config) -> anyhow::Result<()> {
        let (numbers, warning) = state::numbers(config.state_dir.clone());
        let protection = Protection::new(config, numbers)?;
        let detectors = protection.detectors();
        let become_ = match config.detection.mode {
            Mode::Tokenize => "tokens, turned back for tools",
            Mode::Redact => "redacted, not turned back",
        };
        let what = format!(
            "values become {become_}; token_scope {}",
            config.token_scope.word()
        );
        self.row("ok", "protection", &what);
        let names: Vec<_> = detectors
            .categories()
            .map(|kind| detectors.name(kind))
            .collect();
        self.row("ok", "looked for", &names.join(", "));
        match &protection.names().gap {
            None => self.row("ok", "names", &protection.names().model),
            Some(gap) => self.warn("names", gap),
        }
        match selftest::run(config, &protection) {
            Ok(passed) => {
                let what = format!("{} known values, all protected and restored", passed.values);
                self.row("ok", "self-test", &what);
                for category in &passed.allowed {
                    self.warn(
                        "self-test",
                        &format!("your allow list lets a known {category} pass"),
                    );
                }
            }
            Err(failed) => self.fault("self-test", &failed.to_string()),
        }
        match warning {
            None => self.row("ok", "numbers", "are remembered from session to session"),
            Some(warning) => self.warn("numbers", &warning),
        }
        Ok(())
    }

    fn server(&mut self, upstream: &Upstream) {
        match program(upstream) {
            Ok(path) => {
                let path = path.display();
                self.row(
                    "ok",
                    &upstream.name,
                    &format!(
                        "{path}, {} ({})",
                        upstream.trust.word(),
                        upstream.token_scope.word()
                    ),
                );
            }
            Err(why) => self.fault(&upstream.name, &why),
        }
    }

    fn end(&mut self) {
        let _ = match self.faults {
            0 => writeln!(self.text, "everything is ready"),
            1 => writeln!(self.text, "1 fault; it would not start, or not serve all"),
            n => writeln!(
                self.text,
                "{n} faults; it would not start, or not serve all"
            ),
        };
    }

    fn warn(&mut self, what: &str, why: &str) {
        self.row("note", what, why);
    }

    fn fault(&mut self, what: &str, why: &str) {
        self.faults += 1;
        self.row("FAULT", what, why);
    }

    fn row(&mut self, mark: &str, what: &str, text: &str) {
        let _ = writeln!(self.text, "{mark:>5}  {what:<14} {text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(command: &str) -> Upstream {
        Upstream::new("a".to_owned(), command.to_owned())
    }

    #[test]
    fn a_program_is_found_or_named() {
        assert!(program(&server("sh")).unwrap().is_absolute());
        assert!(program(&server("/bin/sh")).is_ok());
        let why = program(&server("no-such-program-here")).unwrap_err();
        assert!(why.contains("\"no-such-program-here\" on PATH"), "{why}");
        let why = program(&server("./no/such")).unwrap_err();
        assert!(why.contains("correct \"command\""), "{why}");
        let mut upstream = server("sh");
        upstream.env = vec![("PATH".to_owned(), "/nowhere".to_owned())];
        assert!(program(&upstream).is_err(), "the server's own PATH counts");
        upstream.cwd = Some("/no/such/folder".into());
        assert!(program(&upstream).unwrap_err().contains("cwd"));
    }
}
