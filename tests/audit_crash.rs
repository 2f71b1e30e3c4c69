//! Crashes: kill -9 at random moments, death inside a write, a full disk, a dead writer.

mod audit_support;

use std::io::{self, BufRead, BufReader, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use audit_support::{LogDir, call, intact};
use cloak_stages::audit::{Finding, Problem, Unrecorded};
use cloakllm_gateway::audit::{Append, Disk, Files, Fsync, KeyFile, Log, Options, Warning, verify};

const DIR: &str = "AUDIT_CRASH_DIR";
const KEY: &str = "AUDIT_CRASH_KEY";
const KILLS: u32 = 300;
/// A directory is killed in so often, then another is taken, so that verifying stays quick.
const KILLS_A_LOG: u32 = 20;

/// The process that is killed: it records without end and tells what is committed.
#[test]
fn writing_process() {
    let (Ok(dir), Ok(key)) = (std::env::var(DIR), std::env::var(KEY)) else {
        return;
    };
    let options = Options {
        key: Some(KeyFile::load(Path::new(&key)).unwrap()),
        checkpoint_entries: 40,
        warnings: Arc::new(|_| {}),
        ..Options::default()
    };
    let (_log, handle) = Log::open(Path::new(&dir), options).unwrap();
    let mut told = 0;
    for number in 0.. {
        handle.record(call(number)).unwrap();
        let committed = handle.committed();
        if committed > told {
            told = committed;
            writeln!(io::stdout(), "committed {committed}").unwrap();
        }
    }
}

#[test]
fn killed_at_any_moment_what_was_committed_is_there() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..KILLS / KILLS_A_LOG {
        let log = LogDir::with_key();
        for _ in 0..KILLS_A_LOG {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let committed = kill_after(&log, Duration::from_micros(random % 4000));
            let report = intact(&log.verify());
            assert!(
                report.entries >= committed,
                "{} of {committed} entries are left",
                report.entries
            );
        }
        // What the last kill left is repaired as well, and the checkpoint at the end covers all.
        log.session(|handle| handle.record(call(1)).unwrap());
        let report = intact(&log.verify());
        assert_eq!(report.covered, report.entries);
        let killed = |finding: &&Finding| finding.problem == Problem::NotClosed;
        assert_eq!(
            report.findings.iter().filter(killed).count() as u32,
            KILLS_A_LOG
        );
    }
}

/// Starts the writing process, kills it this long after its first commit, and gives its last word.
fn kill_after(log: &LogDir, wait: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writing_process", "--nocapture"])
        .env(DIR, log.dir())
        .env(KEY, log.key_path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let committed = |line: io::Result<String>| -> Option<u64> {
        line.ok()?.strip_prefix("committed ")?.parse().ok()
    };
    let mut last = lines
        .by_ref()
        .find_map(committed)
        .expect("it commits before it is killed");
    std::thread::sleep(wait);
    child.kill().unwrap();
    for line in lines {
        last = committed(line).unwrap_or(last);
    }
    child.wait().unwrap();
    last
}

/// What goes wrong with the files, changed while they are used.
#[derive(Default)]
struct Faults {
    /// So many bytes are still written before the process "dies" inside a write.
    dies_after: Option<AtomicI64>,
    /// So many bytes still fit on the disk; negative means any number.
    room: Option<AtomicI64>,
    /// So many syncs still fail.
    bad_syncs: AtomicU32,
    /// So many checkpoints still fail.
    bad_checkpoints: AtomicU32,
}

struct Faulty(Arc<Faults>);

impl Files for Faulty {
    fn append_to(&mut self, path: &Path) -> io::Result<Box<dyn Append>> {
        Ok(Box::new(FaultyFile {
            file: Disk.append_to(path)?,
            faults: self.0.clone(),
        }))
    }

    fn replace(&mut self, path: &Path, content: &[u8]) -> io::Result<()> {
        if path.ends_with("checkpoint") && take(&self.0.bad_checkpoints) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Disk.replace(path, content)
    }

    fn store(&mut self, path: &Path, content: &[u8]) -> io::Result<()> {
        Disk.store(path, content)
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }
}

struct FaultyFile {
    file: Box<dyn Append>,
    faults: Arc<Faults>,
}

impl Append for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(left) = &self.faults.dies_after {
            let now = left.fetch_sub(bytes.len() as i64, Ordering::Relaxed);
            if now < bytes.len() as i64 {
                self.file.write(&bytes[..now.max(0) as usize]).unwrap();
                // The thread ends here as a killed process would, without a word.
                resume_unwind(Box::new(()));
            }
        }
        if let Some(room) = &self.faults.room {
            let fits = room.load(Ordering::Relaxed);
            if fits >= 0 {
                let part = bytes.len().min(fits as usize);
                room.fetch_sub(part as i64, Ordering::Relaxed);
                if part == 0 {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                return self.file.write(&bytes[..part]);
            }
        }
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        if take(&self.faults.bad_syncs) {
            Err(io::Error::other("input/output error"))
        } else {
            self.file.sync()
        }
    }
}

