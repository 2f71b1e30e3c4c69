//! `demo`: the gateway at work on invented data, with nothing else installed.
//!
//! Three processes of this program, over real pipes: a client that plays the model, the gateway,
//! and a small file server.

mod files;
mod sample;
mod view;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt, object};
use serde_json::json;

use crate::config::LogLevel;
use crate::logs::colours;
use view::{Tone, Toned, View, marked};

/// Longest that the demo may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The file that the model writes.
const REPLY: &str = "reply.txt";

/// The arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to put the folder of the demo; it must not be there yet [default: a temporary one]
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
}

/// The arguments of `serve-files`.
#[derive(Debug, Args)]
pub(crate) struct ServeFiles {
    /// The folder
    dir: PathBuf,

    /// Write down each call in this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

impl ServeFiles {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        runtime()?.block_on(files::serve(&self.dir, self.record.as_deref()))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Demo {
    /// Shows it, and leaves its folder to be looked at. Fails if a value reached the model.
    pub(crate) fn run(&self, log_level: LogLevel) -> anyhow::Result<ExitCode> {
        let place = Place::new(self.dir.as_deref())?;
        let stdout = io::stdout().lock();
        let colours = colours(&stdout);
        let mut view = View::new(stdout, colours);
        runtime()?.block_on(async {
            tokio::time::timeout(LIMIT, play(&place, &mut view, log_level))
                .await
                .with_context(|| format!("the demo did not end within {} s", LIMIT.as_secs()))?
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
}

/// Plays the demo through.
async fn play<W: io::Write>(
    place: &Place,
    view: &mut View<W>,
    log_level: LogLevel,
) -> anyhow::Result<()> {
    let mut model = Model::connect(place, log_level).await?;
    let tools = model
        .client
        .list_all_tools()
        .await
        .context("the gateway lists no tools")?;
    let tools: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    view.heading("CloakLLM gateway: what a model sees, and what its tools get")?;
    view.paragraph(&format!(
        "A client that plays a model, the gateway, and a file server, each a process of its own. \
         The model is offered {}.",
        tools.join(", "),
    ))?;

    view.heading("1. The model reads a support ticket")?;
    let ticket = model.read(sample::TICKET).await?;
    show_read(place, view, &ticket)?;

    view.heading("2. It writes an answer, with the tokens that it saw")?;
    let reply = reply_to(&ticket);
    model.write(REPLY, &reply).await?;
    let received = place.last_call()?.arguments;
    let received = received
        .get("content")
        .and_then(|text| text.as_str())
        .unwrap_or_default();
    view.beside(
        ("THE MODEL WROTE", &with_tokens(&reply)),
        ("THE TOOL RECEIVED", &with_values(received)),
    )?;

    view.heading("3. The same person in another file has the same tokens")?;
    let customers = model.read(sample::CUSTOMERS).await?;
    show_read(place, view, &customers)?;

    view.heading("4. Secrets, and a text that pretends to be a token")?;
    let deploy = model.read(sample::DEPLOY).await?;
    show_read(place, view, &deploy)?;
    view.blank()?;
    view.paragraph(
        "The false [EMAIL_0] has other brackets now: written back, it would not turn into \
         somebody's address.",
    )?;

    let Model { client, seen } = model;
    client.cancel().await.context("the gateway did not end")?;
    conclude(place, view, &seen)
}

/// Says what came of it.
fn conclude<W: io::Write>(place: &Place, view: &mut View<W>, seen: &str) -> anyhow::Result<()> {
    let leaked = |values: &[&'static str]| -> Vec<&'static str> {
        values
            .iter()
            .copied()
            .filter(|value| seen.contains(value))
            .collect()
    };
    let (values, names) = (leaked(sample::VALUES), leaked(sample::NAMES));
    let reply = fs::read_to_string(place.files.join(REPLY)).context("the reply is not there")?;
    let restored = sample::VALUES
        .iter()
        .filter(|value| reply.contains(**value))
        .count();
    view.heading("Result")?;
    view.paragraph(&format!(
        "{} of {} addresses, numbers and secrets reached the model; {} of {} names did. \
         {restored} values are in the file that it wrote.",
        values.len(),
        sample::VALUES.len(),
        names.len(),
        sample::NAMES.len(),
    ))?;
    if !names.is_empty() {
        view.paragraph("Names are found by a model; without one they pass, as --check tells.")?;
    }
    view.blank()?;
    view.paragraph("The files are still there, and the reply is among them:")?;
    view.whole(&place.files.join(REPLY).display().to_string())?;
    ensure!(
        values.is_empty(),
        "values reached the model; please report this as a fault"
    );
    ensure!(
        restored > 0,
        "no value was restored; please report this as a fault"
    );
    Ok(())
}

/// What the server sent for the last call, beside what the model saw of it.
fn show_read<W: io::Write>(place: &Place, view: &mut View<W>, saw: &str) -> anyhow::Result<()> {
    let sent = place.last_call()?.answer;
    view.beside(
        ("THE SERVER SENT", &with_values(&sent)),
        ("THE MODEL SAW", &with_tokens(saw)),
    )?;
    Ok(())
}

fn with_values(text: &str) -> Toned {
    marked(
        text,
        sample::VALUES.iter().chain(sample::NAMES).copied(),
        Tone::Value,
    )
}

fn with_tokens(text: &str) -> Toned {
    marked(text, tokens(text), Tone::Token)
}

/// The tokens in a text.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(']').filter_map(|part| {
        let token = &part[part.rfind('[')?..];
        let (category, number) = token
            .strip_prefix('[')?
            .strip_suffix(']')?
            .rsplit_once('_')?;
        let is_token = !category.is_empty()
            && category
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
            && number.parse::<u64>().is_ok();
        is_token.then_some(token)
    })
}

/// What a model might answer to the ticket.
fn reply_to(ticket: &str) -> String {
    let token = |category: &str| {
        tokens(ticket)
            .find(|token| token[1..].starts_with(category))
            .unwrap_or("(not in the ticket)")
    };
    format!(
        "To: {}\nSubject: Your refund\n\nWe refund one payment of order 20418 to {}. Your card {} \
         is not charged again.\nIf anything is unclear we will call you on {}.\n",
        token("EMAIL"),
        token("IBAN"),
        token("CREDIT_CARD"),
        token("PHONE"),
    )
}

/// The client that plays the model.
struct Model {
    client: RunningService<RoleClient, ()>,
    /// All that it was ever told.
    seen: String,
}

impl Model {
    /// Starts the gateway, which starts the server.
    async fn connect(place: &Place, log_level: LogLevel) -> anyhow::Result<Self> {
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command
            .arg("--config")
            .arg(&place.config)
            .arg("--log-level")
            .arg(log_level.to_string());
        let gateway = TokioChildProcess::new(command).context("the gateway does not start")?;
        let client = ().serve(gateway).await.context("the gateway does not answer")?;
        Ok(Self {
            client,
            seen: String::new(),
        })
    }

