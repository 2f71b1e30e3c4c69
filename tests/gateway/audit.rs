//! What a session leaves in the audit log: an entry for each event that matters, and no value.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use cloak_stages::audit::Digest;
use serde_json::{Value, json};

use crate::support::{Client, Server, Setup};

const GATEWAY: &str = env!("CARGO_BIN_EXE_cloakllm-gateway");
const ALL: &str = r#"{"tools":{},"prompts":{},"resources":{},"logging":{}}"#;
const ABILITIES: &str = r#"{"sampling":{},"elicitation":{}}"#;
const MAIL: &str = "marie.novak@example.eu";
const IBAN: &str = "DE89370400440532013000";

/// Servers whose session is recorded and signed.
fn recorded(names: &[&str]) -> Setup {
    let setup = Setup::new(names);
    let key = setup.dir().join("key");
    let made = Command::new(GATEWAY)
        .args(["audit", "keygen", key.to_str().unwrap()])
        .output();
    assert!(made.unwrap().status.success());
    let audit = json!({"dir": setup.dir().join("log"), "key": key});
    setup.set("/audit", audit)
}

/// The entries of a log, in order.
fn entries(setup: &Setup) -> Vec<Value> {
    let mut days: Vec<_> = std::fs::read_dir(setup.dir().join("log"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    days.sort();
    let text = days.iter().map(|day| std::fs::read_to_string(day).unwrap());
    let text: String = text.collect();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Those of this event that fit, of which there must be some.
fn of<'e>(entries: &'e [Value], event: &str, fits: impl Fn(&Value) -> bool) -> Vec<&'e Value> {
    let found: Vec<_> = entries
        .iter()
        .filter(|entry| entry["event_type"] == event && fits(entry))
        .collect();
    assert!(!found.is_empty(), "no such {event} in {entries:#?}");
    found
}

fn call(client: &mut Client, server: &Server, arguments: &Value, result: &Value) -> Value {
    let params = json!({"name": format!("{}__send", server.name), "arguments": arguments});
    client.ask("7", "tools/call", &params.to_string());
    let request = server.expect("tools/call");
    server.answer(&request, &result.to_string());
    client.json()
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn list_tools(client: &mut Client, servers: &[&Server]) {
    client.ask("1", "tools/list", "{}");
    for server in servers {
        let request = server.expect("tools/list");
        let tool = json!({"name": "send", "inputSchema": {"type": "object"}});
        server.answer(&request, &json!({"tools": [tool]}).to_string());
    }
    client.json();
}

/// No file below `dir` but those named holds this text.
fn assert_nowhere(dir: &Path, text: &str, but: &[&str]) {
    for file in std::fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            assert_nowhere(&path, text, but);
        } else if !but.iter().any(|name| path.ends_with(name)) {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes());
            assert!(!found, "{text} is in {}", path.display());
        }
    }
}

