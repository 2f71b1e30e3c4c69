//! `model`: installs models that find names, lists them, tries them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Subcommand;
use cloak_names::{Label, Names};

use super::installed::{self, InstallError, Store};
use super::model::KNOWN;

/// The commands of `model`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Install the model in a folder, so that "ner_model" can name it
    Add {
        /// The folder: config.json, tokenizer.json and model.safetensors of a token classifier, or
        /// what models/export.py wrote
        folder: PathBuf,

        /// What to call it [default: the folder's name]
        #[arg(long)]
        name: Option<String>,
    },
    /// Show the installed models and the kinds of names that they find
    List,
    /// Try a model on names that it should know
    Test {
        /// Its name, or its folder with a slash in it [default: the built-in model]
        model: Option<String>,
    },
}

impl ModelCommand {
    /// Runs it; the answer goes to standard output.
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let mut out = io::stdout().lock();
        match self {
            Self::Add { folder, name } => {
                let name = Store::open()?.add(folder, name.as_deref())?;
                writeln!(out, "installed; use it with \"ner_model\": {name:?}")?;
                Ok(ExitCode::SUCCESS)
            }
            Self::List => list(&mut out),
            Self::Test { model } => test(model.as_deref(), &mut out),
        }
    }
}

fn list(out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut show = |name: &str, model: Result<Names, InstallError>| match model {
        Ok(names) => writeln!(out, "{name:<24} {}", kinds(&names)),
        Err(why) => {
            code = ExitCode::FAILURE;
            writeln!(out, "{name:<24} CANNOT BE USED: {why}")
        }
    };
    show("(built in)", Names::builtin().map_err(InstallError::from))?;
    let store = Store::open()?;
    for name in store.list()? {
        show(&name, store.load(&name))?;
    }
    Ok(code)
}

/// Success means that the model finds a known name of each kind of which there are any.
fn test(model: Option<&str>, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let names = match model {
        Some(which) => installed::open(which)?,
        None => Names::builtin()?,
    };
    writeln!(out, "opened in {} ms", start.elapsed().as_millis())?;
    writeln!(out, "kinds: {}", kinds(&names))?;
    let offered = names.labels();
    let mut works = offered.contains(&Label::Person);
    for (label, known) in KNOWN.iter().filter(|(label, _)| offered.contains(label)) {
        let mut hits = 0;
        for (text, name) in *known {
            let mut found = Vec::new();
            names.find(text, &[*label], &mut found);
            let hit = found
                .iter()
                .any(|one| text[one.start..one.end].contains(name));
            hits += usize::from(hit);
            let mark = if hit { "ok" } else { "missed" };
            writeln!(out, "{mark:>6}  {label:<7} {name} in: {text}")?;
        }
        works &= hits > 0;
    }
    if works {
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "it does not find people, or nothing known of another kind"
    )?;
    Ok(ExitCode::FAILURE)
}

fn kinds(names: &Names) -> String {
    let kinds: Vec<_> = names.labels().iter().map(|label| label.as_str()).collect();
    kinds.join(", ")
}