fn take(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}

fn open(
    log: &LogDir,
    options: Options,
    faults: &Arc<Faults>,
) -> (Log, cloakllm_gateway::audit::Handle) {
    Log::open_on(log.dir(), options, || Box::new(Faulty(faults.clone()))).unwrap()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < limit, "{what} took too long");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn death_inside_a_write_loses_nothing_committed() {
    let mut repaired = 0;
    for first in 0..8 {
        let log = LogDir::with_key();
        for case in 0..25 {
            // Beyond what opening writes, at every distance into the entries.
            die_after(&log, 2600 + 61 * (first * 25 + case));
        }
        let torn = |finding: &&Finding| matches!(finding.problem, Problem::Repaired { .. });
        repaired += log.verify().findings.iter().filter(torn).count();
    }
    assert!(repaired > 150, "only {repaired} lines were torn");
}

/// Writes until the writer dies after so many bytes; then the log is opened and is whole.
fn die_after(log: &LogDir, bytes: i64) {
    let faults = Arc::new(Faults {
        dies_after: Some(AtomicI64::new(bytes)),
        ..Faults::default()
    });
    let (dying, handle) = open(log, log.options(), &faults);
    let before = handle.committed();
    for number in 0.. {
        handle.record(call(number)).unwrap();
        if number % 3 == 0 {
            handle.flush(Duration::from_secs(10));
        }
        if !handle.is_healthy() {
            break;
        }
    }
    let committed = handle.committed();
    drop(dying);
    assert!(committed > before || bytes < 4000, "it wrote something");
    let (opened, _) = Log::open(log.dir(), log.options()).unwrap();
    assert_eq!(opened.dir(), log.dir(), "{:?}", log.warnings());
    opened.close().unwrap();
    let report = intact(&log.verify());
    assert!(report.entries >= committed);
    assert_eq!(report.covered, report.entries);
}

#[test]
fn a_full_disk_lets_traffic_pass_and_leaves_a_gap() {
    let log = LogDir::with_key();
    let faults = Arc::new(Faults {
        room: Some(AtomicI64::new(-1)),
        ..Faults::default()
    });
    let options = Options {
        queue: 8,
        ..log.options()
    };
    let (open, handle) = open(&log, options, &faults);
    handle.record(call(0)).unwrap();
    assert!(handle.flush(Duration::from_secs(10)));

    // Room for an entry and a half, so that a write is cut short.
    faults.room.as_ref().unwrap().store(1200, Ordering::Relaxed);
    until("failing", || {
        handle.record(call(1)).unwrap();
        !handle.is_healthy()
    });
    // As many as it takes: the writer may still be at those that were waiting.
    until("leaving out", || {
        handle.record(call(2)).unwrap();
        handle.missed() >= 100
    });
    let missed = handle.missed();
    assert!(
        matches!(
            log.warnings()[..],
            [
                Warning::CannotWrite {
                    required: false,
                    ..
                },
                Warning::QueueFull
            ] | [Warning::QueueFull, Warning::CannotWrite { .. }]
        ),
        "{:?}",
        log.warnings()
    );

    faults.room.as_ref().unwrap().store(-1, Ordering::Relaxed);
    until("recovering", || handle.is_healthy() && handle.missed() == 0);
    handle.record(call(3)).unwrap();
    open.close().unwrap();
    let gap = |finding: &Finding| match finding.problem {
        Problem::Gap { missed } => missed,
        ref other => panic!("no line was torn: {other}"),
    };
    let told: u64 = intact(&log.verify()).findings.iter().map(gap).sum();
    assert!(told >= missed, "{told} of {missed}");
    assert!(log.warnings().contains(&Warning::Recovered));
}

/// Each of a thousand entries is a group of its own, and none of them can be written.
#[test]
fn a_full_disk_does_not_hold_up_the_end() {
    let log = LogDir::with_key();
    let faults = Arc::new(Faults {
        room: Some(AtomicI64::new(-1)),
        ..Faults::default()
    });
    let options = Options {
        fsync: Fsync::Each,
        ..log.options()
    };
    let (open, handle) = open(&log, options, &faults);
    faults.room.as_ref().unwrap().store(0, Ordering::Relaxed);
    (0..1000).for_each(|number| handle.record(call(number)).unwrap());
    let (tell, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(open.close()));
    // A tenth of a second for each of them would be a minute and a half.
    let closed = ended.recv_timeout(Duration::from_secs(60));
    closed.expect("it ends").unwrap_err();
}

