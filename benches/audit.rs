//! What the audit log costs: on the message path, in the writer, and when it is verified.

#![allow(missing_docs, reason = "a bench has no documentation")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cloak_stages::audit::{
    Chain, Digest, Direction, Entry, Event, Id, Name, Outcome, PayloadKey, Session, Stamp, Token,
    Verifier, leaf_hash,
};
use cloakllm_gateway::audit::{Fsync, KeyFile, Log, Options, verify};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// What a gateway records of a call, with all that an entry can hold.
fn call() -> Entry {
    let mut entry = Entry::new(Event::ToolsCall);
    entry.direction = Some(Direction::ToModel);
    entry.outcome = Some(Outcome::Forwarded);
    entry.upstream = Name::parse("files");
    entry.method = Some(Name::literal("tools/call"));
    entry.tool = Name::parse("read_text_file");
    entry.id = Some(Id::Number(7));
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
    entry.before = Some(Digest([7; 32]));
    entry.after = Some(Digest([9; 32]));
    entry.latency = Duration::from_micros(157);
    entry.spent(Name::literal("detect"), Duration::from_micros(100));
    entry.spent(Name::literal("frame"), Duration::from_micros(7));
    entry
}

const STAMP: Stamp = Stamp {
    utc_micros: 1_796_110_200_000_000,
    mono_micros: 5,
    session: Session(9),
};

#[divan::bench]
fn build_entry() -> Entry {
    call()
}

#[divan::bench]
fn chain_and_hash_an_entry(bencher: Bencher) {
    let (entry, mut chain, mut out) = (call(), Chain::genesis(), Vec::with_capacity(2048));
    bencher.bench_local(move || {
        out.clear();
        leaf_hash(chain.append(&STAMP, black_box(&entry), &mut out))
    });
}

#[divan::bench(args = [200, 5_000, 50_000])]
fn digest_a_payload_twice(bencher: Bencher, bytes: usize) {
    let (key, payload) = (PayloadKey::new([1; 32]), vec![b'x'; bytes]);
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| (key.digest(&payload), Digest::of(&payload)));
}

fn options(dir: &Path, fsync: Fsync) -> Options {
    let key = KeyFile::generate(&dir.join("audit.key"), Some("bench/log"), false).unwrap();
    Options {
        key: Some(key),
        fsync,
        queue: 1 << 16,
        warnings: Arc::new(|_| {}),
        ..Options::default()
    }
}

/// The cost on the message path: building the entry and handing it over, while the writer writes.
#[divan::bench(args = [Fsync::Batch, Fsync::None], sample_count = 200, sample_size = 100)]
fn record(bencher: Bencher, fsync: Fsync) {
    let dir = tempfile::tempdir().unwrap();
    let (log, handle) = Log::open(&dir.path().join("log"), options(dir.path(), fsync)).unwrap();
    bencher.bench_local(|| handle.record(call()));
    log.close().unwrap();
}

/// Entries a second, from the first handed over to the last durable.
#[divan::bench(args = [Fsync::Batch, Fsync::None], sample_count = 5, sample_size = 1)]
fn sustained(bencher: Bencher, fsync: Fsync) {
    const ENTRIES: usize = 400_000;
    let dir = tempfile::tempdir().unwrap();
    let (log, handle) = Log::open(&dir.path().join("log"), options(dir.path(), fsync)).unwrap();
    let entry = call();
    bencher.counter(ItemsCount::new(ENTRIES)).bench_local(|| {
        for number in 0..ENTRIES {
            handle.record(entry.clone()).unwrap();
            // Faster than the writer: wait rather than lose entries, so that all are counted.
            if number % 16_384 == 0 {
                handle.flush(Duration::from_secs(60));
            }
        }
        assert!(handle.flush(Duration::from_secs(60)));
    });
    assert_eq!(handle.missed(), 0);
    log.close().unwrap();
}

fn lines(entries: usize) -> Vec<u8> {
    let (entry, mut chain, mut out) = (call(), Chain::genesis(), Vec::new());
    for _ in 0..entries {
        chain.append(&STAMP, &entry, &mut out);
        out.push(b'\n');
    }
    out
}

#[divan::bench]
fn verify_in_memory(bencher: Bencher) {
    const ENTRIES: usize = 10_000;
    let log = lines(ENTRIES);
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .counter(BytesCount::new(log.len()))
        .bench_local(|| {
            let mut verifier = Verifier::new(&[], |_: &str| None);
            verifier.read("audit_2026-12-01.jsonl", &log[..]).unwrap();
            assert!(verifier.finish().is_intact());
        });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn verify_a_directory(bencher: Bencher) {
    const ENTRIES: usize = 100_000;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let (log, handle) = Log::open(&path, options(dir.path(), Fsync::Batch)).unwrap();
    for number in 0..ENTRIES {
        handle.record(call()).unwrap();
        if number % 16_384 == 0 {
            handle.flush(Duration::from_secs(60));
        }
    }
    log.close().unwrap();
    bencher
        .counter(ItemsCount::new(ENTRIES))
        .bench_local(|| assert!(verify(&path, &[], &[]).unwrap()[0].report.is_intact()));
}
