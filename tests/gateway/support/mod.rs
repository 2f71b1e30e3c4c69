//! Drives the real program from both ends: the test is its client, and the puppeteer of its
//! servers. So the test says in which order things happen, and no clock decides.

mod client;
mod server;
mod setup;
mod strings;

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use client::Client;
pub(crate) use server::Server;
pub(crate) use setup::Setup;
pub(crate) use strings::Tag;

/// How long anything may take before a test fails instead of waiting on. Nothing is measured by it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// The line as JSON.
pub(crate) fn json(line: &[u8]) -> Value {
    serde_json::from_slice(line)
        .unwrap_or_else(|why| panic!("{why}: {:?}", String::from_utf8_lossy(line)))
}

/// What of a message can be read whatever else is in it.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<Cow<'a, str>>,
}

fn head(line: &[u8]) -> Head<'_> {
    serde_json::from_slice(line)
        .unwrap_or_else(|why| panic!("{why}: {:?}", String::from_utf8_lossy(line)))
}

/// The id of a message, as it is spelt.
pub(crate) fn id(line: &[u8]) -> String {
    let id = head(line).id;
    id.expect("a message with an id").get().to_owned()
}

/// The line that answers the request of this id.
pub(crate) fn result(id: &str, body: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{body}}}"#)
}

/// The line that refuses the request of this id.
pub(crate) fn error(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}