#[test]
fn where_the_log_is_required_a_full_disk_refuses_calls() {
    let log = LogDir::with_key();
    let faults = Arc::new(Faults {
        room: Some(AtomicI64::new(-1)),
        ..Faults::default()
    });
    let options = Options {
        queue: 8,
        required: true,
        ..log.options()
    };
    let (open, handle) = open(&log, options, &faults);
    handle.record(call(0)).unwrap();
    faults.room.as_ref().unwrap().store(0, Ordering::Relaxed);
    until("refusing", || handle.record(call(1)) == Err(Unrecorded));
    until("failing", || !handle.is_healthy());
    assert_eq!(handle.record(call(2)), Err(Unrecorded));
    faults.room.as_ref().unwrap().store(-1, Ordering::Relaxed);
    until("recovering", || handle.record(call(3)).is_ok());
    open.close().unwrap();
    assert!(
        matches!(intact(&log.verify()).findings[..], [ref gap] if matches!(gap.problem, Problem::Gap { missed } if missed >= 2))
    );
}

#[test]
fn a_dead_writer_is_noticed() {
    for required in [false, true] {
        let log = LogDir::with_key();
        let faults = Arc::new(Faults {
            dies_after: Some(AtomicI64::new(4000)),
            ..Faults::default()
        });
        let (open, handle) = open(
            &log,
            Options {
                required,
                ..log.options()
            },
            &faults,
        );
        let mut results = Vec::new();
        until("dying", || {
            results.push(handle.record(call(1)));
            !handle.is_healthy()
        });
        results.push(handle.record(call(1)));
        assert_eq!(results.last().unwrap().is_err(), required);
        assert_eq!(results[0], Ok(()));
        assert_eq!(log.warnings(), [Warning::WriterDied]);
        assert!(open.close().is_err());
    }
}

#[test]
fn a_log_is_closed_although_the_disk_is_full() {
    let log = LogDir::with_key();
    let faults = Arc::new(Faults {
        room: Some(AtomicI64::new(-1)),
        ..Faults::default()
    });
    let (open, handle) = open(&log, log.options(), &faults);
    faults.room.as_ref().unwrap().store(100, Ordering::Relaxed);
    handle.record(call(0)).unwrap();
    assert!(open.close().is_err());
    log.session(|handle| handle.record(call(1)).unwrap());
    assert!(matches!(
        intact(&log.verify()).findings[0].problem,
        Problem::Repaired { bytes: 100 }
    ));
}

#[test]
fn a_sync_that_fails_is_tried_again() {
    let log = LogDir::with_key();
    let faults = Arc::new(Faults::default());
    let (open, handle) = open(&log, log.options(), &faults);
    faults.bad_syncs.store(2, Ordering::Relaxed);
    handle.record(call(0)).unwrap();
    assert!(handle.flush(Duration::from_secs(10)));
    open.close().unwrap();
    assert!(intact(&log.verify()).findings.is_empty());
    assert!(matches!(
        log.warnings()[..],
        [Warning::CannotWrite { .. }, Warning::Recovered]
    ));
}

#[test]
fn a_checkpoint_that_fails_is_made_up_for() {
    let log = LogDir::with_key();
    let faults = Arc::new(Faults::default());
    faults.bad_checkpoints.store(1, Ordering::Relaxed);
    let options = Options {
        checkpoint_entries: 300,
        ..log.options()
    };
    let (open, handle) = open(&log, options, &faults);
    for number in 0..600 {
        handle.record(call(number)).unwrap();
    }
    open.close().unwrap();
    let report = intact(&log.verify());
    assert_eq!(report.covered, report.entries);
    assert!(
        matches!(log.warnings()[0], Warning::Checkpoint { .. }),
        "{:?}",
        log.warnings()
    );
}

#[test]
fn every_fsync_setting_writes_the_same_log() {
    for fsync in [Fsync::Batch, Fsync::Each, Fsync::None] {
        let log = LogDir::with_key();
        log.session_with(
            |options| options.fsync = fsync,
            |handle| {
                (0..50).for_each(|number| handle.record(call(number)).unwrap());
            },
        );
        assert_eq!(intact(&log.verify()).entries, 53, "{fsync:?}");
    }
}

#[test]
fn many_threads_record_at_once() {
    let log = LogDir::with_key();
    let lost = Mutex::new(0);
    log.session(|handle| {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (handle, lost) = (handle.clone(), &lost);
                scope.spawn(move || {
                    (0..1000)
                        .for_each(|number| handle.record(call(thread * 1000 + number)).unwrap());
                    *lost.lock().unwrap() += handle.missed();
                });
            }
        });
    });
    let lanes = verify(log.dir(), &[], &[]).unwrap();
    let report = intact(&lanes[0].report);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!((report.entries, lost.into_inner().unwrap()), (8003, 0));
}
