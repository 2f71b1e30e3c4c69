//! The handshake: one with the client, one with each server, each in its own revision.

use std::fmt::Write as _;

use cloak_stages::{Message, Peer, json};
use serde_json::{Map, Value, json};

/// The revisions spoken with a client, the newest last.
///
/// <https://modelcontextprotocol.io/specification/versioning>
pub(super) const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The capabilities of a server that the gateway can route.
const ROUTED: [&str; 5] = ["completions", "logging", "prompts", "resources", "tools"];

/// The capabilities of a client that the gateway can relay.
const RELAYED: [&str; 3] = ["elicitation", "roots", "sampling"];

/// What the client said of itself in `initialize`.
#[derive(Debug)]
pub(super) struct Hello {
    pub(super) revision: &'static str,
    capabilities: Map<String, Value>,
    /// The `initialize` request that every server gets.
    pub(super) request: Message,
}

impl Hello {
    /// Reads the client's `initialize`. A revision that is not spoken is answered with the newest.
    pub(super) fn read(msg: &Message) -> Self {
        let params = msg.body().map_or(Value::Null, |at| {
            serde_json::from_slice(at.of(msg.raw())).unwrap_or_default()
        });
        let asked = params["protocolVersion"].as_str();
        let newest = REVISIONS[REVISIONS.len() - 1];
        let revision = REVISIONS
            .into_iter()
            .find(|one| Some(*one) == asked)
            .unwrap_or(newest);
        let offered = params["capabilities"].as_object();
        let capabilities: Map<String, Value> = offered
            .into_iter()
            .flatten()
            .filter(|(name, _)| RELAYED.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let client = params
            .get("clientInfo")
            .filter(|info| info.is_object())
            .cloned();
        let request = json!({
            "jsonrpc": "2.0",
            "id": "initialize",
            "method": "initialize",
            "params": {
                "protocolVersion": revision,
                "capabilities": capabilities,
                "clientInfo": client.unwrap_or_else(own_info),
            },
        });
        let request = Message::own(request.to_string(), Peer::Gateway, Peer::Gateway);
        Self {
            revision,
            capabilities,
            request,
        }
    }

    /// Whether the client can be asked such a thing.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.contains_key(capability)
    }
}

fn own_info() -> Value {
    json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")})
}

/// What a server answered to `initialize`.
pub(super) struct Welcome {
    pub(super) capabilities: Value,
    pub(super) instructions: Option<String>,
    pub(super) revision: String,
}

impl Welcome {
    /// Reads the answer; an error or nonsense is told as text.
    pub(super) fn read(msg: &Message) -> Result<Self, String> {
        let body = msg.body().map(|at| at.of(msg.raw())).unwrap_or_default();
        let body: Value = serde_json::from_slice(body).map_err(|_| {
            "answered initialize with numbers or text that cannot be read".to_owned()
        })?;
        if msg.kind() == cloak_stages::Kind::Error {
            let code = body["code"].as_i64().unwrap_or_default();
            return Err(format!("refused initialize with error {code}"));
        }
        let Some(revision) = body["protocolVersion"].as_str() else {
            return Err("answered initialize without a protocolVersion".to_owned());
        };
        Ok(Self {
            capabilities: body["capabilities"].clone(),
            instructions: body["instructions"].as_str().map(str::to_owned),
            revision: revision.to_owned(),
        })
    }
}

/// One server's share in the gateway's own answer to `initialize`.
pub(super) struct Share<'a> {
    pub(super) name: &'a str,
    /// None as long as it has not told.
    pub(super) capabilities: Option<&'a Value>,
    pub(super) instructions: Option<&'a str>,
}

