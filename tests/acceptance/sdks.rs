//! Clients made with the official SDKs drive the gateway.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{GATEWAY, configure, install};

/// A program that performs steps through an SDK.
struct Sdk {
    name: &'static str,
    words: Vec<String>,
    packages: Option<String>,
}

/// The clients that there are programs for.
fn sdks(test: &str) -> Vec<Sdk> {
    let mut all = Vec::new();
    if let Some(node) = install::node(test) {
        for version in ["v1", "v2"] {
            let script = node.join("client.mjs").to_str().unwrap().to_owned();
            all.push(Sdk {
                name: version,
                words: vec!["node".to_owned(), script, version.to_owned()],
                packages: None,
            });
        }
    }
    if let Some(python) = install::python(test) {
        let script = python.join("client.py").to_str().unwrap().to_owned();
        all.push(Sdk {
            name: "python",
            words: vec!["python3".to_owned(), script],
            packages: Some(python.join("packages").to_str().unwrap().to_owned()),
        });
    }
    all
}

impl Sdk {
    /// What came of each of `steps` at the gateway with these arguments.
    fn perform(&self, gateway: &[String], steps: &Value) -> Vec<Value> {
        let mut child = Command::new(&self.words[0]);
        child.args(&self.words[1..]);
        if let Some(packages) = &self.packages {
            child.env("PYTHONPATH", packages);
        }
        let mut child = child
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let task = json!({"command": GATEWAY, "args": gateway, "steps": steps});
        serde_json::to_writer(child.stdin.take().unwrap(), &task).unwrap();
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success(), "{}: {}", self.name, out.status);
        serde_json::from_slice(&out.stdout).unwrap()
    }
}

fn script(node: &Path, script: &str) -> Vec<String> {
    vec![
        "node".to_owned(),
        node.join(script).to_str().unwrap().to_owned(),
    ]
}

#[track_caller]
fn text<'a>(outcome: &'a Value, sdk: &Sdk) -> &'a str {
    outcome["ok"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{}: {outcome}", sdk.name))
}

#[test]
fn two_reference_servers_are_one() {
    let test = "sdks::two_reference_servers_are_one";
    let Some(node) = install::node(test) else {
        return;
    };
    for sanitize in [false, true] {
        for sdk in sdks(test) {
            let dir = tempfile::tempdir().unwrap();
            let package = "node_modules/@modelcontextprotocol/server-";
            let mut memory = script(node, &format!("{package}memory/dist/index.js"));
            // The graph is kept in a file that a variable names.
            let graph = dir.path().join("graph.jsonl");
            memory.splice(
                0..0,
                [
                    "env".to_owned(),
                    format!("MEMORY_FILE_PATH={}", graph.display()),
                ],
            );
            let servers = [
                (
                    "every",
                    script(node, &format!("{package}everything/dist/index.js")),
                ),
                ("memory", memory),
            ];
            let gateway = configure(dir.path(), sanitize, &servers);
            let steps = json!([
                {"list": true},
                {"call": "every__echo", "arguments": {"message": "caf\u{e9} \u{1f600}"}},
                {"call": "every__get-sum", "arguments": {"a": 2, "b": 40}},
                {"call": "every__get-structured-content", "arguments": {"location": "Chicago"}},
                {"call": "every__trigger-sampling-request", "arguments": {"prompt": "hello"}},
                {"call": "every__trigger-elicitation-request", "arguments": {}},
                {"call": "every__get-roots-list", "arguments": {}},
                {"prompt": "every__args-prompt", "arguments": {"city": "Ghent"}},
                {"read": "demo://resource/dynamic/text/3"},
                {"call": "memory__create_entities", "arguments": {"entities": [
                    {"name": "Ada", "entityType": "person", "observations": ["writes to ada@example.eu"]},
                ]}},
                {"call": "memory__open_nodes", "arguments": {"names": ["Ada"]}},
                {"read": "memory://knowledge-graph"},
            ]);
            let outcomes = sdk.perform(&gateway, &steps);
            for (outcome, step) in outcomes.iter().zip(steps.as_array().unwrap()) {
                assert!(
                    outcome["ok"] != Value::Null,
                    "{} {step}: {outcome}",
                    sdk.name
                );
            }
            let names: Vec<&str> = outcomes[0]["ok"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tool| tool["name"].as_str().unwrap())
                .collect();
            assert!(names.contains(&"every__echo") && names.contains(&"memory__read_graph"));
            assert!(text(&outcomes[1], &sdk).contains("caf\u{e9} \u{1f600}"));
            assert!(text(&outcomes[2], &sdk).contains("42"));
            assert!(outcomes[3]["ok"]["structuredContent"].is_object());
            assert!(
                outcomes[4].to_string().contains("heard: "),
                "{}",
                outcomes[4]
            );
            assert!(
                outcomes[6].to_string().contains("file:///srv/project"),
                "{}",
                outcomes[6]
            );
            assert!(outcomes[7].to_string().contains("Ghent"));
            assert!(outcomes[8]["ok"]["contents"][0]["text"].is_string());
            // The server has the value, the client only where nothing is protected.
            assert!(
                std::fs::read_to_string(&graph)
                    .unwrap()
                    .contains("ada@example.eu")
            );
            for outcome in &outcomes[10..] {
                let seen = outcome.to_string();
                assert_eq!(
                    seen.contains("ada@example.eu"),
                    !sanitize,
                    "{}: {seen}",
                    sdk.name
                );
                assert_eq!(seen.contains("[EMAIL_"), sanitize, "{}: {seen}", sdk.name);
            }
        }
    }
}

#[test]
fn tokens_do_not_break_what_tools_promise() {
    let test = "sdks::tokens_do_not_break_what_tools_promise";
    let Some(node) = install::node(test) else {
        return;
    };
    let cases = [
        "format",
        "pattern",
        "maxlen",
        "enum",
        "integer",
        "propnames",
        "addl",
    ];
    let mut steps = vec![json!({"list": true})];
    steps.extend(cases.map(|case| json!({"call": format!("s__{case}"), "arguments": {}})));
    let steps = Value::from(steps);
    for sdk in sdks(test) {
        for sanitize in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let gateway = configure(dir.path(), sanitize, &[("s", script(node, "schemas.mjs"))]);
            let outcomes = sdk.perform(&gateway, &steps);
            for (case, outcome) in cases.iter().zip(&outcomes[1..]) {
                assert!(outcome["ok"].is_object(), "{} {case}: {outcome}", sdk.name);
                let seen = outcome.to_string();
                let hidden = !seen.contains('@') && !seen.contains("4111");
                assert_eq!(hidden, sanitize, "{} {case}: {seen}", sdk.name);
                assert!(outcome["ok"]["structuredContent"].is_object(), "{seen}");
            }
        }
    }
}
