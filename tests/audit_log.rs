//! The audit log on a real disk: opening, closing, rotation, retention, lanes, repair, faults.

mod audit_support;

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use audit_support::{LogDir, call, intact, quiet};
use cloak_stages::audit::{Event, Problem};
use cloakllm_gateway::audit::{Handle, Log, OpenError, Options, Warning};

const DAY: i64 = 86_400_000_000;

#[test]
fn entries_go_through_and_the_chain_goes_on_after_a_restart() {
    let log = LogDir::with_key();
    for _ in 0..3 {
        log.session(|handle| (0..700).for_each(|number| handle.record(call(number)).unwrap()));
    }
    let report = log.verify();
    // Each process also says that it opened and closed the log, the first one which key it has,
    // the later ones which checkpoint they found.
    assert_eq!(report.entries, 3 * 702 + 1 + 2);
    assert_eq!((report.checkpoints, report.covered), (3, report.entries));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn without_a_key_there_is_a_chain_and_no_checkpoint() {
    let log = LogDir::without_key();
    log.session(|handle| handle.record(call(1)).unwrap());
    log.session(|handle| handle.record(call(2)).unwrap());
    let report = log.verify();
    assert_eq!((report.entries, report.checkpoints), (6, 0));
    assert!(report.findings.is_empty());
    assert!(!log.dir().join("checkpoint").exists());
}

#[test]
fn a_key_that_comes_later_covers_what_was_before() {
    let mut log = LogDir::without_key();
    log.session(|handle| (0..600).for_each(|number| handle.record(call(number)).unwrap()));
    log.make_key();
    log.session(|handle| handle.record(call(2)).unwrap());
    let report = log.verify();
    assert_eq!((report.checkpoints, report.covered), (1, report.entries));
}

#[test]
fn a_rotated_key_is_recorded_and_followed() {
    let log = LogDir::with_key();
    let old = log.key().key.public().clone();
    log.session(|handle| handle.record(call(1)).unwrap());
    log.rotate_key();
    log.session(|handle| handle.record(call(2)).unwrap());
    let report = intact(&log.verify_with(&[old]));
    assert_eq!(report.keys.len(), 2);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn a_foreign_key_is_noticed() {
    let mut log = LogDir::with_key();
    let old = log.key().key.public().clone();
    log.session(|handle| handle.record(call(1)).unwrap());
    log.make_key();
    log.session(|handle| handle.record(call(2)).unwrap());
    let report = log.verify_with(&[old]);
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.problem == Problem::KeyNotSigned)
    );
    assert!(!report.is_intact());
}

#[test]
fn each_day_has_its_file_and_old_ones_are_removed() {
    let log = LogDir::with_key();
    let keep = |options: &mut Options| options.retention_days = Some(2);
    for _ in 0..5 {
        log.session_with(keep, |handle| {
            (0..300).for_each(|number| handle.record(call(number)).unwrap())
        });
        log.clock.utc.fetch_add(DAY, Ordering::Relaxed);
    }
    log.session_with(keep, |handle| handle.record(call(0)).unwrap());
    let names: Vec<_> = log.days();
    assert_eq!(
        names,
        [
            "audit_2026-12-04.jsonl",
            "audit_2026-12-05.jsonl",
            "audit_2026-12-06.jsonl"
        ]
    );
    let report = log.verify();
    assert!(
        report.first > 600 && report.findings.is_empty(),
        "{:?}",
        report.findings
    );
    assert_eq!(report.covered, report.first + report.entries);
}

#[test]
fn a_day_ends_while_the_log_is_open() {
    let log = LogDir::with_key();
    log.session(|handle| {
        handle.record(call(1)).unwrap();
        log.clock.utc.fetch_add(DAY, Ordering::Relaxed);
        handle.record(call(2)).unwrap();
        log.clock.utc.fetch_sub(2 * DAY, Ordering::Relaxed);
        handle.record(call(3)).unwrap();
    });
    assert_eq!(
        log.days(),
        ["audit_2026-12-01.jsonl", "audit_2026-12-02.jsonl"]
    );
    let report = log.verify();
    assert!(report.is_intact());
    assert!(
        matches!(report.findings[..], [ref one] if matches!(one.problem, Problem::ClockBack { .. })),
        "{report:?}"
    );
}

#[test]
fn two_processes_write_beside_each_other() {
    let log = LogDir::with_key();
    let (first, one) = Log::open(log.dir(), log.options()).unwrap();
    let (second, two) = Log::open(log.dir(), log.options()).unwrap();
    assert_eq!(
        (first.dir(), second.dir()),
        (log.dir(), &*log.dir().join("lane-2"))
    );
    for number in 0..100 {
        one.record(call(number)).unwrap();
        two.record(call(number)).unwrap();
    }
    first.close().unwrap();
    second.close().unwrap();
    let lanes = cloakllm_gateway::audit::verify(log.dir(), &[], &[]).unwrap();
    assert_eq!(
        lanes
            .iter()
            .map(|lane| lane.report.entries)
            .collect::<Vec<_>>(),
        [103, 103]
    );
    assert!(lanes.iter().all(|lane| lane.report.findings.is_empty()));
    let line = fs::read_to_string(second_day(&log)).unwrap();
    assert!(line.contains(&format!("\"linked\":\"{}\"", one.session())));

    // The next process takes the first lane again.
    let (third, _) = Log::open(log.dir(), log.options()).unwrap();
    assert_eq!(third.dir(), log.dir());
}

