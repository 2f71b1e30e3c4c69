//! Whatever is done to a log is detected, and the entry is named.

mod audit_support;

use std::collections::HashMap;
use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use audit_support::{LogDir, call};
use cloak_stages::audit::{
    Chain, Digest, Entry, Event, Problem, Report, Session, Severity, Stamp, Verifier, VerifierKey,
};
use proptest::prelude::*;

/// A log of two days with checkpoints inside and at the end, in memory.
struct Written {
    lines: Vec<Vec<u8>>,
    first_day: usize,
    checkpoint: String,
    key: VerifierKey,
    files: HashMap<String, Vec<u8>>,
}

fn written() -> &'static Written {
    static WRITTEN: OnceLock<Written> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let log = LogDir::with_key();
        for day in 0..2 {
            log.session(|handle| {
                (0..140).for_each(|number| handle.record(call(number + day)).unwrap())
            });
            log.clock.utc.fetch_add(86_400_000_000, Ordering::Relaxed);
        }
        let days = log.days();
        let lines = |day: &str| -> Vec<Vec<u8>> {
            let text = fs::read(log.dir().join(day)).unwrap();
            text.split_inclusive(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        };
        let (first, second) = (lines(&days[0]), lines(&days[1]));
        let mut files = HashMap::new();
        for path in ["tile/0/000", "tile/1/000.p/1", "tile/0/001.p/30"] {
            let path = path.to_owned();
            if let Ok(tile) = fs::read(log.dir().join(&path)) {
                files.insert(path, tile);
            }
        }
        Written {
            first_day: first.len(),
            lines: [first, second].concat(),
            checkpoint: fs::read_to_string(log.dir().join("checkpoint")).unwrap(),
            key: log.key().key.public().clone(),
            files,
        }
    })
}

fn verify(lines: &[Vec<u8>], first_day: usize, checkpoint: &str) -> Report {
    let written = written();
    let mut verifier = Verifier::new(std::slice::from_ref(&written.key), |path: &str| {
        written.files.get(path).cloned()
    });
    verifier.expect("checkpoint", checkpoint, true);
    let (first, second) = lines.split_at(first_day.min(lines.len()));
    verifier
        .read("audit_2026-12-01.jsonl", &*first.concat())
        .unwrap();
    verifier
        .read("audit_2026-12-02.jsonl", &*second.concat())
        .unwrap();
    verifier.finish()
}

/// The log is said to be broken, and at one of these entries.
fn broken_at(lines: &[Vec<u8>], first_day: usize, entries: &[usize]) -> Result<(), TestCaseError> {
    let report = verify(lines, first_day, &written().checkpoint);
    let broken: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| finding.problem.severity() == Severity::Broken)
        .collect();
    prop_assert!(
        broken
            .iter()
            .any(|finding| entries.contains(&(finding.entry as usize))),
        "{entries:?} not among {broken:?}"
    );
    Ok(())
}

#[test]
fn what_was_written_is_intact() {
    let log = written();
    let report = verify(&log.lines, log.first_day, &log.checkpoint);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(
        (report.covered, report.entries),
        (log.lines.len() as u64, log.lines.len() as u64)
    );
    assert_eq!(report.checkpoints, 2);
}