    async fn read(&mut self, path: &str) -> anyhow::Result<String> {
        self.call("files__read_text_file", object!({ "path": path }))
            .await
    }

    async fn write(&mut self, path: &str, content: &str) -> anyhow::Result<String> {
        self.call(
            "files__write_file",
            object!({ "path": path, "content": content }),
        )
        .await
    }

    async fn call(&mut self, tool: &'static str, arguments: JsonObject) -> anyhow::Result<String> {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self
            .client
            .call_tool(request)
            .await
            .with_context(|| tool.to_owned())?;
        self.seen.push_str(&serde_json::to_string(&result)?);
        let text = text_of(&result);
        ensure!(result.is_error != Some(true), "{tool}: {text}");
        Ok(text)
    }
}

fn text_of(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.map(|text| &*text.text).collect()
}

/// The folder of the demo.
struct Place {
    /// The sample folder.
    files: PathBuf,
    /// The configuration of the gateway.
    config: PathBuf,
    /// What the server saw.
    record: PathBuf,
}

impl Place {
    fn new(dir: Option<&Path>) -> anyhow::Result<Self> {
        let dir = match dir {
            Some(dir) => {
                let told = || format!("cannot make the folder {}", dir.display());
                fs::create_dir(dir).with_context(told)?;
                dir.canonicalize().with_context(told)?
            }
            None => tempfile::Builder::new()
                .prefix("cloakllm-demo-")
                .tempdir()
                .context("cannot make a temporary folder")?
                .keep(),
        };
        let place = Self {
            files: dir.join("files"),
            config: dir.join("gateway.json"),
            record: dir.join("server-saw.jsonl"),
        };
        fs::create_dir(&place.files)?;
        for (name, text) in sample::FILES {
            fs::write(place.files.join(name), text)?;
        }
        let config = json!({
            "upstreams": {
                "files": {
                    "command": std::env::current_exe()?,
                    "args": ["serve-files", place.files, "--record", place.record],
                },
            },
            // The demo takes no numbers from the user's own sessions.
            "state_dir": dir.join("state"),
        });
        fs::write(&place.config, format!("{config:#}\n"))?;
        Ok(place)
    }

    /// What the server saw last.
    fn last_call(&self) -> anyhow::Result<files::Call> {
        let record = fs::read_to_string(&self.record).context("the server saw nothing")?;
        let line = record.lines().last().context("the server saw nothing")?;
        Ok(serde_json::from_str(line)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_uses_the_tokens_of_the_ticket() {
        let reply = reply_to("x [EMAIL_0] [a_1] [IBAN_12] ［PHONE_0］ [CREDIT_CARD_3] [[PHONE_7]");
        assert_eq!(
            tokens(&reply).collect::<Vec<_>>(),
            ["[EMAIL_0]", "[IBAN_12]", "[CREDIT_CARD_3]", "[PHONE_7]"]
        );
    }
}
