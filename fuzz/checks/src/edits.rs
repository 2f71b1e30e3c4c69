//! Edits of a text, and of a message.

use std::collections::BTreeMap;

use bytes::Bytes;
use cloak_stages::edits::Edits;
use cloak_stages::json::{self, Span};
use cloak_stages::{Message, Peer};

use crate::pieces::byte;

/// Longer than what a message is copied for: its edits leave as pieces.
const LONG: usize = 20 << 10;

/// Edits come out as plain replacements, from the last to the first, would; two that overlap are
/// refused.
pub fn edits(mut input: &[u8]) {
    let long = byte(&mut input) % 2 == 1;
    let mut raw: Vec<u8> = (0..=u8::MAX).map(|byte| b'a' + byte % 26).collect();
    if long {
        raw.resize(LONG, b'-');
    }
    let mut wanted = Vec::new();
    while let [start, length, text, rest @ ..] = input {
        let start = usize::from(*start);
        let end = (start + usize::from(length % 32)).min(raw.len());
        let text = format!("<{}>", "x".repeat(usize::from(text % 40)));
        wanted.push((Span::new(start, end), text));
        input = rest;
    }
    let mut edits = Edits::new();
    for (at, text) in &wanted {
        edits.push(*at, text.as_bytes());
    }
    let settled = edits.settle();
    let Some(plain) = replaced(&raw, &wanted) else {
        assert!(settled.is_err(), "an overlap was not seen");
        return;
    };
    assert_eq!(settled, Ok(()));
    let mut out = Vec::new();
    edits.write(&raw, &mut out);
    assert_eq!(out, plain);
    assert_eq!(edits.length(&raw), plain.len());
    assert!(edits.iter().map(|(at, _)| at).is_sorted());
    message(&raw, &wanted, &plain);
}

/// `raw` with the edits made; none if they overlap. Of two edits of one span the later counts, and
/// what is inserted at one place stays in order.
fn replaced(raw: &[u8], edits: &[(Span, String)]) -> Option<Vec<u8>> {
    let mut by_place: BTreeMap<Span, Vec<&str>> = BTreeMap::new();
    for (at, text) in edits {
        let texts = by_place.entry(*at).or_default();
        if !at.is_empty() {
            texts.clear();
        }
        texts.push(text);
    }
    let spans: Vec<Span> = by_place.keys().copied().collect();
    if spans.windows(2).any(|pair| pair[0].end > pair[1].start) {
        return None;
    }
    let mut out = raw.to_vec();
    for (at, texts) in by_place.into_iter().rev() {
        out.splice(at.range(), texts.concat().into_bytes());
    }
    Some(out)
}

/// The same edits in the string of a message: it leaves as the edited text, in one piece or in
/// several, and says the same once settled.
fn message(raw: &[u8], edits: &[(Span, String)], plain: &[u8]) {
    let (head, tail) = (r#"{"jsonrpc":"2.0","id":1,"result":{"text":""#, r#""}}"#);
    let shift = head.len() as u32;
    let whole = |text: &[u8]| Bytes::from([head.as_bytes(), text, tail.as_bytes()].concat());
    let mut msg = Message::parse(whole(raw), Peer::Upstream(0), Peer::Client).expect("a message");
    for (at, text) in edits {
        let at = Span {
            start: at.start + shift,
            end: at.end + shift,
        };
        msg.edit(at, text.as_bytes());
    }
    msg.set_id(b"\"fs:1\"");
    let mut settled = msg.clone();
    settled.settle().expect("the edits do not overlap");
    assert_eq!(settled.id().map(|id| &id[..]), Some(&b"\"fs:1\""[..]));
    assert_eq!(settled.text(&["text"]).expect("a text").as_bytes(), plain);
    let pieces = msg.into_pieces().expect("the edits do not overlap");
    assert_eq!(&pieces.concat()[..], &settled.raw()[..]);
    assert_eq!(json::check(settled.raw()), Ok(()));
}
