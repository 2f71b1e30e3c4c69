//! A client that asks a lot, and what it may expect.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::PLANTED;
use crate::support::Client;

/// More files than this are open in no gateway with two servers.
#[cfg(target_os = "linux")]
const MOST_FILES: usize = 40;

/// Talks to the gateway and goes. Returns what the gateway logged.
pub(super) fn run(mut gateway: Client, rng: &mut Rng) -> String {
    gateway.greet("2025-11-25", r#"{"sampling":{},"roots":{}}"#);
    gateway.notify("notifications/initialized", "{}");
    let mut asked = Asked::default();
    asked.owed.push("0".to_owned());
    for id in 1..rng.u32(5..40) {
        step(&mut gateway, id, &mut asked, rng);
        if rng.bool() {
            thread::sleep(Duration::from_micros(rng.u64(..3000)));
        }
    }
    // Each ends in another way; only who stays is owed all answers.
    let stays = rng.u8(..4) != 0;
    let mut answers = HashMap::new();
    if stays {
        while asked.owed.iter().any(|id| !answers.contains_key(id)) {
            let msg = gateway.json();
            hear(&mut gateway, msg, &mut answers, rng);
        }
        #[cfg(target_os = "linux")]
        assert!(
            files_of(&gateway) <= MOST_FILES,
            "{} files",
            files_of(&gateway)
        );
    }
    let ending = rng.u8(..4);
    match ending {
        0 => kill_process(gateway.pid(), Signal::TERM).unwrap(),
        1 if !stays => {
            gateway.turn_away();
            gateway.close();
        }
        _ => gateway.close(),
    }
    while let Some(line) = gateway.maybe_line() {
        let msg = crate::support::json(&line);
        count(&msg, &mut answers);
    }
    for (id, count) in &answers {
        let known = asked.owed.contains(id) || asked.cancelled.contains(id);
        assert!(*count == 1 && known, "{count} answers to {id}");
    }
    let seen = String::from_utf8_lossy(&gateway.seen).into_owned();
    assert!(!seen.contains(PLANTED), "{seen}");
    let (status, log) = gateway.wait();
    // Who is told to go before it has begun just goes; a log that a full disk cut off is no success.
    let early = ending == 0 && !stays && status.signal() == Some(Signal::TERM.as_raw());
    let cut = status.code() == Some(1) && log.contains("closed while it could not be written");
    assert!(status.success() || early || cut, "{status}: {log}");
    log
}

/// Ids of requests.
#[derive(Default)]
struct Asked {
    owed: Vec<String>,
    /// Answered or not, as it happens.
    cancelled: Vec<String>,
}

/// Does one thing.
fn step(gateway: &mut Client, id: u32, asked: &mut Asked, rng: &mut Rng) {
    let id = if rng.bool() {
        id.to_string()
    } else {
        format!("\"{id}\"")
    };
    let server = if rng.bool() { "a" } else { "b" };
    let call = |size: usize| {
        let text = "[EMAIL_0] ".repeat(size);
        json!({"name": format!("{server}__t"), "arguments": {"text": text}}).to_string()
    };
    match rng.u8(..20) {
        0 => gateway.ask(&id, "tools/list", "{}"),
        1 => gateway.ask(&id, "resources/list", "{}"),
        2 => gateway.ask(&id, "resources/read", r#"{"uri":"x:1"}"#),
        3 => gateway.ask(&id, "ping", "{}"),
        4 => gateway.ask(&id, "no/such", "{}"),
        5 => gateway.ask(&id, "tools/call", &call(10_000)),
        // Longer than a message may be.
        6 => gateway.ask(&id, "tools/call", &call(30_000)),
        7 => {
            gateway.send("no JSON at all");
            return;
        }
        8 => {
            gateway.notify("notifications/roots/list_changed", "{}");
            return;
        }
        9 => {
            let ears = gateway.ears.clone();
            let millis = rng.u64(..60);
            thread::spawn(move || {
                let _closed = ears.lock();
                thread::sleep(Duration::from_millis(millis));
            });
            return;
        }
        10 => {
            kill_process(gateway.pid(), Signal::STOP).unwrap();
            thread::sleep(Duration::from_millis(rng.u64(..400)));
            kill_process(gateway.pid(), Signal::CONT).unwrap();
            return;
        }
        11 => {
            gateway.ask(&id, "tools/call", &call(1));
            gateway.notify(
                "notifications/cancelled",
                &format!(r#"{{"requestId":{id}}}"#),
            );
            return asked.cancelled.push(id);
        }
        _ => gateway.ask(&id, "tools/call", &call(1)),
    }
    asked.owed.push(id);
}

fn hear(gateway: &mut Client, msg: Value, answers: &mut HashMap<String, u32>, rng: &mut Rng) {
    count(&msg, answers);
    if msg.get("method").is_some() && msg.get("id").is_some() && rng.bool() {
        let id = &msg["id"];
        gateway.send(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#
        ));
    }
}

/// Counts an answer to one of the client's requests.
fn count(msg: &Value, answers: &mut HashMap<String, u32>) {
    if msg.get("method").is_none() && !msg["id"].is_null() {
        *answers.entry(msg["id"].to_string()).or_default() += 1;
    }
}

#[cfg(target_os = "linux")]
fn files_of(gateway: &Client) -> usize {
    let folder = format!("/proc/{}/fd", gateway.pid().as_raw_nonzero());
    std::fs::read_dir(folder).unwrap().count()
}
