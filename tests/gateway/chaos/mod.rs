//! Disorder by seed: servers that die, stall, flood and lie, clients that do not listen or go away,
//! full pipes, full disks, and a process that is stopped for a while.
//!
//! `CHAOS_SCHEDULES` says how many schedules are played, `CHAOS_SEED` which is the first. A failure
//! names its seed; threads and processes run as they like, so it may take some tries to see it again.

mod client;
mod server;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde_json::json;

use crate::support::Setup;

/// What servers write everywhere, and nobody may see.
const PLANTED: &str = "planted.value@example.eu";

/// Schedules that are played unless the environment says otherwise.
const SCHEDULES: u64 = 100;

/// How many are played at a time: they wait most of the time.
const AT_A_TIME: usize = 8;

#[test]
fn whatever_happens_a_request_is_answered_once() {
    let first = number("CHAOS_SEED").unwrap_or(1);
    let end = first + number("CHAOS_SCHEDULES").unwrap_or(SCHEDULES);
    let next = AtomicU64::new(first);
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    if let Err(why) = catch_unwind(AssertUnwindSafe(|| play(seed))) {
                        failed.store(true, Ordering::Relaxed);
                        eprintln!("failed: CHAOS_SEED={seed}");
                        resume_unwind(why);
                    }
                }
            });
        }
    });
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn play(seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let mut setup = Setup::new(&["a", "b"])
        .set("/sanitize", json!(true))
        .set("/detection", json!({"ner_model": "none"}))
        .set("/max_message", json!("256 KiB"))
        .set("/request_timeout", json!(0.3));
    for name in ["a", "b"] {
        setup = setup.set(&format!("/upstreams/{name}/startup_timeout"), json!(0.5));
    }
    let audited = rng.u8(..3) == 0;
    if audited {
        let dir = setup.dir().join("audit");
        let each = if rng.bool() { "each" } else { "none" };
        setup = setup.set("/audit", json!({"dir": dir, "fsync": each}));
    }
    let gateway = match rng.u8(..4) {
        // An audit log that cannot even begin is a reason not to start.
        0 if audited => setup.start_on_full_disk(rng.u32(16..40)),
        0 => setup.start_on_full_disk(rng.u32(..2)),
        _ => setup.start(),
    };
    let over = &AtomicBool::new(false);
    let (setup, log) = thread::scope(|scope| {
        let servers = scope.spawn(move || {
            for incarnation in 0.. {
                let last = over.load(Ordering::Relaxed);
                if let Some(server) = setup.arrival(Duration::from_millis(20)) {
                    let rng = Rng::with_seed(seed << 8 | incarnation);
                    // Each is waited for until its process is gone.
                    scope.spawn(move || server::run(&server, rng));
                } else if last {
                    break;
                }
            }
            setup
        });
        let log = catch_unwind(AssertUnwindSafe(|| client::run(gateway, &mut rng)));
        over.store(true, Ordering::Relaxed);
        let setup = servers.join().expect("servers are only listened to");
        (setup, log.unwrap_or_else(|why| resume_unwind(why)))
    });
    assert!(!log.contains(PLANTED), "{log}");
    assert_clean(setup.dir());
}

/// No file below `dir` has the planted value.
fn assert_clean(dir: &Path) {
    for file in fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            assert_clean(&path);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(PLANTED), "{}", path.display());
        }
    }
}
