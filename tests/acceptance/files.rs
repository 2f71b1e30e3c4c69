//! The reference file server three ways: alone, behind a gateway that passes everything on, and
//! behind one that protects.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::client::Client;
use crate::{GATEWAY, configure, install};

const PLANTED: [&str; 6] = [
    "marie.novak@example.eu",
    "4111 1111 1111 1111",
    "4111111111111111",
    "078-05-1120",
    "DE89 3704 0044 0532 0130 00",
    "203.0.113.77",
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let people = format!(
        "name,mail,card,ssn,iban,ip\nMarie Novak,{},{},{},{},{}\n\"half of it \\u00e9 \\\\ \u{2028}\",,{},,,\n",
        PLANTED[0], PLANTED[1], PLANTED[3], PLANTED[4], PLANTED[5], PLANTED[2],
    );
    fs::write(folder.path().join("people.csv"), people).unwrap();
    fs::write(folder.path().join("empty.txt"), "").unwrap();
    // One of the calls writes it again, and what it says is the same each time.
    fs::write(folder.path().join("new.txt"), "").unwrap();
    fs::write(
        folder.path().join("image.png"),
        b"\x89PNG\r\n\x1a\nnot really",
    )
    .unwrap();
    fs::create_dir(folder.path().join("marie.novak@example.eu")).unwrap();
    folder
}

/// What a model might do with the files in `folder`, each call with its expected success.
fn calls(folder: &Path) -> Vec<(&'static str, Value)> {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    vec![
        ("read_text_file", json!({"path": path("people.csv")})),
        (
            "read_text_file",
            json!({"path": path("people.csv"), "head": 1}),
        ),
        ("read_text_file", json!({"path": path("nothing.txt")})),
        ("read_text_file", json!({"path": "/etc/passwd"})),
        ("read_text_file", json!({})),
        ("read_media_file", json!({"path": path("image.png")})),
        (
            "read_multiple_files",
            json!({"paths": [path("people.csv"), path("empty.txt"), path("none")]}),
        ),
        ("list_directory", json!({"path": path("")})),
        ("directory_tree", json!({"path": path("")})),
        (
            "search_files",
            json!({"path": path(""), "pattern": "*.csv"}),
        ),
        ("list_allowed_directories", json!({})),
        (
            "write_file",
            json!({"path": path("new.txt"), "content": "caf\u{e9} \u{1f600}\n"}),
        ),
        ("no_such_tool", json!({})),
    ]
}

/// Greets the server or gateway.
fn greet(client: &mut Client) -> Value {
    client.greet("2025-11-25", "{}");
    client.greeted()
}

