//! The gateway between clients and servers of others: the official SDKs and the reference servers.
//!
//! What they need is installed below this folder, in `.deps`, by the first test. Without Node.js or
//! Python the tests that need them are skipped and say so; with `CI=true` they fail.

#[allow(dead_code, reason = "the tests of the gateway need more of it")]
#[path = "../gateway/support/client.rs"]
mod client;
mod files;
mod install;
mod rust_sdk;
mod sdks;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

/// How long anything may take before a test fails instead of waiting on. Nothing is measured by it.
const DEADLINE: Duration = Duration::from_secs(120);

const GATEWAY: &str = env!("CARGO_BIN_EXE_cloakllm-gateway");

/// The line as JSON.
fn json(line: &[u8]) -> Value {
    serde_json::from_slice(line)
        .unwrap_or_else(|why| panic!("{why}: {:?}", String::from_utf8_lossy(line)))
}

/// Writes a configuration with these servers, each a command and its arguments, into `dir`. Returns
/// the arguments for the gateway.
fn configure(dir: &Path, sanitize: bool, servers: &[(&str, Vec<String>)]) -> [String; 2] {
    let upstreams: serde_json::Map<String, Value> = servers
        .iter()
        .map(|(name, words)| {
            let server = serde_json::json!({"command": words[0], "args": words[1..]});
            ((*name).to_owned(), server)
        })
        .collect();
    // What the model takes for a name is another test's business: here it would make of «café» one.
    let config = serde_json::json!({
        "sanitize": sanitize,
        "detection": {"ner_model": "none"},
        "state_dir": dir.join("state"),
        "upstreams": upstreams,
    });
    let file = dir.join(format!("gateway-{sanitize}.json"));
    std::fs::write(&file, config.to_string()).unwrap();
    ["--config".to_owned(), file.to_str().unwrap().to_owned()]
}
