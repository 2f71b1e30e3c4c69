//! A client's side of a session with a process: requests out, answers in, and the time between.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use cloak_stages::remap::salvage_id;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::Meter;
use crate::os;

/// Bytes read or relayed at a time.
pub(super) const BUFFER: usize = 256 << 10;

/// Up to this size an answer is read as JSON; of a longer one only the ends are looked at.
const READ_WHOLE: usize = 64 << 10;

/// How long a process may take to end once its input is closed.
const GRACE: Duration = Duration::from_secs(10);

/// A process and the pipes to it. Dropping it ends the process.
pub(super) struct Session {
    name: String,
    child: Child,
    pub(super) meter: Meter,
    /// `None` once it is closed.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    request: Vec<u8>,
    answer: Vec<u8>,
    /// From the start of the process until `initialize` was answered.
    pub(super) started_in: Duration,
}

/// An answer as it arrived.
#[derive(Deserialize)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A request was answered with an error.
#[derive(Debug, thiserror::Error)]
#[error("a request was answered with the error {0}")]
pub(super) struct Refused(String);

/// One call: how long it took and how many bytes the answer had.
pub(super) struct Trip {
    pub(super) took: Duration,
    pub(super) bytes: usize,
}

impl Session {
    /// Starts `words`, called `name` in what is shown, and greets it.
    pub(super) fn start(name: &str, words: &[String], verbose: bool) -> anyhow::Result<Self> {
        let [command, words @ ..] = words else {
            bail!("no command is given for {name}");
        };
        let begun = Instant::now();
        let mut child = Command::new(command)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if verbose {
                Stdio::inherit()
            } else {
                Stdio::null()
            })
            .spawn()
            .with_context(|| format!("cannot start {command:?} ({name})"))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("{command:?} has no pipes");
        };
        os::widen(&to);
        os::widen(&from);
        let mut session = Self {
            name: name.to_owned(),
            meter: Meter::new(child.id()),
            child,
            to: Some(to),
            from: BufReader::with_capacity(BUFFER, from),
            next: 0,
            request: Vec::new(),
            answer: Vec::new(),
            started_in: Duration::ZERO,
        };
        session.greet().with_context(|| {
            format!("{name} does not greet as an MCP server does (--verbose shows what it says)")
        })?;
        session.started_in = begun.elapsed();
        session.notify("notifications/initialized")?;
        Ok(session)
    }

    fn greet(&mut self) -> anyhow::Result<()> {
        let hello = format!(
            r#"{{"protocolVersion":"2025-06-18","capabilities":{{}},"clientInfo":{{"name":"cloak-bench","version":"{}"}}}}"#,
            env!("CARGO_PKG_VERSION")
        );
        self.ask("initialize", &hello)?;
        Ok(())
    }

    /// The names under which the tool `name` is offered, at least one: gateways put prefixes before
    /// names, a different one for each server.
    pub(super) fn tools(&mut self, name: &str) -> anyhow::Result<Vec<String>> {
        #[derive(Deserialize)]
        struct Tools {
            tools: Vec<Tool>,
        }
        #[derive(Deserialize)]
        struct Tool {
            name: String,
        }
        let answer = self.ask("tools/list", "{}")?;
        let list: Tools = serde_json::from_str(answer.get())?;
        let names = || list.tools.iter().map(|tool| &*tool.name);
        if names().any(|offered| offered == name) {
            return Ok(vec![name.to_owned()]);
        }
        let offered = names().filter(|offered| offered.ends_with(name));
        let offered: Vec<_> = offered.map(str::to_owned).collect();
        ensure!(
            !offered.is_empty(),
            "{} has no tool {name:?}, only {}",
            self.name,
            names().collect::<Vec<_>>().join(", ")
        );
        Ok(offered)
    }

    /// Asks, and returns the result.
    pub(super) fn ask(&mut self, method: &str, params: &str) -> anyhow::Result<Box<RawValue>> {
        self.trip(method, params)?;
        let answer: Answer<'_> = serde_json::from_slice(&self.answer)?;
        match answer.result {
            Some(result) => Ok(result.to_owned()),
            None => bail!("{} answered {method} with no result", self.name),
        }
    }

    /// One round trip, timed from the first byte written to the last byte read, and checked
    /// afterwards.
    pub(super) fn trip(&mut self, method: &str, params: &str) -> anyhow::Result<Trip> {
        self.next += 1;
        let id = self.next;
        request(&mut self.request, id, method, params);
        self.answer.clear();
        let begun = Instant::now();
        let to = self.to.as_mut().context("the session is closed")?;
        let sent = to.write_all(&self.request);
        let read = sent.and_then(|()| self.from.read_until(b'\n', &mut self.answer));
        let took = begun.elapsed();
        let bytes = read.with_context(|| format!("{} broke its pipe", self.name))?;
        ensure!(bytes > 0, "{} ended in the middle of the work", self.name);
        let answered = id_of(&self.answer).with_context(|| format!("from {}", self.name))?;
        ensure!(
            answered == id,
            "{} answered {answered} where {id} was asked",
            self.name
        );
        Ok(Trip { took, bytes })
    }

    fn notify(&mut self, method: &str) -> io::Result<()> {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}\n");
        match &mut self.to {
            Some(to) => to.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }

    /// Both ends at once, for those who ask before they have the answer.
    pub(super) fn split(&mut self) -> (Asker<'_>, Reader<'_>) {
        let Self {
            to,
            from,
            next,
            request,
            answer,
            name,
            ..
        } = self;
        (Asker { to, next, request }, Reader { from, answer, name })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.to = None;
        let begun = Instant::now();
        while begun.elapsed() < GRACE {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        // The only failure is that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends requests.
pub(super) struct Asker<'a> {
    to: &'a mut Option<ChildStdin>,
    next: &'a mut u64,
    request: &'a mut Vec<u8>,
}

impl Asker<'_> {
    /// The id of the request that is sent next.
    pub(super) fn next_id(&self) -> u64 {
        *self.next + 1
    }

    pub(super) fn ask(&mut self, method: &str, params: &str) -> anyhow::Result<()> {
        *self.next += 1;
        request(self.request, *self.next, method, params);
        let to = self.to.as_mut().context("the session is closed")?;
        to.write_all(self.request).context("the pipe broke")
    }
}

