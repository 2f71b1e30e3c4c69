//! A log in a temporary directory, with a clock that stands still and warnings that are kept.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part of it"
)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cloak_stages::audit::{Direction, Entry, Event, Id, Name, Outcome, Report, Token, VerifierKey};
use cloakllm_gateway::audit::{Clock, Handle, KeyFile, Log, Now, Options, Warning, verify};

/// 2026-12-01T07:30:00Z.
const MORNING: i64 = 1_796_110_200_000_000;

/// Moves on by a microsecond each time it is asked, and otherwise only when it is moved.
pub struct TestClock {
    pub utc: AtomicI64,
    mono: AtomicU64,
}

impl Clock for TestClock {
    fn now(&self) -> Now {
        let passed = self.mono.fetch_add(1, Ordering::Relaxed);
        Now {
            utc_micros: self.utc.load(Ordering::Relaxed) + passed as i64,
            mono_micros: passed,
        }
    }
}

pub struct LogDir {
    parent: tempfile::TempDir,
    dir: PathBuf,
    key: Option<PathBuf>,
    pub clock: Arc<TestClock>,
    warnings: Arc<Mutex<Vec<Warning>>>,
}

impl LogDir {
    pub fn without_key() -> Self {
        let parent = tempfile::tempdir().unwrap();
        Self {
            dir: parent.path().join("log"),
            parent,
            key: None,
            clock: Arc::new(TestClock {
                utc: AtomicI64::new(MORNING),
                mono: AtomicU64::new(0),
            }),
            warnings: Arc::default(),
        }
    }

    pub fn with_key() -> Self {
        let mut log = Self::without_key();
        log.make_key();
        log
    }

    /// Makes a key that no other key has signed for.
    pub fn make_key(&mut self) {
        let path = self.parent.path().join(if self.key.is_some() {
            "other.key"
        } else {
            "audit.key"
        });
        KeyFile::generate(&path, Some("test/log"), false).unwrap();
        self.key = Some(path);
    }

    pub fn rotate_key(&self) {
        KeyFile::generate(self.key.as_ref().unwrap(), None, true).unwrap();
    }

    pub fn key(&self) -> KeyFile {
        KeyFile::load(self.key.as_ref().unwrap()).unwrap()
    }

    pub fn key_path(&self) -> &Path {
        self.key.as_ref().unwrap()
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn options(&self) -> Options {
        let warnings = self.warnings.clone();
        Options {
            key: self.key.is_some().then(|| self.key()),
            clock: self.clock.clone(),
            warnings: Arc::new(move |warning| warnings.lock().unwrap().push(warning.clone())),
            // Only closing makes checkpoints, unless a test wants others.
            checkpoint_every: Duration::MAX,
            checkpoint_entries: u64::MAX,
            ..Options::default()
        }
    }

    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings.lock().unwrap().clone()
    }

    /// Opens the log, does something with it, and closes it.
    pub fn session(&self, work: impl FnOnce(&Handle)) {
        self.session_with(|_| {}, work);
    }

    pub fn session_with(&self, options: impl FnOnce(&mut Options), work: impl FnOnce(&Handle)) {
        let mut chosen = self.options();
        options(&mut chosen);
        let (log, handle) = Log::open(&self.dir, chosen).unwrap();
        assert_eq!(log.dir(), self.dir, "the log was found damaged");
        work(&handle);
        log.close().unwrap();
    }

    pub fn verify(&self) -> Report {
        self.verify_with(&[])
    }

    pub fn verify_with(&self, keys: &[VerifierKey]) -> Report {
        let mut lanes = verify(&self.dir, keys, &[]).unwrap();
        assert_eq!(lanes.len(), 1);
        lanes.remove(0).report
    }

    pub fn days(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.dir).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut days: Vec<_> = names.filter(|name| name.ends_with(".jsonl")).collect();
        days.sort();
        days
    }
}

pub fn quiet() -> Options {
    Options {
        warnings: Arc::new(|_| {}),
        ..Options::default()
    }
}

pub fn intact(report: &Report) -> Report {
    assert!(report.is_intact(), "{:?}", report.findings);
    report.clone()
}

/// What a gateway records of a call, with all that an entry can hold.
pub fn call(number: i64) -> Entry {
    let mut entry = Entry::new(Event::ToolsCall);
    entry.direction = Some(Direction::ToModel);
    entry.outcome = Some(Outcome::Forwarded);
    entry.upstream = Name::parse("files");
    entry.method = Name::parse("tools/call");
    entry.tool = Name::parse("read_text_file");
    entry.id = Some(Id::Number(number));
    (entry.bytes_in, entry.bytes_out) = (1834, 1790);
    (entry.strings_seen, entry.strings_changed) = (12, 2);
    entry.count(Name::literal("EMAIL"), 2);
    entry.count(Name::literal("IBAN"), 1);
    entry.tokens = vec![
        Token {
            category: Name::literal("EMAIL"),
            number: 0,
        },
        Token {
            category: Name::literal("IBAN"),
            number: 3,
        },
    ];
    entry.after = Some(cloak_stages::audit::Digest::of(&number.to_be_bytes()));
    entry.latency = Duration::from_micros(150 + number.unsigned_abs() % 50);
    entry.spent(Name::literal("detect"), Duration::from_micros(100));
    entry.spent(Name::literal("frame"), Duration::from_micros(7));
    entry
}
