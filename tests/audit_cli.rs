//! The commands, as the program's command line runs them.

mod audit_support;
mod browser;

use std::cell::Cell;
use std::fs;

use audit_support::{LogDir, call};
use browser::{Look, look_at};
use clap::Parser;
use cloak_stages::audit::{Entry, Event, Name, Outcome};
use cloakllm_gateway::audit::{AuditCommand, CommandError, Context, Log, Verdict};

#[derive(Parser)]
struct Program {
    #[command(subcommand)]
    command: AuditCommand,
}

fn run(log: &LogDir, args: &[&str]) -> Result<(Verdict, String), CommandError> {
    run_until(log, args, &|| true)
}

fn run_until(
    log: &LogDir,
    args: &[&str],
    stopped: &dyn Fn() -> bool,
) -> Result<(Verdict, String), CommandError> {
    let program = Program::parse_from(["audit"].iter().chain(args));
    let mut out = Vec::new();
    let mut context = Context {
        default_dir: Some(log.dir()),
        clock: &*log.clock,
        out: &mut out,
        stopped,
    };
    let verdict = program.command.run(&mut context)?;
    Ok((verdict, String::from_utf8(out).unwrap()))
}

fn filled() -> LogDir {
    let log = LogDir::with_key();
    log.session(|handle| {
        (0..20).for_each(|number| handle.record(call(number)).unwrap());
        let mut refusal = Entry::new(Event::Refusal)
            .fact(Name::literal("reason"), Name::literal("unknown_method"));
        refusal.outcome = Some(Outcome::Refused);
        handle.record(refusal).unwrap();
    });
    log
}

#[test]
fn verify_says_intact_or_which_entry_breaks() {
    let log = filled();
    let (verdict, text) = run(&log, &["verify"]).unwrap();
    assert_eq!(verdict, Verdict::Good);
    assert!(
        text.contains(": intact\n") && text.contains("1, the last covers all entries"),
        "{text}"
    );

    let path = log.dir().join("audit_2026-12-01.jsonl");
    let altered = fs::read_to_string(&path)
        .unwrap()
        .replacen("\"id\":7", "\"id\":8", 1);
    fs::write(&path, altered).unwrap();
    let (verdict, text) = run(&log, &["verify", log.dir().to_str().unwrap()]).unwrap();
    assert_eq!(verdict, Verdict::Bad);
    assert!(
        text.contains("BROKEN  entry 9 (audit_2026-12-01.jsonl:10): the entry was altered"),
        "{text}"
    );
    let (_, json) = run(&log, &["verify", "--json"]).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["verdict"], &json["findings"][0]["entry"]),
        (&"broken".into(), &9.into())
    );
}

#[test]
fn verify_compares_a_checkpoint_that_was_kept() {
    let log = filled();
    let kept = log.dir().parent().unwrap().join("kept");
    fs::copy(log.dir().join("checkpoint"), &kept).unwrap();
    log.session(|handle| handle.record(call(1)).unwrap());
    let args = ["verify", "--checkpoint", kept.to_str().unwrap()];
    assert_eq!(run(&log, &args).unwrap().0, Verdict::Good);

    // Somebody cuts the log and puts an older state of everything in its place.
    let other = filled();
    fs::remove_dir_all(log.dir()).unwrap();
    fs::rename(other.dir(), log.dir()).unwrap();
    let (verdict, text) = run(&log, &args).unwrap();
    assert!(verdict == Verdict::Bad && text.contains("BROKEN"), "{text}");
}

#[test]
fn strict_fails_on_what_a_whole_log_only_tells_of() {
    let log = filled();
    let path = log.dir().join("audit_2026-12-01.jsonl");
    let torn = fs::read_to_string(&path).unwrap() + "{\"categories\":{\"EM";
    fs::write(&path, torn).unwrap();
    log.session(|handle| handle.record(call(1)).unwrap());
    assert_eq!(run(&log, &["verify"]).unwrap().0, Verdict::Good);
    let (verdict, text) = run(&log, &["verify", "--strict"]).unwrap();
    assert!(
        verdict == Verdict::Bad && text.contains("notice  entry 24"),
        "{text}"
    );
}

