//! The built-in MCP server: it answers at once, so that what is measured is what stands before it.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, IoSlice, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::session::{BUFFER, stdio};
use super::size::Size;
use super::workload::Kind;

/// The tool that returns a text of the kind and size asked for.
pub(super) const GIVE: &str = "give";

const TOOLS: &str = r#"{"tools":[{"name":"give","description":"A text of some kind and size","inputSchema":{"type":"object","properties":{"kind":{"type":"string"},"size":{"type":"integer"}}}},{"name":"take","description":"The length of a text","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}"#;

/// Serves on standard input and output until the client goes.
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// What texts are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
struct Wanted {
    kind: Kind,
    size: usize,
}

#[derive(Deserialize)]
struct Given<'a> {
    #[serde(borrow)]
    text: &'a RawValue,
}

impl Serve {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let (input, mut output) = stdio()?;
        let mut input = BufReader::with_capacity(BUFFER, input);
        let mut texts = HashMap::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            let request: Request<'_> = serde_json::from_slice(&line)?;
            let Some(id) = request.id else { continue };
            let made;
            let result: &str = match (request.method, request.params) {
                ("initialize", Some(params)) => {
                    made = initialized(params)?;
                    &made
                }
                ("ping", _) => "{}",
                ("tools/list", _) => TOOLS,
                ("tools/call", Some(params)) => {
                    let call: Call<'_> = serde_json::from_str(params.get())?;
                    // The other tool takes a text and returns its length.
                    if call.name == GIVE {
                        let Wanted { kind, size } = serde_json::from_str(call.arguments.get())?;
                        texts
                            .entry((kind, size))
                            .or_insert_with(|| content(&kind.text(size, self.seed)))
                    } else {
                        let given: Given<'_> = serde_json::from_str(call.arguments.get())?;
                        made = content(&Size(given.text.get().len()).to_string());
                        &made
                    }
                }
                _ => "{\"resources\":[],\"prompts\":[],\"resourceTemplates\":[]}",
            };
            write_all(
                &mut output,
                &[
                    b"{\"jsonrpc\":\"2.0\",\"id\":",
                    id.get().as_bytes(),
                    b",\"result\":",
                    result.as_bytes(),
                    b"}\n",
                ],
            )?;
        }
    }
}

/// The result of `initialize`, in the revision that was asked for.
fn initialized(params: &RawValue) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct Hello {
        #[serde(rename = "protocolVersion")]
        revision: String,
    }
    let Hello { revision } = serde_json::from_str(params.get())?;
    Ok(format!(
        r#"{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"cloak-bench","version":"{}"}}}}"#,
        env!("CARGO_PKG_VERSION")
    ))
}

fn content(text: &str) -> String {
    let text = cloak_stages::json::quote(text);
    format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)
}

fn write_all(to: &mut impl Write, parts: &[&[u8]]) -> io::Result<()> {
    let mut slices: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut left = &mut slices[..];
    while !left.is_empty() {
        match to.write_vectored(left)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => IoSlice::advance_slices(&mut left, written),
        }
    }
    Ok(())
}
