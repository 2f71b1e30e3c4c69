//! Others check what we wrote: the CloakLLM SDK's verifier, and proofs in a few lines of Python.
//!
//! `CLOAKLLM_PYTHON` names a Python that has `cloakllm` and `cloakllm-verifier`; else `python3` is
//! tried. Where they are missing the tests say that they are skipped, and under `CI=true` they fail.

mod audit_support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use audit_support::{LogDir, call};
use cloak_stages::audit::{Note, Proof};

const PROOF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/check_proof.py");
const VERIFIER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/verify_logs.py");

/// A Python that can import this, or a skip.
fn python(modules: &str) -> Option<String> {
    let python = std::env::var("CLOAKLLM_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let probe = Command::new(&python)
        .args(["-c", &format!("import {modules}")])
        .stderr(Stdio::null())
        .status();
    if probe.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "CI must have a Python with {modules}"
    );
    eprintln!("skipped: {python} has no {modules}; set CLOAKLLM_PYTHON to one that has");
    None
}

/// The SDK's verdict about each directory.
fn verdicts(python: &str, dirs: &[PathBuf]) -> Vec<serde_json::Value> {
    let mut child = Command::new(python)
        .args(["-W", "ignore", VERIFIER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut names = child.stdin.take().unwrap();
    for dir in dirs {
        writeln!(names, "{}", dir.display()).unwrap();
    }
    drop(names);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Sessions on two days, checkpoints within, another key, lines torn at several places.
fn eventful() -> LogDir {
    let log = LogDir::with_key();
    let day = log.dir().join("audit_2026-12-01.jsonl");
    let often = |options: &mut cloakllm_gateway::audit::Options| options.checkpoint_entries = 30;
    log.session_with(often, |handle| {
        (0..100).for_each(|number| handle.record(call(number)).unwrap())
    });
    for torn in [1, 30, 200, 555, 700] {
        let whole = fs::read(&day).unwrap();
        let line = whole.split(|byte| *byte == b'\n').nth(7).unwrap()[..torn].to_vec();
        fs::write(&day, [whole, line].concat()).unwrap();
        log.session(|handle| handle.record(call(1)).unwrap());
    }
    log.rotate_key();
    log.clock.utc.fetch_add(86_400_000_000, Ordering::Relaxed);
    log.session(|handle| (0..100).for_each(|number| handle.record(call(number)).unwrap()));
    log
}

#[test]
fn the_sdk_accepts_what_we_write() {
    let Some(python) = python("cloakllm, cloakllm_verifier") else {
        return;
    };
    let log = eventful();
    let verdict = &verdicts(&python, &[log.dir().to_owned()])[0];
    assert_eq!(verdict["ok"], true, "{verdict}");
    assert_eq!(verdict["schema"], serde_json::Value::Null, "{verdict}");
    assert_eq!(verdict["entries"], log.verify().entries);
}

#[test]
fn the_sdk_rejects_every_tampering() {
    let Some(python) = python("cloakllm, cloakllm_verifier") else {
        return;
    };
    let log = LogDir::with_key();
    log.session(|handle| (0..8).for_each(|number| handle.record(call(number)).unwrap()));
    let text = fs::read_to_string(log.dir().join("audit_2026-12-01.jsonl")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let last = lines.len() - 1;
    let mut tampered = Vec::new();
    for at in 0..last {
        let mut dropped = lines.clone();
        dropped.remove(at);
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        let mut twice = lines.clone();
        twice.insert(at, lines[at]);
        tampered.extend([dropped, swapped, twice].map(|lines| lines.join("\n").into_bytes()));
    }
    // A changed byte, spread over all lines and places in them; a newline is no byte of an entry.
    for at in (0..text.len())
        .step_by(17)
        .filter(|at| text.as_bytes()[*at] != b'\n')
    {
        let mut changed = text.clone().into_bytes();
        changed[at] ^= 1 << (at % 5);
        tampered.push(changed);
    }
    let parent = tempfile::tempdir().unwrap();
    let dirs: Vec<_> = tampered
        .iter()
        .enumerate()
        .map(|(number, text)| copy(parent.path(), number, text))
        .collect();
    for (dir, verdict) in dirs.iter().zip(verdicts(&python, &dirs)) {
        assert_eq!(
            verdict["ok"],
            false,
            "{}: {verdict}",
            fs::read_to_string(dir.join("audit_2026-12-01.jsonl")).unwrap()
        );
    }
    assert!(dirs.len() > 400);
}

fn copy(parent: &Path, number: usize, text: &[u8]) -> PathBuf {
    let dir = parent.join(number.to_string());
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("audit_2026-12-01.jsonl"), text).unwrap();
    dir
}

/// What docs/audit.md says of retention.
#[test]
fn after_days_were_removed_the_sdk_finds_one_break_and_none_once_they_are_back() {
    let Some(python) = python("cloakllm, cloakllm_verifier") else {
        return;
    };
    let log = LogDir::with_key();
    let keep = |options: &mut cloakllm_gateway::audit::Options| options.retention_days = Some(1);
    let day = || {
        log.session_with(keep, |handle| handle.record(call(1)).unwrap());
        log.clock.utc.fetch_add(86_400_000_000, Ordering::Relaxed);
    };
    day();
    let first = log.dir().join("audit_2026-12-01.jsonl");
    let kept = fs::read(&first).unwrap();
    day();
    day();
    assert!(!first.exists());
    assert!(log.verify().is_intact());
    let verdict = &verdicts(&python, &[log.dir().to_owned()])[0];
    assert_eq!(verdict["ok"], false);
    let breaks = verdict["errors"].as_array().unwrap();
    assert_eq!(breaks.len(), 1, "{verdict}");
    assert!(
        breaks[0].to_string().contains("audit_2026-12-02.jsonl:1"),
        "{verdict}"
    );

    fs::write(&first, kept).unwrap();
    assert!(log.verify().is_intact());
    assert_eq!(verdicts(&python, &[log.dir().to_owned()])[0]["ok"], true);
}

#[test]
fn proofs_are_checked_in_a_few_lines_of_python() {
    let Some(python) = python("json, cryptography") else {
        return;
    };
    let log = LogDir::with_key();
    let key = log.key().key.public().to_string();
    let note = || {
        fs::read_to_string(log.dir().join("checkpoint"))
            .unwrap()
            .parse::<Note>()
            .unwrap()
    };
    let mut store = |path: &str| fs::read(log.dir().join(path)).ok();
    let mut proofs = Vec::new();
    let mut older = Vec::new();
    for entries in [1, 60, 200, 120] {
        log.session(|handle| (0..entries).for_each(|number| handle.record(call(number)).unwrap()));
        let newer = note();
        proofs.extend(
            older
                .iter()
                .map(|older| Proof::consistency(older, &newer, &mut store).unwrap()),
        );
        older.push(newer);
    }
    let text = fs::read_to_string(log.dir().join("audit_2026-12-01.jsonl")).unwrap();
    for (index, line) in text.lines().enumerate().step_by(37) {
        proofs.push(Proof::inclusion(line, index as u64, &note(), &mut store).unwrap());
    }
    let file = log.dir().join("proof.json");
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        let output = Command::new(&python)
            .arg(PROOF)
            .arg(&file)
            .arg(&key)
            .output()
            .unwrap();
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("proven")
    };
    for proof in &proofs {
        let good = serde_json::to_string(proof).unwrap();
        assert!(check(&good), "{good}");
    }
    let good = serde_json::to_string(proofs.last().unwrap()).unwrap();
    let bad = good.replacen("tools", "fools", 1);
    assert!(bad != good && !check(&bad));
    assert!(proofs.len() > 15);
}
