//! The program from outside: what it says, where, and the codes it ends with.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the program in `dir` with `args` and `input`.
fn run(dir: &Path, args: &[&str], input: &str) -> Output {
    run_with(dir, args, input, &[])
}

fn run_with(dir: &Path, args: &[&str], input: &str, variables: &[(&str, &str)]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cloakllm-gateway"))
        .args(args)
        .current_dir(dir)
        .env_remove("CLOAKLLM_GATEWAY_CONFIG")
        .env("XDG_STATE_HOME", dir.join("state"))
        .env("HOME", dir)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input is no reason to fail.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn says_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), &["--version"], "");
    let version = format!("cloakllm-gateway {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((out.status.code(), text(&out.stdout)), (Some(0), &*version));
}

#[test]
fn what_cannot_be_used_ends_with_2() {
    let dir = tempfile::tempdir().unwrap();
    for (name, config, told) in [
        (
            "key.json",
            r#"{"upstreams": {"a": {"command": "sh"}}, "sanitise": 1}"#,
            "\"sanitize\"",
        ),
        ("none.json", "{}", "no server is configured"),
        ("json.json", "{", "is not JSON"),
        (
            "pattern.json",
            r#"{"upstreams": {"a": {"command": "sh"}},
                "detection": {"custom_patterns": [["A", "(?<=x)y"]]}}"#,
            "detection.custom_patterns",
        ),
    ] {
        fs::write(dir.path().join(name), config).unwrap();
        let out = run(dir.path(), &["--config", name, "--check"], "");
        assert_eq!(out.status.code(), Some(2), "{name}: {}", text(&out.stderr));
        assert!(out.stdout.is_empty());
        assert!(
            text(&out.stderr).contains(told),
            "{name}: {}",
            text(&out.stderr)
        );
    }
    for args in [
        &["--no-such-flag"][..],
        &["--log-level", "loud"],
        &["--config", "gone.json"],
        &[],
    ] {
        let out = run(dir.path(), args, "");
        assert_eq!(
            out.status.code(),
            Some(2),
            "{args:?}: {}",
            text(&out.stderr)
        );
        assert!(out.stdout.is_empty() && !out.stderr.is_empty());
    }
}

#[test]
fn the_configuration_is_found_in_order() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["flag.json", "variable.json", "cloakllm-gateway.json"] {
        let config = r#"{"upstreams": {"a": {"command": "sh"}}}"#;
        fs::write(dir.path().join(name), config).unwrap();
    }
    let named = [("CLOAKLLM_GATEWAY_CONFIG", "variable.json")];
    for (args, variables, file) in [
        (&["--check"][..], &[][..], "cloakllm-gateway.json"),
        (&["--check"], &named, "variable.json"),
        (&["--check", "--config", "flag.json"], &named, "flag.json"),
    ] {
        let out = run_with(dir.path(), args, "", variables);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(out.stdout.is_empty());
        assert!(
            text(&out.stderr).contains(&format!(" {file}\n")),
            "{}",
            text(&out.stderr)
        );
    }
}

#[test]
fn check_tells_what_a_start_would_find() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(dir.path(), &["--check", "--", "sh", "-c", "true"], "");
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let report = text(&out.stderr);
    assert!(
        report.contains("EMAIL") && report.contains("self-test"),
        "{report}"
    );
    let out = run(dir.path(), &["--check", "--", "no-such-program-here"], "");
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("\"no-such-program-here\" on PATH"));

    // An allow list that lets the self-test's own values through must not go unnoticed.
    let config = r#"{"detection": {"allow": "@example.com"}}"#;
    fs::write(dir.path().join("allow.json"), config).unwrap();
    let out = run(
        dir.path(),
        &["--check", "--config", "allow.json", "--", "sh"],
        "",
    );
    let report = text(&out.stderr);
    assert!(report.contains("self-test"), "{report}");
}

