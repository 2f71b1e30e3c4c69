//! Spans over JSON say what a common parser says.

use std::fmt;

use cloak_stages::json::{self, MAX_DEPTH, NotJson, Offsets, Shape};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::pieces::spell;

const PIECES: &[&[u8]] = &[
    b"{\"a\":",
    b"\"a\":1",
    b"\"",
    b"\\\"",
    b"\\\\",
    b"\\u00e9",
    b"\\ud83d",
    b"\\ude00",
    b"\\ud83d\\ude00",
    b"\\n",
    b"\\u0000",
    "\u{e9}".as_bytes(),
    "\u{1f600}".as_bytes(),
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    b"true",
    b"false",
    b"null",
    b"-0.5e+10",
    b"18446744073709551616",
    b"1e999",
    b"\xff",
    b"\xed\xa0\x80",
    b"{}",
    b"[]",
    b",",
    b":",
    b"}",
    b"]",
    b"[1,\"x\",{\"b\":null}]",
    b"\"key\":\"value\",",
    b"                                                                ",
];

/// What is taken for JSON, where its strings stand and what they say is the same as with
/// `serde_json`, apart from the limit of the depth.
pub fn json(input: &[u8]) {
    let text = spell(input, PIECES);
    let ours = json::check(&text);
    let theirs = serde_json::from_slice::<&RawValue>(&text);
    match (&ours, &theirs) {
        (Ok(()), Err(why)) => panic!("ours takes what theirs does not: {why}"),
        (Err(NotJson::Depth(_)), _) => assert!(text.len() > MAX_DEPTH),
        (Err(why), Ok(_)) => panic!("theirs takes what ours does not: {why}"),
        _ => {}
    }
    // On other texts the walk may say anything, but it ends, and within bounds.
    let start = text.len() - text.trim_ascii_start().len();
    let end = json::skip(&text, start);
    match (ours, theirs) {
        (Ok(()), Ok(theirs)) => {
            assert_eq!(&text[start..end], theirs.get().as_bytes());
            value(&text, start, theirs);
        }
        _ => {
            let members = json::members(&text, start).map(|(_, at)| at);
            for at in members.chain(json::items(&text, start)) {
                assert!(at <= text.len());
            }
        }
    }
}

fn value(text: &[u8], at: usize, theirs: &RawValue) {
    assert_eq!(
        &text[at..json::skip(text, at)],
        theirs.get().as_bytes(),
        "the value at {at}",
    );
    match json::shape(text, at) {
        Shape::Object => object(text, at, theirs),
        Shape::Array => {
            let theirs: Vec<&RawValue> = serde_json::from_str(theirs.get()).expect("an array");
            let ours: Vec<usize> = json::items(text, at).collect();
            assert_eq!(ours.len(), theirs.len());
            for (at, theirs) in ours.into_iter().zip(theirs) {
                value(text, at, theirs);
            }
        }
        Shape::String => string(&text[at + 1..json::skip(text, at) - 1], theirs.get()),
        Shape::Bool => assert!(serde_json::from_str::<bool>(theirs.get()).is_ok()),
        Shape::Null => assert_eq!(theirs.get(), "null"),
        Shape::Number => assert!(
            theirs
                .get()
                .starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        ),
    }
}

fn object(text: &[u8], at: usize, theirs: &RawValue) {
    let Ok(Members(theirs)) = serde_json::from_str(theirs.get()) else {
        // The name of a member has half a character, which theirs refuses.
        assert!(theirs.get().contains("\\u"));
        return;
    };
    let ours: Vec<_> = json::members(text, at).collect();
    assert_eq!(ours.len(), theirs.len());
    for ((key, at), (name, theirs)) in ours.into_iter().zip(theirs) {
        assert_eq!(json::decode(key.of(text)), name);
        assert!(json::same_text(key.of(text), name.as_bytes()));
        value(text, at, theirs);
    }
}

/// `raw` is the content of the string, `theirs` all of it.
fn string(raw: &[u8], theirs: &str) {
    let ours = json::decode(raw);
    match serde_json::from_str::<String>(theirs) {
        Ok(theirs) => {
            assert_eq!(ours, theirs);
            let again = json::quote(&ours);
            assert_eq!(serde_json::from_str::<String>(&again).ok(), Some(theirs));
        }
        Err(_) => assert!(ours.contains('\u{fffd}'), "half a character"),
    }
    let mut offsets = Offsets::new(raw);
    let places = ours.char_indices().map(|(at, _)| at);
    for at in places.chain([ours.len()]).take(100) {
        let place = offsets.raw(at);
        assert_eq!(json::decode(&raw[..place]), &ours[..at]);
    }
}

/// The members of an object in their order, those that stand twice too.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> serde::Deserialize<'a> for Members<'a> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'a> Visitor<'a> for Collect {
            type Value = Members<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Members<'a>, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Members(all))
            }
        }

        from.deserialize_map(Collect)
    }
}
