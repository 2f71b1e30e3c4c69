//! The examples do what they say, in front of a real server.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The folder of the examples, which are built first: cargo does so by itself only when it is asked
/// for all tests.
fn built() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let build = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--examples"])
            .status();
        assert!(build.unwrap().success(), "the examples build");
        let tests = std::env::current_exe().unwrap();
        tests.parent().unwrap().parent().unwrap().join("examples")
    })
}

/// Runs an example in front of the built-in file server on `folder`, and puts `calls` to it, each
/// the parameters of a `tools/call`. Returns the answers and what was written to standard error.
fn run(example: &str, args: &[&str], folder: &Path, calls: &[&str]) -> (Vec<String>, String) {
    let program = built().join(example);
    let mut child = Command::new(program)
        .args(args)
        .arg(env!("CARGO_BIN_EXE_cloakllm-gateway"))
        .arg("serve-files")
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(to, "{HELLO}").unwrap();
    from.next().unwrap().unwrap();
    writeln!(to, "{READY}").unwrap();
    let mut answers = Vec::new();
    for (id, params) in calls.iter().enumerate() {
        let id = id + 1;
        writeln!(
            to,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#
        )
        .unwrap();
        answers.push(from.next().unwrap().unwrap());
    }
    drop(to);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    (answers, String::from_utf8(output.stderr).unwrap())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("staff.txt"), "EMP-00412 may park.").unwrap();
    folder
}

const READ: &str = r#"{"name":"read_text_file","arguments":{"path":"staff.txt"}}"#;

#[test]
fn the_block_list_forbids_what_is_on_it() {
    let folder = folder();
    let write = r#"{"name":"write_file","arguments":{"path":"new.txt","content":"x"}}"#;
    let (answers, _) = run("blocklist", &["write_file"], folder.path(), &[write, READ]);
    assert!(answers[0].contains("-32601"), "{}", answers[0]);
    assert!(answers[1].contains("EMP-00412"), "{}", answers[1]);
    assert!(!folder.path().join("new.txt").exists());
    let (answers, _) = run("blocklist", &["other"], folder.path(), &[write]);
    assert!(answers[0].contains("result"), "{}", answers[0]);
    assert!(
        folder.path().join("new.txt").exists(),
        "it is allowed without the list"
    );
}

#[test]
fn the_latency_meter_tells_of_each_request() {
    let folder = folder();
    let (answers, told) = run("latency", &[], folder.path(), &[READ, READ]);
    assert!(answers[0].contains("EMP-00412"));
    assert_eq!(told.matches("tools/call: ").count(), 2, "{told}");
    assert_eq!(told.matches("initialize: ").count(), 1, "{told}");
}

#[test]
fn the_recognizer_protects_a_kind_of_its_own() {
    let folder = folder();
    let write =
        r#"{"name":"write_file","arguments":{"path":"back.txt","content":"[EMPLOYEE_0]!"}}"#;
    let (answers, _) = run("recognizer", &[], folder.path(), &[READ, write]);
    assert!(
        answers[0].contains("[EMPLOYEE_0] may park."),
        "{}",
        answers[0]
    );
    assert!(!answers[0].contains("EMP-00412"));
    let written = std::fs::read_to_string(folder.path().join("back.txt")).unwrap();
    assert_eq!(written, "EMP-00412!");
}