#[test]
fn check_tells_whether_names_are_protected() {
    let dir = tempfile::tempdir().unwrap();
    let check = |section: &str| {
        let config = format!(r#"{{"detection": {section}}}"#);
        fs::write(dir.path().join("names.json"), config).unwrap();
        let args = ["--check", "--config", "names.json", "--", "sh"];
        let out = run(dir.path(), &args, "");
        (out.status.code(), text(&out.stderr).to_owned())
    };
    const GAP: &str = "names of people are NOT protected: ";
    let (code, report) = check(r#"{"ner_model": "none"}"#);
    assert!(code == Some(0) && report.contains(GAP), "{report}");
    let (code, report) = check("{}");
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report.contains(GAP), !cfg!(feature = "ner"), "{report}");
    if cfg!(feature = "ner") {
        let (code, report) = check(r#"{"ner_entity_types": ["PERSONS"]}"#);
        assert!(report.contains("detection.ner_entity_types: "), "{report}");
        assert!(code == Some(2) && report.contains("PERSON, "), "{report}");
        let (code, report) = check(r#"{"ner_entity_types": ["PERSON", "FAC", "NORP"]}"#);
        assert!(code == Some(0) && !report.contains(GAP), "{report}");
    }
    let (code, report) = check(r#"{"ner_model": "/no/such", "ner_required": true}"#);
    assert_eq!(code, Some(2), "{report}");
}

#[cfg(feature = "ner")]
#[test]
fn detect_shows_names_too() {
    let dir = tempfile::tempdir().unwrap();
    let input = "My colleague Marie Lindqvist lives in Lyon.";
    let out = run(dir.path(), &["detect"], input);
    assert!(text(&out.stdout).contains("Marie Lindqvist"), "{out:?}");
}

#[test]
fn detect_answers_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let input = "{\"id\":\"é\",\"text\":\"é marie@example.eu\"}\n{\"id\":2,\"text\":\"\"}\n";
    let out = run(dir.path(), &["detect", "--jsonl"], input);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let lines: Vec<serde_json::Value> = text(&out.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["id"], "é");
    let span = &lines[0]["spans"][0];
    assert_eq!((&span["start"], &span["end"]), (&2.into(), &18.into()));
    assert_eq!(span["label"], "EMAIL");
    assert!(lines[0]["ns"].as_u64().is_some());
    assert_eq!(lines[1]["spans"], serde_json::json!([]));

    let out = run(dir.path(), &["detect", "--jsonl"], "{\"id\":1}\n");
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text(&out.stderr).contains("line 1"),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn detect_explains_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "x\nwrite to marie@example.eu\n").unwrap();
    let out = run(dir.path(), &["detect", "a.txt"], "");
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("2:10"), "{}", text(&out.stdout));
    let out = run(dir.path(), &["detect", "gone.txt"], "");
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("gone.txt"));
}

#[test]
fn the_demo_keeps_every_value_from_the_model() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("demo");
    let out = run(dir.path(), &["demo", "--dir", place.to_str().unwrap()], "");
    let shown = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{shown}\n{}", text(&out.stderr));
    assert!(
        shown.contains("0 of 10 addresses, numbers and secrets"),
        "{shown}"
    );
    let wide = |line: &&str| line.chars().count() > 80 && !line.ends_with("reply.txt");
    assert_eq!(shown.lines().find(wide), None);
    assert!(!shown.contains('\x1b'), "colours are for terminals");
    let reply = fs::read_to_string(place.join("files/reply.txt")).unwrap();
    assert!(reply.contains("marie.lindqvist@example.eu"), "{reply}");
    assert!(reply.contains("SE45 5000 0000 0583 9825 7466"), "{reply}");
}

#[test]
fn one_server_is_wrapped_with_its_own_names() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "write to marie@example.eu").unwrap();
    let program = env!("CARGO_BIN_EXE_cloakllm-gateway");
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"a.txt"}}}"#,
        "\n",
    );
    let out = run(
        dir.path(),
        &["--log-format", "json", "--", program, "serve-files", "."],
        input,
    );
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let answer = text(&out.stdout).lines().last().unwrap();
    assert!(answer.contains("write to [EMAIL_0]"), "{answer}");
    let log = text(&out.stderr);
    assert!(!log.contains("marie@example.eu"), "{log}");
    for line in log.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
    }
}

#[test]
fn scrub_uses_one_token_over_all_files_and_no_number_twice() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "a@example.eu b@example.eu\n").unwrap();
    fs::write(dir.path().join("b.txt"), "b@example.eu\n").unwrap();
    let scrub = |args: &[&str]| {
        let out = run(dir.path(), args, "c@example.eu");
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        text(&out.stdout).to_owned()
    };
    let first = scrub(&["scrub", "a.txt", "b.txt"]);
    assert_eq!(first, "[EMAIL_0] [EMAIL_1]\n[EMAIL_1]\n");
    assert_eq!(scrub(&["scrub"]), "[EMAIL_2]", "the numbers go on");
    assert_eq!(scrub(&["scrub", "--from-zero"]), "[EMAIL_0]");
}
