//! The whole path of a message, checked, read, detected, given tokens and written, by kind of text
//! and by size: `cargo bench -p cloak-stages --bench sanitize`. Bytes are those of the message.

use bytes::Bytes;
use cloak_stages::offload::Work;
use cloak_stages::{Flow, Message, Peer, json};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

use session::{Session, addresses, answer, detectors, parse};

mod session;
#[expect(dead_code, reason = "hard texts are for the detection alone")]
mod texts;

fn main() {
    divan::main();
}

const SIZES: &[usize] = &[200, 5_000, 50_000, 500_000, 5_000_000];

fn run(bencher: Bencher<'_, '_>, raw: &Bytes, work: &impl Work) {
    bencher.counter(BytesCount::of_slice(raw)).bench_local(|| {
        let mut msg = parse(black_box(raw));
        assert_eq!(work.to_model(&mut msg), Flow::Forward);
        msg.into_bytes().unwrap()
    });
}

/// Without the tripwire.
#[divan::bench(args = texts::KINDS, consts = SIZES, min_time = 0.1)]
fn to_model<const SIZE: usize>(bencher: Bencher<'_, '_>, kind: &texts::Kind) {
    let session = Session::new(&detectors());
    run(bencher, &answer(&kind.text(SIZE)), &session.work.0);
}

#[divan::bench(args = texts::KINDS, consts = SIZES, min_time = 0.1)]
fn to_model_with_tripwire<const SIZE: usize>(bencher: Bencher<'_, '_>, kind: &texts::Kind) {
    let session = Session::new(&detectors());
    run(bencher, &answer(&kind.text(SIZE)), &session.work);
}

/// Says everything twice, as servers do: as text and as structured content.
#[divan::bench(args = texts::KINDS, consts = [5_000, 500_000], min_time = 0.1)]
fn said_twice<const SIZE: usize>(bencher: Bencher<'_, '_>, kind: &texts::Kind) {
    let session = Session::new(&detectors());
    let text = json::quote(&kind.text(SIZE));
    let raw = format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{{"content":{text}}}}}}}"#
    );
    run(bencher, &raw.into(), &session.work.0);
}

/// Only what any stage has to do: check, and write again.
#[divan::bench(args = texts::KINDS, consts = SIZES, min_time = 0.1)]
fn pass<const SIZE: usize>(bencher: Bencher<'_, '_>, kind: &texts::Kind) {
    struct Pass;
    impl Work for Pass {
        fn to_model(&self, _: &mut Message) -> Flow {
            Flow::Forward
        }
        fn to_upstream(&self, _: &mut Message) -> Flow {
            Flow::Forward
        }
    }
    run(bencher, &answer(&kind.text(SIZE)), &Pass);
}

/// A call with one token every 600 bytes, in a session of 10,000 values.
#[divan::bench(consts = SIZES, min_time = 0.1)]
fn to_upstream<const SIZE: usize>(bencher: Bencher<'_, '_>) {
    let session = Session::new(&detectors());
    let mut msg = parse(&answer(&addresses(10_000)));
    assert_eq!(session.work.0.to_model(&mut msg), Flow::Forward);
    assert_eq!(session.vault.len(), 10_000);
    let mut text = String::new();
    let mut n = 0;
    while text.len() < SIZE {
        text.push_str(&"lorem ipsum ".repeat(48));
        text.push_str(&format!("[EMAIL_{}] ", n % 10_000));
        n += 7;
    }
    text.truncate(SIZE);
    let text = json::quote(&text);
    let raw: Bytes = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"write_file","arguments":{{"content":{text}}}}}}}"#
    )
    .into();
    bencher.counter(BytesCount::of_slice(&raw)).bench_local(|| {
        let mut msg =
            Message::parse(black_box(&raw).clone(), Peer::Client, Peer::Upstream(0)).unwrap();
        assert_eq!(session.work.0.to_upstream(&mut msg), Flow::Forward);
        msg.into_bytes().unwrap()
    });
}
