//! The tripwire reads again what was edited, and finds all that it would find if nobody had looked
//! before it.

use cloak_stages::json::{self, Span};
use cloak_stages::offload::Work;
use cloak_stages::{Flow, Message, Peer};
use proptest::prelude::*;

use crate::gate::Gate;

/// Where [`edited`] writes into a text.
const MARK: &str = "quam";

/// An answer with this text in it as it is, as JSON, in structured content, and again.
fn answer(text: &str) -> String {
    let text = json::quote(text);
    let inside = json::quote(&format!(
        r#"{{"first_name":{text},"list":[{text},4111111111111111],"{MARK}":1}}"#
    ));
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}},{{"type":"text","text":{inside}}}],"structuredContent":{{"a":{text},"phone":{text}}}}}}}"#
    )
}

/// Writes `news`, in turn, in place of each [`MARK`], as a stage might that stands between.
fn edited(msg: &mut Message, news: &[&str]) {
    let raw = msg.raw().clone();
    let text = std::str::from_utf8(&raw).unwrap();
    for ((at, _), new) in text.match_indices(MARK).zip(news.iter().cycle()) {
        msg.edit(Span::new(at, at + MARK.len()), new.as_bytes());
    }
}

fn parsed(raw: bytes::Bytes) -> Message {
    let mut msg = Message::parse(raw, Peer::Upstream(0), Peer::Client).unwrap();
    msg.set_answers("tools/call".into());
    msg
}

/// What leaves, and what the tripwire told of it; vouched for by the protection or not.
fn left(text: &str, news: &[&str]) -> [(String, Vec<String>); 2] {
    let gate = Gate::new();
    let (protect, _) = gate.lane(0);
    let mut vouched = parsed(answer(text).into());
    assert_eq!(protect.to_model(&mut vouched), Flow::Forward);
    vouched.settle().unwrap();
    let new = parsed(vouched.raw().clone());
    [vouched, new].map(|mut msg| {
        edited(&mut msg, news);
        let before = gate.log().len();
        let (_, tripwire) = gate.lane(0);
        Work::to_model(&tripwire, &mut msg);
        let bytes = msg.into_bytes().unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        (text, gate.log().split_off(before))
    })
}

fn filler(length: usize) -> String {
    "lorem ipsum dolor sit amet, ".repeat(length / 28 + 1)
}

#[test]
fn beside_across_and_out_of_an_edit() {
    let (before, after) = (filler(2000), filler(2000));
    for (text, new, leak) in [
        // A value that the edit writes, also right beside what stays.
        ("to quam.", "lea@example.eu", "lea@e"),
        ("in 203.0.113.9quam b", " ", "203.0.113.9"),
        // One that begins before it, ends behind it, or both.
        ("to lea@quam .", "example.eu", "lea@e"),
        ("to quamexample.eu .", "x, lea@", "lea@e"),
        ("card 4111 1111 quam 1111", "1111", "4111 1111 1111 1111"),
        // One that was two halves.
        ("ssn 521-44quam-9382 .", "", "521-44-9382"),
    ] {
        let [near, whole] = left(&format!("{before}{text} {after}"), &[new]);
        assert!(!near.0.contains(leak), "{text}");
        assert!(!near.1.is_empty(), "{text}");
        assert_eq!(near, whole);
    }
}

#[test]
fn a_text_that_an_edit_makes_json_is_read_as_json() {
    // The first is no JSON as it arrives.
    let text = r#"{"a":"jo\u0065\u0040example.eu","b":quam}"#;
    let [near, whole] = left(text, &["1"]);
    assert!(!near.0.contains("example.eu"), "{}", near.0);
    assert_eq!(near, whole);
    let text = format!(
        r#"{{"a":"{}","b":1, "c":"{} quam"}}"#,
        filler(1500),
        filler(1500)
    );
    let [near, whole] = left(&text, &["lea@example.eu"]);
    assert!(!near.0.contains("lea@e"), "{}", near.0);
    assert_eq!(near, whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn as_if_nobody_had_looked(
        parts in prop::collection::vec(
            prop_oneof![
                4 => prop::sample::select(vec![
                    "quam", "quam", "quam", " ", "\n", "\"", "\\", ",", ":", "{", "}", "é", "\u{a0}",
                    "marie@example.eu", "lea@", "@example.eu", "example", ".eu", "203.0.113", ".9",
                    "card ", "4111 ", "1111 ", "4111111111111111", "first_name: ", "Marie ", "ssn ",
                    "521-44-9382", "+46 8 123 456 78", "password=", "zX81kkQ0p", "\\u0040",
                    "id,last_name\n", "[EMAIL_0]", "-----BEGIN PRIVATE KEY-----",
                ]).prop_map(str::to_owned),
                1 => (0_usize..900).prop_map(filler),
            ],
            1..40,
        ),
        news in prop::collection::vec(
            prop::sample::select(vec![
                "", " ", "x", "1", "1111", "@", "lea", "lea@example.eu", "example.eu", ".", "\\n",
                "[EMAIL_0]", "203.0.113.9", "\\u0040",
            ]),
            1..6,
        ),
    ) {
        let [near, whole] = left(&parts.concat(), &news);
        prop_assert_eq!(near, whole);
    }
}