fn verified(setup: &Setup) -> String {
    let log = setup.dir().join("log");
    let verdict = Command::new(GATEWAY)
        .args(["audit", "verify", log.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8(verdict.stdout).unwrap();
    assert!(verdict.status.success(), "{said}");
    said
}

#[test]
fn every_event_of_a_session_is_told_and_no_value() {
    let setup = recorded(&["a", "b"])
        .set("/sanitize", json!(true))
        .set("/upstreams/b/trust", json!("third-party"))
        .set("/upstreams/b/fresh_values", json!("block"))
        .set("/upstreams/b/token_scope", json!("upstream"));

    // An earlier session, whose token is stale in the next.
    let (mut client, [a, _b]) = setup.session(ABILITIES, [("a", ALL), ("b", ALL)]);
    let seen = call(&mut client, &a, &json!({}), &text(MAIL)).to_string();
    assert!(seen.contains("[EMAIL_0]"), "{seen}");
    client.end();

    let (mut client, [a, b]) = setup.session(ABILITIES, [("a", ALL), ("b", ALL)]);
    list_tools(&mut client, &[&a, &b]);
    let seen = call(
        &mut client,
        &a,
        &json!({}),
        &text(&format!("{MAIL}, {IBAN}")),
    );
    let said = seen["result"]["content"][0]["text"].as_str().unwrap();
    let (mail, iban) = said.split_once(", ").unwrap();
    call(
        &mut client,
        &a,
        &json!({"to": mail, "and": iban}),
        &text("sent"),
    );
    for refused in [
        json!({"to": mail}),
        json!({"to": "[EMAIL_0]"}),
        json!({"to": "paul@example.org"}),
    ] {
        let params = json!({"name": "b__send", "arguments": refused});
        client.ask("8", "tools/call", &params.to_string());
        assert!(client.json().to_string().contains("EMAIL"));
    }
    // A value in a key is left to the tripwire.
    let key = json!({"content": [], "structuredContent": {MAIL: 1}});
    call(&mut client, &a, &json!({}), &key);
    for (method, params, body) in [
        ("resources/read", r#"{"uri":"x:1"}"#, r#"{"contents":[]}"#),
        ("prompts/get", r#"{"name":"a__ask"}"#, r#"{"messages":[]}"#),
    ] {
        client.ask("9", method, params);
        let request = a.expect(method);
        a.answer(&request, body);
        client.json();
    }
    for (method, params) in [
        ("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#),
        (
            "elicitation/create",
            r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        ),
    ] {
        a.say(format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"{method}","params":{params}}}"#
        ));
        let question = client.expect(method);
        client.send(
            json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
                .to_string(),
        );
        a.line();
    }
    // What the router refuses by itself, and what is no message at all.
    client.ask("10", "marie/novak", "{}");
    client.ask("11", "tools/call", r#"{"name":"nobody__marie_novak"}"#);
    client.send("{\"id\": marie}");
    client.ask("12", "tools/call", r#"{"name":"a__marie_novak"}"#);
    let request = a.expect("tools/call");
    a.answer(&request, "{}");
    for _ in 0..4 {
        client.line();
    }
    a.crash(&mut client, 1);
    client.ask("13", "tools/call", r#"{"name":"a__send"}"#);
    let a = setup.greeted("a", ALL);
    let request = a.expect("tools/call");
    a.answer(&request, "{}");
    while client.json()["id"] != 13 {}
    let status = client.end();
    assert!(!status.contains("novak"), "{status}");

    let all = entries(&setup);
    let told: BTreeSet<_> = all
        .iter()
        .filter_map(|entry| entry["event_type"].as_str())
        .collect();
    for event in [
        "session_start",
        "session_end",
        "tools_call",
        "resources_read",
        "prompts_get",
        "sampling",
        "elicitation",
        "list",
        "discover",
        "message",
        "refusal",
        "tripwire_hit",
        "foreign_token",
        "stale_token",
        "fresh_value",
        "restart",
        "error",
        "key_change",
        "log_opened",
        "log_closed",
    ] {
        assert!(told.contains(event), "{event} is not told of: {told:?}");
    }

    let start = of(&all, "session_start", |_| true)[0];
    let facts = &start["metadata"]["facts"];
    let config = std::fs::read(setup.dir().join("gateway.json")).unwrap();
    assert_eq!(facts["config"], Digest::of(&config).to_string());
    assert!(facts["detectors"].to_string().contains("EMAIL"));
    for digest in ["settings", "model.json", "model.safetensors"] {
        assert_eq!(facts[digest].as_str().map(str::len), Some(64), "{facts}");
    }

    let protected = of(&all, "tools_call", |entry| {
        entry["categories"]["IBAN"] == 1 && entry["metadata"]["direction"] == "to_model"
    })[0];
    assert_eq!(protected["tokens_used"], json!([mail, iban]));
    assert_eq!(protected["metadata"]["tool"], "send");
    assert_eq!(protected["metadata"]["upstream"], "a");
    assert_eq!(protected["metadata"]["outcome"], "forwarded");
    assert_eq!(protected["metadata"]["strings_changed"], 1);
    assert!(protected["metadata"]["strings_seen"].as_u64().unwrap() >= 1);
    assert!(protected["metadata"]["bytes_in"].as_u64() > Some(50));
    for stage in ["read", "protect", "tripwire"] {
        assert!(protected["timing"][stage].is_number(), "{stage}");
    }
    assert!(protected["latency_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(protected["prompt_hash"].as_str().map(str::len), Some(64));
    assert_eq!(protected["sanitized_hash"].as_str().map(str::len), Some(64));
    let restored = of(&all, "tools_call", |entry| {
        entry["categories"]["IBAN"] == 1 && entry["metadata"]["direction"] == "to_upstream"
    })[0];
    assert_eq!(restored["metadata"]["strings_changed"], 2);
    assert_eq!(restored["tokens_used"], json!([mail, iban]));

    for (event, token) in [("foreign_token", mail), ("stale_token", "[EMAIL_0]")] {
        let beside = of(&all, event, |_| true)[0];
        assert_eq!(beside["tokens_used"], json!([token]));
        assert_eq!(beside["metadata"]["tool"], "send");
        assert_eq!(beside["metadata"]["outcome"], "refused");
        of(&all, "tools_call", |entry| {
            entry["metadata"]["facts"]["reason"] == event
        });
    }
    assert_eq!(
        of(&all, "fresh_value", |_| true)[0]["categories"]["EMAIL"],
        1
    );
    of(&all, "tripwire_hit", |entry| {
        entry["metadata"]["facts"]["place"] == "key" && entry["categories"]["EMAIL"] == 1
    });
    for reason in ["unknown_method", "invalid_params", "not_json"] {
        of(&all, "refusal", |entry| {
            entry["metadata"]["facts"]["reason"] == reason
        });
    }
    of(&all, "error", |entry| {
        entry["metadata"]["facts"]["reason"] == "server_down"
            && entry["metadata"]["upstream"] == "a"
    });
    assert_eq!(
        of(&all, "restart", |_| true)[0]["metadata"]["facts"]["starts"],
        2
    );

    let last = all
        .iter()
        .rposition(|entry| entry["event_type"] == "log_opened");
    let times: Vec<_> = all[last.unwrap()..]
        .iter()
        .map(|entry| entry["metadata"]["mono_us"].as_u64().unwrap())
        .collect();
    assert!(
        times.is_sorted() && times.last() > times.first(),
        "{times:?}"
    );

    for value in [MAIL, "novak", IBAN, "paul@example.org"] {
        assert_nowhere(setup.dir(), value, &[]);
    }
    assert!(verified(&setup).contains("intact"));
}

#[test]
fn what_is_passed_on_as_it_is_is_recorded_too() {
    let setup = recorded(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", ALL)]);
    let seen = call(&mut client, &a, &json!({"to": MAIL}), &text(MAIL));
    assert_eq!(seen["result"], text(MAIL));
    client.end();
    let all = entries(&setup);
    let start = of(&all, "session_start", |_| true)[0];
    assert_eq!(start["metadata"]["facts"]["mode"], "transparent");
    let calls = of(&all, "tools_call", |entry| {
        entry["metadata"]["outcome"] == "forwarded" && entry["entity_count"] == 0
    });
    assert_eq!(calls.len(), 2);
    assert_nowhere(&setup.dir().join("log"), MAIL, &[]);
    assert!(verified(&setup).contains("intact"));
}