/// Reads answers.
pub(super) struct Reader<'a> {
    from: &'a mut BufReader<ChildStdout>,
    answer: &'a mut Vec<u8>,
    name: &'a str,
}

impl Reader<'_> {
    /// The next answer: its id, its length and when its last byte was there.
    pub(super) fn answer(&mut self) -> anyhow::Result<(u64, usize, Instant)> {
        self.answer.clear();
        let read = self.from.read_until(b'\n', self.answer);
        let at = Instant::now();
        let bytes = read.with_context(|| format!("{} broke its pipe", self.name))?;
        ensure!(bytes > 0, "{} ended in the middle of the work", self.name);
        Ok((id_of(self.answer)?, bytes, at))
    }
}

fn request(out: &mut Vec<u8>, id: u64, method: &str, params: &str) {
    out.clear();
    let written = writeln!(
        out,
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}"
    );
    written.expect("memory takes whatever is written");
}

/// The id that a successful answer is for.
fn id_of(answer: &[u8]) -> anyhow::Result<u64> {
    let id = if answer.len() <= READ_WHOLE {
        let parsed: Answer<'_> = serde_json::from_slice(answer).context("an answer is no JSON")?;
        if let Some(error) = parsed.error {
            return Err(Refused(error.get().to_owned()).into());
        }
        parsed.id.get().to_owned()
    } else {
        let (head, tail) = (&answer[..1024], &answer[answer.len() - 1024..]);
        let id = salvage_id(head, tail).context("a long answer has no id")?;
        String::from_utf8_lossy(&id).into_owned()
    };
    id.parse()
        .with_context(|| format!("an answer has the foreign id {id}"))
}

/// Our own standard input and output, unbuffered and with wide pipes.
pub(super) fn stdio() -> io::Result<(File, File)> {
    let (input, output) = (io::stdin(), io::stdout());
    os::widen(&input);
    os::widen(&output);
    Ok((
        input.as_fd().try_clone_to_owned()?.into(),
        output.as_fd().try_clone_to_owned()?.into(),
    ))
}