/// The result that answers the client's `initialize`. `notes` are the gateway's own instructions.
pub(super) fn answer(revision: &str, shares: &[Share<'_>], prefix: bool, notes: &str) -> String {
    let mut capabilities = Map::new();
    for name in ROUTED {
        if let Some(value) = union(name, shares) {
            capabilities.insert(name.to_owned(), value);
        }
    }
    let mut result = json!({
        "protocolVersion": revision,
        "capabilities": capabilities,
        "serverInfo": own_info(),
    });
    let instructions = instructions(shares, prefix, notes);
    if !instructions.is_empty() {
        result["instructions"] = instructions.into();
    }
    result.to_string()
}

/// The capability `name` if any server has it, or may turn out to have it.
fn union(name: &str, shares: &[Share<'_>]) -> Option<Value> {
    let unknown = shares.iter().any(|share| share.capabilities.is_none());
    let with: Vec<&Value> = shares
        .iter()
        .filter_map(|share| share.capabilities?.get(name))
        .collect();
    if with.is_empty() && !unknown {
        return None;
    }
    let mut value = Map::new();
    // The lists change when a server comes or goes, whatever the servers themselves promise.
    if matches!(name, "prompts" | "resources" | "tools") {
        value.insert("listChanged".into(), true.into());
    }
    let subscribe = unknown || with.iter().any(|one| one["subscribe"] == true);
    if name == "resources" && subscribe {
        value.insert("subscribe".into(), true.into());
    }
    Some(value.into())
}

fn instructions(shares: &[Share<'_>], prefix: bool, notes: &str) -> String {
    let mut text = String::new();
    if prefix {
        let names: Vec<&str> = shares.iter().map(|share| share.name).collect();
        let _ = write!(
            text,
            "Tools and prompts are named SERVER__NAME. The servers: {}.",
            names.join(", "),
        );
    }
    if !notes.is_empty() {
        let _ = write!(text, "{}{notes}", if text.is_empty() { "" } else { "\n\n" });
    }
    for share in shares {
        if let Some(own) = share.instructions {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            let _ = if prefix {
                write!(text, "{gap}## {}\n\n{own}", share.name)
            } else {
                write!(text, "{gap}{own}")
            };
        }
    }
    text
}

/// A notification without parameters.
pub(super) fn notification(method: &str) -> Message {
    let method = json::quote(method);
    let text = format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#);
    Message::own(text, Peer::Gateway, Peer::Client)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(params: &str) -> Hello {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
        Hello::read(&Message::own(text, Peer::Client, Peer::Gateway))
    }

    #[test]
    fn revisions_are_agreed_on() {
        for revision in REVISIONS {
            assert_eq!(
                hello(&format!(r#"{{"protocolVersion":"{revision}"}}"#)).revision,
                revision
            );
        }
        for odd in [
            r#"{"protocolVersion":"2099-01-01"}"#,
            "{}",
            "[]",
            r#"{"protocolVersion":7}"#,
        ] {
            assert_eq!(hello(odd).revision, "2025-11-25");
        }
    }

    #[test]
    fn only_what_can_be_relayed_is_offered_to_servers() {
        let hello = hello(
            r#"{"protocolVersion":"2025-06-18","clientInfo":{"name":"ide","version":"3"},
                "capabilities":{"roots":{"listChanged":true},"tasks":{},"experimental":{"x":{}}}}"#,
        );
        assert!(hello.can("roots") && !hello.can("sampling"));
        let sent = std::str::from_utf8(hello.request.raw()).unwrap();
        assert!(
            sent.contains(r#""capabilities":{"roots":{"listChanged":true}}"#),
            "{sent}"
        );
        assert!(
            sent.contains(r#""clientInfo":{"name":"ide","version":"3"}"#),
            "{sent}"
        );
    }

    #[test]
    fn the_answer_is_the_union() {
        let (one, two) = (
            json!({"tools": {}}),
            json!({"resources": {"subscribe": true}}),
        );
        let share = |name, capabilities, instructions| Share {
            name,
            capabilities,
            instructions,
        };
        let shares = [
            share("a", Some(&one), None),
            share("b", Some(&two), Some("Be kind.")),
        ];
        let result: Value =
            serde_json::from_str(&answer("2025-06-18", &shares, true, "Note.")).unwrap();
        assert_eq!(
            result["capabilities"],
            json!({
                "resources": {"listChanged": true, "subscribe": true},
                "tools": {"listChanged": true},
            }),
        );
        let text = result["instructions"].as_str().unwrap();
        assert!(
            text.ends_with("a, b.\n\nNote.\n\n## b\n\nBe kind."),
            "{text}"
        );
        let unknown = [share("a", None, None)];
        let result: Value =
            serde_json::from_str(&answer("2025-06-18", &unknown, false, "")).unwrap();
        assert_eq!(result["capabilities"].as_object().unwrap().len(), 5);
        assert_eq!(result.get("instructions"), None);
    }
}