fn entry() -> impl Strategy<Value = usize> {
    0..written().lines.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_changed_byte(at in entry(), byte in any::<prop::sample::Index>(), mask in 1u8..=255) {
        let mut lines = written().lines.clone();
        let byte = byte.index(lines[at].len());
        lines[at][byte] ^= mask;
        broken_at(&lines, written().first_day, &[at])?;
    }

    #[test]
    fn a_byte_too_many_or_too_few(at in entry(), byte in any::<prop::sample::Index>(), more in any::<Option<u8>>()) {
        let mut lines = written().lines.clone();
        let byte = byte.index(lines[at].len());
        match more {
            // An empty line is no change: the file's lines are the same.
            Some(b'\n') if byte == 0 || byte == lines[at].len() - 1 => return Ok(()),
            Some(more) => lines[at].insert(byte, more),
            None => drop(lines[at].remove(byte)),
        }
        // Without its last newline the log is still whole.
        if more.is_none() && at == lines.len() - 1 && byte == lines[at].len() {
            return Ok(());
        }
        broken_at(&lines, written().first_day, &[at])?;
    }

    #[test]
    fn a_missing_entry(at in entry()) {
        let mut lines = written().lines.clone();
        lines.remove(at);
        broken_at(&lines, written().first_day - usize::from(at < written().first_day), &[at])?;
    }

    #[test]
    fn a_repeated_entry(from in entry(), to in entry()) {
        let mut lines = written().lines.clone();
        lines.insert(to, lines[from].clone());
        broken_at(&lines, written().first_day + usize::from(to < written().first_day), &[from])?;
    }

    #[test]
    fn swapped_entries(one in entry(), other in entry()) {
        prop_assume!(one != other);
        let mut lines = written().lines.clone();
        lines.swap(one, other);
        broken_at(&lines, written().first_day, &[one.min(other)])?;
    }

    #[test]
    fn a_cut_tail(at in entry()) {
        let lines = &written().lines[..at];
        broken_at(lines, written().first_day, &[at])?;
    }

    #[test]
    fn a_cut_head(at in 1..written().lines.len()) {
        let lines = &written().lines[at..];
        broken_at(lines, written().first_day.saturating_sub(at), &[0])?;
    }

    /// Somebody with the run of the disk writes another entry and chains all later ones anew.
    #[test]
    fn a_rewritten_history(at in entry()) {
        let mut lines = written().lines.clone();
        let previous = if at == 0 { Digest::GENESIS } else { Digest::of(&body(&lines[at - 1])) };
        let mut chain = Chain::resume(at as u64, previous);
        for line in &mut lines[at..] {
            line.clear();
            let stamp = Stamp { utc_micros: 1_796_110_200_000_000, mono_micros: 1, session: Session(1) };
            chain.append(&stamp, &Entry::new(Event::Message), line);
            line.push(b'\n');
        }
        broken_at(&lines, written().first_day, &[at])?;
    }

    #[test]
    fn an_altered_checkpoint(byte in any::<prop::sample::Index>(), mask in 1u8..=127) {
        let log = written();
        let mut checkpoint = log.checkpoint.clone().into_bytes();
        let byte = byte.index(checkpoint.len());
        checkpoint[byte] ^= mask;
        let report = verify(&log.lines, log.first_day, &String::from_utf8_lossy(&checkpoint));
        prop_assert!(!report.is_intact());
    }
}

fn body(line: &[u8]) -> Vec<u8> {
    [&line[..line.len() - 82], b"}"].concat()
}

#[test]
fn a_checkpoint_that_was_put_back_is_noticed() {
    let log = LogDir::with_key();
    log.session(|handle| handle.record(call(1)).unwrap());
    let old = fs::read(log.dir().join("checkpoint")).unwrap();
    log.session(|handle| handle.record(call(2)).unwrap());
    log.session(|handle| handle.record(call(3)).unwrap());
    fs::write(log.dir().join("checkpoint"), old).unwrap();
    let report = log.verify();
    assert!(
        report
            .findings
            .iter()
            .any(|finding| matches!(finding.problem, Problem::OldCheckpoint { .. }))
    );
    fs::remove_file(log.dir().join("checkpoint")).unwrap();
    let report = log.verify();
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.problem == Problem::NoCheckpoint),
        "{:?}",
        report.findings
    );
}

#[test]
fn a_missing_tile_is_a_notice_and_a_replaced_one_a_break() {
    let log = LogDir::with_key();
    log.session(|handle| (0..600).for_each(|number| handle.record(call(number)).unwrap()));
    let tile = log.dir().join("tile/0/001");
    let mut bytes = fs::read(&tile).unwrap();
    bytes[32 * 7] ^= 1;
    fs::write(&tile, &bytes).unwrap();
    let report = log.verify();
    assert!(!report.is_intact());
    assert_eq!(report.findings[0].entry, 256 + 7);
    fs::remove_file(&tile).unwrap();
    let report = log.verify();
    assert!(report.is_intact());
    assert!(
        matches!(report.findings[..], [ref one] if matches!(one.problem, Problem::NoTile { .. }))
    );
}

#[test]
fn a_removed_day_that_no_entry_tells_of_is_missing() {
    let log = LogDir::with_key();
    log.session(|handle| handle.record(call(1)).unwrap());
    log.clock.utc.fetch_add(86_400_000_000, Ordering::Relaxed);
    log.session(|handle| handle.record(call(2)).unwrap());
    fs::remove_file(log.dir().join(&log.days()[0])).unwrap();
    let report = log.verify();
    assert!(
        report
            .findings
            .iter()
            .any(|finding| matches!(finding.problem, Problem::Missing { from: 0, to: 3 })),
        "{:?}",
        report.findings
    );
}