#[test]
fn show_is_a_table_with_filters() {
    let log = filled();
    let (_, all) = run(&log, &["show", "--last", "0"]).unwrap();
    assert_eq!(all.lines().count(), 25);
    assert!(all.starts_with("TIME (UTC)"));
    let (_, text) = run(
        &log,
        &[
            "show",
            "--event",
            "tools_call",
            "--upstream",
            "files",
            "--category",
            "IBAN",
            "--last",
            "3",
        ],
    )
    .unwrap();
    assert_eq!(text.lines().count(), 4);
    assert!(
        text.contains("read_text_file")
            && text.contains("EMAIL 2 IBAN 1")
            && text.contains("1834>1790"),
        "{text}"
    );
    for args in [
        ["--tool", "other"],
        ["--category", "PHONE"],
        ["--since", "2026-12-02"],
        ["--until", "7d"],
    ] {
        let (_, text) = run(&log, &["show", args[0], args[1]]).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    let (_, json) = run(&log, &["show", "--json", "--event", "refusal"]).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(entry["metadata"]["facts"]["reason"], "unknown_method");
}

#[test]
fn a_proof_is_checked_without_the_log() {
    let log = filled();
    let key = log.key().key.public().to_string();
    let parent = log.dir().parent().unwrap();
    let file = parent.join("proof.json");
    let path = file.to_str().unwrap();
    run(&log, &["prove", "7", "--out", path]).unwrap();
    let (verdict, text) = run(&log, &["check", path, "--key", &key]).unwrap();
    assert!(
        verdict == Verdict::Good
            && text.starts_with("proven: this is entry 7 of the log test/log of 24 entries\n{"),
        "{text}"
    );
    let key_file = log.dir().join("key.pub");
    assert_eq!(
        run(&log, &["check", path, "--key", key_file.to_str().unwrap()])
            .unwrap()
            .0,
        Verdict::Good
    );

    let forged = fs::read_to_string(&file)
        .unwrap()
        .replace("\\\"id\\\":5", "\\\"id\\\":6");
    fs::write(&file, forged).unwrap();
    let (verdict, text) = run(&log, &["check", path, "--key", &key]).unwrap();
    assert!(
        verdict == Verdict::Bad && text.starts_with("NOT PROVEN"),
        "{text}"
    );
    assert!(matches!(
        run(&log, &["check", path]),
        Err(CommandError::NoKey)
    ));
    assert!(matches!(
        run(&log, &["prove", "24"]),
        Err(CommandError::NoProof(_))
    ));
}

#[test]
fn the_log_is_proven_to_go_on_from_an_older_checkpoint() {
    let log = filled();
    let key = log.key().key.public().to_string();
    let older = log.dir().parent().unwrap().join("older");
    fs::copy(log.dir().join("checkpoint"), &older).unwrap();
    log.session(|handle| (0..500).for_each(|number| handle.record(call(number)).unwrap()));
    let (_, proof) = run(&log, &["prove", "--since", older.to_str().unwrap()]).unwrap();
    let file = log.dir().parent().unwrap().join("proof.json");
    fs::write(&file, proof).unwrap();
    let (verdict, text) = run(&log, &["check", file.to_str().unwrap(), "--key", &key]).unwrap();
    assert!(
        verdict == Verdict::Good
            && text.starts_with("proven: the log of 24 entries is the beginning of"),
        "{text}"
    );
}

#[test]
fn the_report_is_one_page_that_needs_nothing_else() {
    let log = filled();
    let (verdict, page) = run(&log, &["report"]).unwrap();
    assert_eq!(verdict, Verdict::Good);
    for part in [
        "<strong>60</strong><span>values kept from the model",
        "aria-label=\"values protected per day\"",
        "<title>2026-12-01: EMAIL 40</title>",
        "<title>EMAIL: 40</title>",
        "prefers-color-scheme:dark",
        "unknown_method",
        "read_text_file",
        ": intact",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    for outside in ["http:", "https:", "<script", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// A browser draws the charts: their bars have a size on the page, and nothing sticks out.
#[test]
fn the_report_can_be_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let (_, page) = run(&filled(), &["report"]).unwrap();
    let look = Look {
        window: "500,900",
        drawn: "b.width >= 1 && b.height > 2",
        told: "[count('svg'), count('svg rect'), count('.figure'), \
               document.documentElement.scrollWidth > innerWidth]",
    };
    let Some(drawn) = look_at(&page, &look, dir.path()) else {
        return;
    };
    // Per day, and by category, server, tool, reason and incident; a bar for each number shown.
    let bars = page.matches("<rect").count();
    let charts = page.matches("<svg").count();
    assert!(charts >= 5 && bars >= 6, "{charts} charts of {bars} bars");
    assert_eq!(drawn, format!("{charts},{bars},7,false"));
}

#[test]
fn a_report_about_a_forged_log_shows_and_obeys_nothing() {
    let log = filled();
    let path = log.dir().join("audit_2026-12-01.jsonl");
    let forged = fs::read_to_string(&path)
        .unwrap()
        .replace("read_text_file", "<script>alert(1)</script>");
    fs::write(&path, forged).unwrap();
    let (verdict, page) = run(&log, &["report"]).unwrap();
    assert_eq!(verdict, Verdict::Bad);
    assert!(page.contains("BROKEN") && !page.contains("<script"));
    let (_, table) = run(&log, &["show"]).unwrap();
    assert!(table.is_ascii());
}

#[test]
fn tail_follows_what_is_appended() {
    let log = filled();
    let (open, handle) = Log::open(log.dir(), log.options()).unwrap();
    let asked = Cell::new(0);
    let stopped = || {
        asked.set(asked.get() + 1);
        if asked.get() == 1 {
            handle.record(call(77)).unwrap();
            assert!(handle.flush(std::time::Duration::from_secs(10)));
        }
        asked.get() > 2
    };
    let (_, text) = run_until(&log, &["tail", "-f", "-n", "1", "--json"], &stopped).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["event_type"], &lines[1]["metadata"]["id"]),
        (&"log_opened".into(), &77.into())
    );
    drop(open);
}

#[test]
fn keygen_makes_a_key_and_rotates_it() {
    let log = LogDir::without_key();
    let path = log.dir().with_extension("key");
    let path = path.to_str().unwrap();
    let (_, first) = run(&log, &["keygen", path, "--name", "example.eu/log"]).unwrap();
    assert!(first.starts_with("example.eu/log+"));
    assert!(matches!(
        run(&log, &["keygen", path]),
        Err(CommandError::KeyFile(_))
    ));
    let (_, second) = run(&log, &["keygen", path, "--replace"]).unwrap();
    assert!(second.starts_with("example.eu/log+") && second != first);
}

#[test]
fn what_is_no_log_is_said_to_be_none() {
    let log = LogDir::without_key();
    assert!(matches!(
        run(&log, &["verify"]),
        Err(CommandError::File { .. })
    ));
    fs::create_dir(log.dir()).unwrap();
    assert!(matches!(run(&log, &["show"]), Err(CommandError::NoLog(_))));
    let log = filled();
    assert!(matches!(
        run(&log, &["show", "--since", "soon"]),
        Err(CommandError::Time(_))
    ));
    assert!(matches!(
        run(&log, &["verify", "--key", "x"]),
        Err(CommandError::Key { .. })
    ));
}