fn second_day(log: &LogDir) -> std::path::PathBuf {
    log.dir().join("lane-2/audit_2026-12-01.jsonl")
}

#[test]
fn a_damaged_log_is_left_alone() {
    let log = LogDir::with_key();
    log.session(|handle| (0..10).for_each(|number| handle.record(call(number)).unwrap()));
    let path = log.dir().join("audit_2026-12-01.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let cut = text
        .lines()
        .take(6)
        .fold(String::new(), |cut, line| cut + line + "\n");
    fs::write(&path, &cut).unwrap();
    let (open, handle) = Log::open(log.dir(), log.options()).unwrap();
    handle.record(call(1)).unwrap();
    assert_eq!(open.dir(), log.dir().join("lane-2"));
    open.close().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), cut);
    assert!(matches!(log.warnings()[..], [Warning::Damaged { .. }]));
}

#[test]
fn a_torn_line_is_absorbed_and_nothing_is_rewritten() {
    let log = LogDir::with_key();
    log.session(|handle| (0..10).for_each(|number| handle.record(call(number)).unwrap()));
    let path = log.dir().join("audit_2026-12-01.jsonl");
    let whole = fs::read(&path).unwrap();
    for torn in [&whole[..1], &whole[..100], b"\0\0\0\0", &[b'x'; 200_000]] {
        let mut before = fs::read(&path).unwrap();
        before.extend_from_slice(torn);
        fs::write(&path, &before).unwrap();
        log.session(|handle| handle.record(call(1)).unwrap());
        assert!(fs::read(&path).unwrap().starts_with(&before));
        let report = log.verify();
        let last = report.findings.last().unwrap();
        assert_eq!(
            last.problem,
            Problem::Repaired {
                bytes: torn.len() as u64
            }
        );
        assert!(report.is_intact(), "{:?}", report.findings);
    }
}

#[test]
fn a_line_that_only_lacks_its_newline_is_an_entry() {
    let log = LogDir::with_key();
    log.session(|handle| handle.record(call(1)).unwrap());
    let path = log.dir().join("audit_2026-12-01.jsonl");
    let mut text = fs::read(&path).unwrap();
    assert_eq!(text.pop(), Some(b'\n'));
    fs::write(&path, &text).unwrap();
    log.session(|handle| handle.record(call(1)).unwrap());
    assert!(log.verify().findings.is_empty());
}

#[cfg(unix)]
#[test]
fn a_directory_that_others_control_is_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let parent = tempfile::tempdir().unwrap();
    let open = |name: &str| Log::open(&parent.path().join(name), quiet()).map(drop);
    fs::create_dir(parent.path().join("open")).unwrap();
    fs::set_permissions(
        parent.path().join("open"),
        fs::Permissions::from_mode(0o777),
    )
    .unwrap();
    symlink(parent.path(), parent.path().join("link")).unwrap();
    fs::write(parent.path().join("file"), "").unwrap();
    assert!(matches!(open("open"), Err(OpenError::WorldWritable(_))));
    assert!(matches!(open("link"), Err(OpenError::Symlink(_))));
    assert!(matches!(open("file"), Err(OpenError::NotADirectory(_))));
    open("new").unwrap();
    let mode = |path: &str| {
        fs::metadata(parent.path().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode("new"), 0o700);
    let day = fs::read_dir(parent.path().join("new"))
        .unwrap()
        .map(|file| file.unwrap().file_name());
    day.for_each(|name| assert_eq!(mode(&format!("new/{}", name.to_str().unwrap())), 0o600));
}

#[cfg(unix)]
#[test]
fn a_file_that_is_a_symbolic_link_is_not_followed() {
    let log = LogDir::without_key();
    fs::create_dir(log.dir()).unwrap();
    let target = log.dir().parent().unwrap().join("target");
    fs::write(&target, "").unwrap();
    std::os::unix::fs::symlink(&target, log.dir().join("audit_2026-12-01.jsonl")).unwrap();
    assert!(matches!(
        Log::open(log.dir(), log.options()),
        Err(OpenError::Io { .. })
    ));
    assert_eq!(fs::read(&target).unwrap(), b"");
}

#[test]
fn a_handle_that_is_off_takes_everything() {
    let handle = Handle::off();
    handle.record(call(1)).unwrap();
    assert!(handle.is_healthy() && handle.flush(Duration::ZERO) && handle.payload_key().is_none());
}

#[test]
fn an_entry_belongs_to_the_session_of_its_handle() {
    let log = LogDir::without_key();
    let session = cloak_stages::audit::Session(42);
    log.session(|handle| handle.for_session(session).record(call(1)).unwrap());
    let mut seen = Vec::new();
    cloakllm_gateway::audit::entries(log.dir(), |entry, _| {
        seen.push((
            Event::parse(entry.event_type).unwrap(),
            entry.metadata.session.to_owned(),
        ));
        Ok(())
    })
    .unwrap();
    assert_eq!(seen[1], (Event::ToolsCall, session.to_string()));
    assert_eq!(seen[0].1, seen[2].1);
    assert_ne!(seen[0].1, seen[1].1);
}
