//! The leak probe: personal values on every surface that leads to the model, in every spelling, looked
//! for in the raw bytes that left the process. Its companion does the same with protection off, and
//! must find them all: a probe that cannot find is no proof.

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::support::{Client, Server, Setup, id, json};

/// One of each kind, besides the address that is different on each surface.
const VALUES: [&str; 8] = [
    "4111 1111 1111 1111",
    "5500-0000-0000-0004",
    "DE89 3704 0044 0532 0130 00",
    "078-05-1120",
    "+1 202-555-0143",
    "203.0.113.77",
    "2001:db8:85a3::8a2e:370:7334",
    "AKIAQ3EGRZ5VJ7LMN2PX",
];

/// What was planted, and where.
#[derive(Default)]
struct Planted(Vec<(String, String)>);

impl Planted {
    /// An address of its own for this surface.
    fn mail(&mut self, surface: &str) -> String {
        let mail = format!("{surface}@example.eu");
        self.0.push((mail.clone(), mail.clone()));
        mail
    }

    /// A text with values of every kind.
    fn text(&mut self, surface: &str) -> String {
        let mail = self.mail(surface);
        for value in VALUES {
            self.0.push((mail.clone(), value.to_owned()));
        }
        format!("Values: {mail}; {}.", VALUES.join("; "))
    }
}

/// JSON in which every character that could betray a value is escaped.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|one| match one {
            '0'..='9' | '@' | ':' | '.' | 'A' => format!("\\u{:04x}", u32::from(one)),
            other => other.to_string(),
        })
        .collect()
}

/// Everything that can be read in `value`: keys, strings, numbers, JSON and base64 inside of them.
fn read(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                read(&inner, into);
            }
            let base64 = text.rsplit("base64,").next().unwrap_or_default();
            if let Ok(bytes) = BASE64.decode(base64.as_bytes()) {
                into.push_str(&String::from_utf8_lossy(&bytes));
                into.push('\n');
            }
        }
        Value::Array(items) => items.iter().for_each(|item| read(item, into)),
        Value::Object(members) => {
            for (key, value) in members {
                into.push_str(key);
                into.push('\n');
                read(value, into);
            }
        }
        other => {
            into.push_str(&other.to_string());
            into.push('\n');
        }
    }
}

/// Without what values are written with besides their letters and digits.
fn bare(text: &str) -> String {
    text.to_lowercase()
        .chars()
        .filter(|one| !" -+".contains(*one))
        .collect()
}

/// What a reader of each line could know: the raw text, and everything in it, as written and bare.
fn views(seen: &[u8]) -> Vec<String> {
    seen.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let mut text = String::from_utf8_lossy(line).into_owned();
            text.push('\n');
            read(&json(line), &mut text);
            let bare = bare(&text);
            text + &bare
        })
        .collect()
}

/// The client and its two servers, and what the servers have planted.
struct Probe {
    client: Client,
    a: Server,
    planted: Planted,
}

impl Probe {
    /// Asks `method` and has the server answer with `body`, the member of an answer behind its id.
    fn answer(&mut self, method: &str, params: &str, body: &str) {
        self.client.ask("7", method, params);
        let request = self.a.expect(method);
        self.a.say(format!(
            r#"{{"jsonrpc":"2.0","id":{},{body}}}"#,
            id(&request)
        ));
        assert_eq!(json(&self.client.line())["id"], 7);
    }