/// The line that answers, whatever comes in between.
fn answer(client: &mut Client, id: &str) -> Vec<u8> {
    loop {
        let line = client.line();
        let head: Head<'_> = serde_json::from_slice(&line).unwrap();
        if head.id.is_some_and(|own| own.get() == id) {
            return line;
        }
    }
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// All answers to `calls`, with `prefix` before the names of tools.
fn transcript(client: &mut Client, prefix: &str, calls: &[(&str, Value)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let id = (number + 1).to_string();
        let params = format!(r#"{{"name":"{prefix}{tool}","arguments":{arguments}}}"#);
        client.ask(&id, "tools/call", &params);
        lines.push(String::from_utf8(answer(client, &id)).unwrap());
    }
    lines
}

/// The raw definitions of tools by their fields, and their order.
fn tools(client: &mut Client) -> Vec<BTreeMap<String, Box<RawValue>>> {
    #[derive(Deserialize)]
    struct List {
        tools: Vec<BTreeMap<String, Box<RawValue>>>,
    }
    client.ask("\"list\"", "tools/list", "{}");
    let line = answer(client, "\"list\"");
    let head: Head<'_> = serde_json::from_slice(&line).unwrap();
    let list: List = serde_json::from_str(head.result.unwrap().get()).unwrap();
    list.tools
}

fn server(node: &Path, folder: &Path) -> Vec<String> {
    let script = node.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    ["node", script.to_str().unwrap(), folder.to_str().unwrap()]
        .map(str::to_owned)
        .to_vec()
}

fn start(words: &[String], dir: &Path) -> Client {
    let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    Client::start(&words[0], &args, dir)
}

fn gateway(dir: &Path, sanitize: bool, server: Vec<String>) -> Client {
    let [flag, file] = configure(dir, sanitize, &[("fs", server)]);
    Client::start(GATEWAY, &[&flag, &file], dir)
}

#[test]
fn a_gateway_that_protects_nothing_changes_nothing() {
    let Some(node) = install::node("files::a_gateway_that_protects_nothing_changes_nothing") else {
        return;
    };
    let (folder, dir) = (folder(), tempfile::tempdir().unwrap());
    let calls = calls(folder.path());
    let mut direct = start(&server(node, folder.path()), dir.path());
    greet(&mut direct);
    let wanted = transcript(&mut direct, "", &calls);
    let mut through = gateway(dir.path(), false, server(node, folder.path()));
    let hello = greet(&mut through);
    assert_eq!(hello["serverInfo"]["name"], "cloakllm-gateway");
    assert_eq!(transcript(&mut through, "fs__", &calls), wanted);
    let (theirs, ours) = (tools(&mut direct), tools(&mut through));
    assert!(theirs.len() > 10 && theirs.len() == ours.len());
    for (theirs, ours) in theirs.iter().zip(&ours) {
        for (field, value) in theirs {
            let wanted = match field.as_str() {
                "name" => value.get().replacen('"', "\"fs__", 1),
                _ => value.get().to_owned(),
            };
            assert_eq!(ours[field].get(), wanted);
        }
        assert_eq!(theirs.len(), ours.len());
    }
    for method in ["prompts/list", "resources/list", "logging/setLevel"] {
        for client in [&mut direct, &mut through] {
            client.ask("99", method, r#"{"level":"info"}"#);
            let answer = crate::json(&answer(client, "99"));
            assert_eq!(answer["error"]["code"], -32601, "{method}");
        }
    }
    through.end();
}

#[test]
fn protection_hides_the_values_and_nothing_else() {
    let Some(node) = install::node("files::protection_hides_the_values_and_nothing_else") else {
        return;
    };
    let (folder, dir) = (folder(), tempfile::tempdir().unwrap());
    let calls = calls(folder.path());
    let mut direct = start(&server(node, folder.path()), dir.path());
    greet(&mut direct);
    let bare = transcript(&mut direct, "", &calls);
    let mut through = gateway(dir.path(), true, server(node, folder.path()));
    greet(&mut through);
    let protected = transcript(&mut through, "fs__", &calls);
    let text = bare.join("\n");
    for value in PLANTED {
        assert!(text.contains(value), "{value} was never sent");
    }
    let seen = String::from_utf8_lossy(&through.seen).into_owned();
    let digits: String = seen.chars().filter(|one| !" -".contains(*one)).collect();
    for value in PLANTED {
        let bare: String = value.chars().filter(|one| !" -".contains(*one)).collect();
        assert!(!seen.contains(value) && !digits.contains(&bare), "{value}");
    }
    // Tokens stand where values stood, and all around them is as it was.
    for (bare, protected) in bare.iter().zip(&protected) {
        if PLANTED.iter().any(|value| bare.contains(value)) {
            assert!(protected.contains("[EMAIL_"), "{protected}");
            assert_ne!(bare, protected);
        } else {
            assert_eq!(bare, protected);
        }
    }
    let columns = "name,mail,card,ssn,iban,ip\\n";
    assert!(protected[0].contains(columns), "{}", protected[0]);
    // Definitions keep their schemas for arguments byte for byte.
    for (theirs, ours) in tools(&mut direct).iter().zip(&tools(&mut through)) {
        for (field, value) in theirs.iter().filter(|(field, _)| *field != "outputSchema") {
            let wanted = match field.as_str() {
                "name" => value.get().replacen('"', "\"fs__", 1),
                _ => value.get().to_owned(),
            };
            assert_eq!(ours[field].get(), wanted);
        }
    }
    let log = through.end();
    for value in PLANTED {
        assert!(!log.contains(value), "{log}");
    }
}

#[test]
fn what_the_model_writes_reaches_the_disk_with_the_values_in_it() {
    let test = "files::what_the_model_writes_reaches_the_disk_with_the_values_in_it";
    let Some(node) = install::node(test) else {
        return;
    };
    let (folder, dir) = (folder(), tempfile::tempdir().unwrap());
    let mut client = gateway(dir.path(), true, server(node, folder.path()));
    greet(&mut client);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut call = |tool: &str, arguments: Value| {
        let params = json!({"name": format!("fs__{tool}"), "arguments": arguments});
        client.ask("1", "tools/call", &params.to_string());
        let answer = crate::json(&answer(&mut client, "1"));
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let read = call("read_text_file", json!({"path": path("people.csv")}));
    let row = read.lines().nth(1).unwrap().to_owned();
    let tokens: Vec<&str> = row.split(',').skip(1).collect();
    assert_eq!(tokens.len(), 5);
    assert!(tokens.iter().all(|token| token.starts_with('[')), "{row}");
    let letter = format!("Dear {}, \"{}\"\n{}", tokens[0], tokens[1], row);
    call(
        "write_file",
        json!({"path": path("letter.txt"), "content": letter}),
    );
    let wanted = format!(
        "Dear {}, \"{}\"\nMarie Novak,{},{},{},{},{}",
        PLANTED[0], PLANTED[1], PLANTED[0], PLANTED[1], PLANTED[3], PLANTED[4], PLANTED[5],
    );
    assert_eq!(fs::read_to_string(path("letter.txt")).unwrap(), wanted);
    // A token found in a listing is as good as the path behind it.
    let listing = call("list_directory", json!({"path": path("")}));
    let token = format!(
        "[{}",
        listing
            .split("[DIR] [")
            .nth(1)
            .unwrap()
            .split(']')
            .next()
            .unwrap()
    );
    call(
        "write_file",
        json!({"path": path(&format!("{token}]/in.txt")), "content": "x"}),
    );
    assert!(folder.path().join("marie.novak@example.eu/in.txt").exists());
    // An edit finds the old text, which the model knows only by its token.
    let edit =
        json!({"path": path("letter.txt"), "edits": [{"oldText": tokens[3], "newText": "gone"}]});
    call("edit_file", edit);
    let edited = fs::read_to_string(path("letter.txt")).unwrap();
    assert!(
        edited.contains("gone") && !edited.contains(PLANTED[4]),
        "{edited}"
    );
    client.end();
}
