//! The audit log of a real session: what it tells, and what it must not hold.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const VALUE: &str = "marie.lindqvist@example.eu";

#[test]
fn a_session_is_told_without_a_value_and_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir(path("files")).unwrap();
    std::fs::write(path("files/a.txt"), format!("Write to {VALUE}.")).unwrap();
    let gateway = env!("CARGO_BIN_EXE_cloakllm-gateway");
    let key = Command::new(gateway)
        .args(["audit", "keygen", &path("key")])
        .output()
        .unwrap();
    assert!(
        key.status.success(),
        "{}",
        String::from_utf8_lossy(&key.stderr)
    );
    let config = serde_json::json!({
        "upstreams": {"fs": {"command": gateway, "args": ["serve-files", path("files")]}},
        "state_dir": path("state"),
        "audit": {"dir": path("log"), "key": path("key")},
    });
    std::fs::write(path("gateway.json"), config.to_string()).unwrap();

    let mut child = Command::new(gateway)
        .args(["--config", &path("gateway.json")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |line: &str| {
        writeln!(to, "{line}").unwrap();
        from.by_ref()
            .map(Result::unwrap)
            .find(|line| line.contains("\"id\""))
            .unwrap()
    };
    ask(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    );
    // Only names that a server listed stand in the log as they are.
    ask(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs__read_text_file","arguments":{"path":"a.txt"}}}"#;
    let answer = ask(call);
    assert!(
        answer.contains("[EMAIL_0]") && !answer.contains(VALUE),
        "{answer}"
    );
    let stale = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs__read_text_file","arguments":{"path":"[EMAIL_1].txt"}}}"#;
    ask(stale);
    drop(to);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());

    let days = std::fs::read_dir(path("log"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let log: String = days
        .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    for told in [
        "session_start",
        "tools_call",
        "read_text_file",
        "EMAIL",
        "session_end",
    ] {
        assert!(log.contains(told), "{told} is not told of in {log}");
    }
    assert!(
        !log.contains("marie") && !log.contains("example.eu"),
        "{log}"
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("marie"), "{said}");

    let verify = || {
        Command::new(gateway)
            .args(["audit", "verify", &path("log")])
            .output()
            .unwrap()
    };
    let verdict = verify();
    assert!(
        verdict.status.success(),
        "{}",
        String::from_utf8_lossy(&verdict.stdout)
    );
    let day = std::fs::read_dir(path("log"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
        .unwrap();
    std::fs::write(&day, log.replacen("tools_call", "tools_list", 1)).unwrap();
    assert!(!verify().status.success(), "a changed entry is noticed");
}