    fn result(&mut self, method: &str, params: &str, result: &Value) {
        self.answer(method, params, &format!(r#""result":{result}"#));
    }

    fn call(&mut self, result: &Value) {
        self.result("tools/call", r#"{"name":"a__t"}"#, result);
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.a
            .say(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
        self.client.expect(method);
    }

    /// Has the server ask the client, who says nothing.
    fn ask(&mut self, method: &str, params: &Value) {
        self.a.say(
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string(),
        );
        self.client.expect(method);
    }
}

/// Definitions: what there is, and what it is said to be.
fn definitions(probe: &mut Probe) {
    let text = probe.planted.text("tool");
    let title = probe.planted.mail("tool.title");
    let annotation = probe.planted.mail("annotation");
    let unknown = probe.planted.text("tool.unknown");
    let meta = probe.planted.mail("tool.meta");
    probe.result(
        "tools/list",
        "{}",
        &json!({"tools": [{
            "name": "t", "title": title, "description": text, "inputSchema": {"type": "object"},
            "annotations": {"title": annotation}, "unheard": [unknown], "_meta": {"x": meta},
        }]}),
    );
    let (text, argument) = (
        probe.planted.text("prompt"),
        probe.planted.text("prompt.argument"),
    );
    probe.result(
        "prompts/list",
        "{}",
        &json!({"prompts": [{
            "name": "p", "description": text,
            "arguments": [{"name": "x", "description": argument}],
        }]}),
    );
    let (name, text) = (
        probe.planted.mail("resource.name"),
        probe.planted.text("resource"),
    );
    let uri = format!("note://notes/{}", probe.planted.mail("resource.uri"));
    probe.result(
        "resources/list",
        "{}",
        &json!({"resources": [{"uri": uri, "name": name, "description": text}]}),
    );
    let (name, text) = (
        probe.planted.mail("template.name"),
        probe.planted.text("template"),
    );
    probe.result(
        "resources/templates/list",
        "{}",
        &json!({"resourceTemplates": [
            {"uriTemplate": "row://{id}", "name": name, "description": text},
        ]}),
    );
}

/// Results of tools, in every shape and spelling.
fn results(probe: &mut Probe) {
    let text = probe.planted.text("text");
    probe.call(&json!({"content": [{"type": "text", "text": text}]}));
    let text = probe.planted.text("is-error");
    probe.call(&json!({"isError": true, "content": [{"type": "text", "text": text}]}));
    let inner = json!({"deep": [{"mail": probe.planted.text("json-in-text")}]}).to_string();
    probe.call(&json!({"content": [{"type": "text", "text": inner}]}));
    let (mail, rows) = (probe.planted.text("structured"), probe.planted.text("rows"));
    probe.call(&json!({"content": [], "structuredContent": {"a": {"b": [mail, [rows]]}}}));
    // Names that mean something elsewhere mean nothing in data.
    for name in [
        "data",
        "blob",
        "type",
        "mimeType",
        "uri",
        "progressToken",
        "_meta",
        "name",
        "id",
        "method",
        "cursor",
        "jsonrpc",
        "icons",
    ] {
        let text = probe
            .planted
            .text(&format!("named-{}", name.trim_matches('_')));
        probe.call(&json!({"content": [], "structuredContent": {name: text, "x": {name: [text]}}}));
    }
    let key = probe.planted.text("key");
    probe.call(&json!({"content": [], "structuredContent": {"x": {key: 1}}}));
    let mail = probe.planted.mail("number");
    probe
        .planted
        .0
        .push((mail.clone(), "4111111111111111".to_owned()));
    probe.call(
        &json!({"content": [], "structuredContent": {"of": mail, "card": 4111111111111111_u64}}),
    );
    let mail = probe.planted.mail("digits");
    let digits = "4111111111111111 5500000000000004 DE89370400440532013000";
    for value in digits.split(' ') {
        probe.planted.0.push((mail.clone(), value.to_owned()));
    }
    probe.call(&json!({"content": [{"type": "text", "text": format!("{mail} {digits}")}]}));
    for surface in ["escaped", "escaped-structured"] {
        let text = escaped(&probe.planted.text(surface));
        let body = if surface == "escaped" {
            format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
        } else {
            format!(r#"{{"content":[],"structuredContent":{{"x":"{text}","{text}":0}}}}"#)
        };
        probe.answer(
            "tools/call",
            r#"{"name":"a__t"}"#,
            &format!(r#""result":{body}"#),
        );
    }
    let text = probe.planted.text("embedded");
    probe.call(
        &json!({"content": [{"type": "resource", "resource": {"uri": "x:1", "text": text}}]}),
    );
    let blob = BASE64.encode(probe.planted.text("blob").as_bytes());
    probe.call(&json!({"content": [{"type": "resource", "resource": {
        "uri": "x:1", "mimeType": "text/csv", "blob": blob,
    }}]}));
    let (name, text) = (probe.planted.mail("link.name"), probe.planted.text("link"));
    let uri = format!("note://notes/{}", probe.planted.mail("link.uri"));
    probe.call(&json!({"content": [
        {"type": "resource_link", "uri": uri, "name": name, "description": text},
    ]}));
    let data = BASE64.encode(probe.planted.text("data-uri").as_bytes());
    probe.call(&json!({"content": [
        {"type": "text", "text": format!("data:text/plain;base64,{data}")},
    ]}));
    let (text, meta) = (
        probe.planted.text("unknown-block"),
        probe.planted.mail("result.meta"),
    );
    probe.call(&json!({"content": [{"type": "unheard", "x": text}], "_meta": {"note": meta}}));
    let text = probe.planted.text("unknown-member");
    probe.call(&json!({"content": [], "unheard": {"x": text}}));
    let text = probe.planted.text("not-an-object");
    probe.call(&json!([text]));
    for code in [-32000, -32002, -32602, -32042, -32022] {
        let (text, data) = (
            probe.planted.text(&format!("error{code}")),
            probe.planted.text(&format!("error-data{code}")),
        );
        let error = json!({"code": code, "message": text, "data": {"x": [data]}});
        probe.answer(
            "tools/call",
            r#"{"name":"a__t"}"#,
            &format!(r#""error":{error}"#),
        );
    }
}

/// Prompts, resources and completions.
fn readings(probe: &mut Probe) {
    let (text, message) = (
        probe.planted.text("got-prompt"),
        probe.planted.text("message"),
    );
    probe.result(
        "prompts/get",
        r#"{"name":"a__p"}"#,
        &json!({"description": text, "messages": [
            {"role": "user", "content": {"type": "text", "text": message}},
        ]}),
    );
    let text = probe.planted.text("contents");
    let blob = BASE64.encode(probe.planted.text("contents-blob").as_bytes());
    probe.result(
        "resources/read",
        r#"{"uri":"row://1"}"#,
        &json!({"contents": [
            {"uri": "row://1", "text": text},
            {"uri": "row://1", "mimeType": "application/json; charset=utf-8", "blob": blob},
        ]}),
    );
    let value = probe.planted.mail("completion");
    probe.result(
        "completion/complete",
        r#"{"ref":{"type":"ref/prompt","name":"a__p"},"argument":{"name":"x","value":""}}"#,
        &json!({"completion": {"values": [value], "total": 1}}),
    );
}

/// What servers say unasked, and what they ask.
fn unasked(probe: &mut Probe) {
    let (data, logger) = (probe.planted.text("log"), probe.planted.mail("logger"));
    probe.notify(
        "notifications/message",
        &json!({"level": "info", "logger": logger, "data": {"data": [data]}}),
    );
    let text = probe.planted.text("log-text");
    probe.notify(
        "notifications/message",
        &json!({"level": "info", "data": text}),
    );
    let params = r#"{"name":"a__t","_meta":{"progressToken":"p"}}"#;
    probe.client.ask("8", "tools/call", params);
    let request = json(&probe.a.expect("tools/call"));
    let token = &request["params"]["_meta"]["progressToken"];
    let text = probe.planted.text("progress");
    probe.notify(
        "notifications/progress",
        &json!({"progressToken": token, "progress": 1, "message": text}),
    );
    let uri = format!("note://notes/{}", probe.planted.mail("updated"));
    probe.notify("notifications/resources/updated", &json!({"uri": uri}));
    let (system, text) = (probe.planted.text("system"), probe.planted.text("sampling"));
    let metadata = probe.planted.text("metadata");
    probe.ask(
        "sampling/createMessage",
        &json!({
            "systemPrompt": system, "metadata": {"x": metadata}, "maxTokens": 9,
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        }),
    );
    let (text, field) = (
        probe.planted.text("elicitation"),
        probe.planted.text("field"),
    );
    probe.ask(
        "elicitation/create",
        &json!({"message": text, "requestedSchema": {
            "type": "object", "properties": {"x": {"type": "string", "description": field}},
        }}),
    );
    let text = probe.planted.text("reason");
    probe.notify(
        "notifications/cancelled",
        &json!({"requestId": 1, "reason": text}),
    );
}

/// Plants on every surface. Returns what was planted, what left on standard output, and the log.
fn run(sanitize: bool) -> (Planted, Vec<u8>, String) {
    let setup = Setup::new(&["a"]).set("/sanitize", json!(sanitize));
    let mut planted = Planted::default();
    let mut client = setup.start();
    client.greet("2025-11-25", r#"{"sampling":{},"elicitation":{}}"#);
    let a = setup.server("a");
    let instructions = planted.text("instructions");
    // What is no message, and standard error, must not get anywhere either.
    a.say(planted.0[0].0.clone() + " is no message");
    a.complain(format!(
        "{}\n{{\"{}\"}}\n",
        VALUES.join(" "),
        "stderr@example.eu"
    ));
    let request = a.expect("initialize");
    a.answer(
        &request,
        &json!({
            "protocolVersion": "2025-11-25", "instructions": instructions,
            "serverInfo": {"name": "a", "version": "1"},
            "capabilities": {
                "tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {},
            },
        })
        .to_string(),
    );
    client.greeted();
    a.expect("notifications/initialized");
    let mut probe = Probe { client, a, planted };
    definitions(&mut probe);
    results(&mut probe);
    readings(&mut probe);
    unasked(&mut probe);
    probe.a.exit(1);
    let error = probe.client.json();
    assert_eq!(error["id"], 8);
    let seen = probe.client.seen.clone();
    (probe.planted, seen, probe.client.end())
}

#[test]
fn no_value_leaves() {
    let (planted, seen, log) = run(true);
    let views = views(&seen);
    let mut leaks = Vec::new();
    for (surface, value) in &planted.0 {
        let lines = views
            .iter()
            .filter(|view| view.contains(value) || view.contains(&bare(value)));
        leaks.extend(
            lines.map(|line| format!("{surface}: {value}: {}", line.lines().next().unwrap())),
        );
    }
    leaks.sort();
    leaks.dedup();
    assert!(
        leaks.is_empty(),
        "{} leaks:\n{}",
        leaks.len(),
        leaks.join("\n")
    );
    for kind in [
        "EMAIL",
        "CREDIT_CARD",
        "IBAN",
        "SSN",
        "PHONE",
        "IP_ADDRESS",
        "AWS_KEY",
    ] {
        let token = format!("[{kind}_");
        assert!(views.iter().any(|view| view.contains(&token)), "{kind}");
    }
    for value in planted
        .0
        .iter()
        .map(|(_, value)| value.as_str())
        .chain(["stderr@example.eu"])
    {
        assert!(!log.contains(value), "{value} in the log: {log}");
    }
}

#[test]
fn the_probe_finds_every_value_that_does_leave() {
    let (planted, seen, log) = run(false);
    let views = views(&seen);
    for (surface, value) in &planted.0 {
        let found = views
            .iter()
            .filter(|view| view.contains(surface))
            .any(|view| view.contains(value) || view.contains(&bare(value)));
        assert!(found, "{value} was not found on {surface}");
    }
    assert!(log.contains("stderr@example.eu"), "{log}");
}
