//! The parts of the message path, each by itself: `cargo bench -p cloak-stages --bench parts`.
//!
//! With `--once PART` one part runs once, so that callgrind can count its instructions in
//! `measured`; `--list` lists the parts. `benches/regress` does so for all of them.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use cloak_stages::audit::{
    Chain, Digest, Direction, Entry, Event, Id, Name, Outcome, Session as SessionId, Stamp,
};
use cloak_stages::detect::Context;
use cloak_stages::edits::Edits;
use cloak_stages::frame::JsonLines;
use cloak_stages::json::{self, Span};
use cloak_stages::offload::Work;
use cloak_stages::{Flow, Message, Peer};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use tokio_util::codec::Decoder;

use session::{Session, addresses, answer, detectors, parse};

#[expect(dead_code, reason = "the vault is asked elsewhere")]
mod session;
#[expect(dead_code, reason = "hard texts are for the detection alone")]
mod texts;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => list(),
        ["--once", part] => one_thread.unwrap().install(|| {
            let (_, mut run) = prepare(part);
            run();
            measured(&mut run);
        }),
        _ => divan::main(),
    }
}

#[expect(clippy::print_stdout, reason = "it is what was asked for")]
fn list() {
    println!("{}", PARTS.join("\n"));
}

/// What is counted.
#[inline(never)]
fn measured(run: &mut dyn FnMut()) {
    run();
}

#[divan::bench(args = PARTS, min_time = 0.1)]
fn part(bencher: Bencher<'_, '_>, name: &str) {
    let (bytes, run) = prepare(name);
    bencher.counter(BytesCount::new(bytes)).bench_local(run);
}

const PARTS: &[&str] = &[
    "frame-5KB",
    "frame-5MB",
    "parse-prose",
    "parse-code",
    "edits",
    "detect-prose",
    "detect-code",
    "detect-csv",
    "protect-prose",
    "protect-code",
    "protect-csv",
    "restore",
    "vault-known",
    "vault-new",
    "audit-append",
];

const LARGE: usize = 500_000;

/// How many bytes the part works on, and the work.
fn prepare(part: &str) -> (usize, Box<dyn FnMut()>) {
    let (what, kind) = part.split_once('-').unwrap_or((part, ""));
    match what {
        "frame" if kind == "5KB" => frame(&"x".repeat(5_000), 200),
        "frame" => frame(&"x".repeat(5_000_000), 1),
        "parse" => {
            let raw = answer(&text(kind));
            let bytes = raw.len();
            (bytes, Box::new(move || drop(black_box(parse(&raw)))))
        }
        "edits" => edits(),
        "detect" => {
            let text = text(kind);
            let detectors = detectors();
            let mut found = Vec::new();
            let bytes = text.len();
            let run = move || detectors.find(black_box(&text), Context::default(), &mut found);
            (bytes, Box::new(run))
        }
        "protect" => {
            let session = Session::new(&detectors());
            let raw = answer(&text(kind));
            (raw.len(), Box::new(move || to_model(&session, &raw)))
        }
        "restore" => restore(),
        "vault" => vault(kind == "new"),
        "audit" => audit(),
        _ => panic!("there is no part \"{part}\""),
    }
}

fn text(kind: &str) -> String {
    let mut kinds = texts::KINDS.iter();
    let kind = kinds.find(|known| known.to_string() == kind);
    kind.expect("a kind of text").text(LARGE)
}

/// Lines that arrive in the pieces in which a pipe hands them out.
fn frame(line: &str, count: usize) -> (usize, Box<dyn FnMut()>) {
    const PIECE: usize = 64 << 10;
    let stream = format!("{line}\n").repeat(count);
    let bytes = stream.len();
    let run = move || {
        let mut codec = JsonLines::default();
        let mut buffer = BytesMut::with_capacity(PIECE);
        for piece in stream.as_bytes().chunks(PIECE) {
            buffer.extend_from_slice(piece);
            while let Ok(Some(frame)) = codec.decode(&mut buffer) {
                black_box(frame);
            }
        }
    };
    (bytes, Box::new(run))
}

/// One edit in every hundred bytes.
fn edits() -> (usize, Box<dyn FnMut()>) {
    let raw = vec![b'x'; 1_000_000];
    let run = move || {
        let mut edits = Edits::new();
        for at in (0..raw.len()).step_by(100) {
            edits.push(Span::new(at + 20, at + 40), b"[EMAIL_0]");
        }
        edits.settle().unwrap();
        let mut out = Vec::with_capacity(edits.length(&raw));
        edits.write(&raw, &mut out);
        black_box(out);
    };
    (1_000_000, Box::new(run))
}

fn to_model(session: &Session, raw: &Bytes) {
    let mut msg = parse(black_box(raw));
    assert_eq!(session.work.to_model(&mut msg), Flow::Forward);
    black_box(msg.into_bytes().unwrap());
}

/// A call with one token every 600 bytes, in a session of 10,000 values.
fn restore() -> (usize, Box<dyn FnMut()>) {
    let session = Session::new(&detectors());
    to_model(&session, &answer(&addresses(10_000)));
    let words = "lorem ipsum ".repeat(48);
    let tokens = (0..LARGE / 600).map(|n| format!("{words}[EMAIL_{}] ", n * 7 % 10_000));
    let text = json::quote(&tokens.collect::<String>());
    let raw: Bytes = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"write_file","arguments":{{"content":{text}}}}}}}"#
    )
    .into();
    let bytes = raw.len();
    let run = move || {
        let raw = black_box(&raw).clone();
        let mut msg = Message::parse(raw, Peer::Client, Peer::Upstream(0)).unwrap();
        assert_eq!(session.work.to_upstream(&mut msg), Flow::Forward);
        black_box(msg.into_bytes().unwrap());
    };
    (bytes, Box::new(run))
}

/// A message of 10,000 addresses that a session knows already, or in a session of its own.
fn vault(new: bool) -> (usize, Box<dyn FnMut()>) {
    let raw = answer(&addresses(10_000));
    let bytes = raw.len();
    let detectors = detectors();
    let mut session = Session::new(&detectors);
    let run = move || {
        if new {
            session = Session::new(&detectors);
        }
        to_model(&session, &raw);
    };
    (bytes, Box::new(run))
}

/// A thousand entries.
fn audit() -> (usize, Box<dyn FnMut()>) {
    const STAMP: Stamp = Stamp {
        utc_micros: 1_796_110_200_000_000,
        mono_micros: 5,
        session: SessionId(9),
    };
    let mut entry = Entry::new(Event::ToolsCall);
    entry.direction = Some(Direction::ToModel);
    entry.outcome = Some(Outcome::Forwarded);
    entry.upstream = Name::parse("files");
    entry.method = Some(Name::literal("tools/call"));
    entry.id = Some(Id::Number(7));
    (entry.bytes_in, entry.bytes_out) = (1834, 1790);
    entry.count(Name::literal("EMAIL"), 2);
    entry.before = Some(Digest([7; 32]));
    entry.after = Some(Digest([9; 32]));
    entry.latency = Duration::from_micros(157);
    let mut log = Vec::new();
    Chain::genesis().append(&STAMP, &entry, &mut log);
    let bytes = 1_000 * log.len();
    let run = move || {
        let mut chain = Chain::genesis();
        for _ in 0..1_000 {
            log.clear();
            chain.append(&STAMP, black_box(&entry), &mut log);
        }
    };
    (bytes, Box::new(run))
}
