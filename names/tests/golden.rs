//! The same tokens and entities as spaCy, over texts that `models/golden.py` made.

use std::collections::BTreeMap;

use cloak_names::{Name, Names};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    text: String,
    /// First code point and length.
    tokens: Vec<(usize, usize)>,
    /// First code point, the one after the last, label.
    entities: Vec<(usize, usize, String)>,
}

const GOLDEN: &str = include_str!("golden/spacy.jsonl");

fn golden() -> impl Iterator<Item = Golden> {
    GOLDEN
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
}

/// The number of code points before each byte that begins one.
fn points(text: &str) -> BTreeMap<usize, usize> {
    let bytes = text
        .char_indices()
        .map(|(byte, _)| byte)
        .chain([text.len()]);
    bytes
        .enumerate()
        .map(|(point, byte)| (byte, point))
        .collect()
}

#[test]
fn tokens_are_those_of_spacy() {
    let names = Names::builtin().unwrap();
    for Golden { text, tokens, .. } in golden() {
        let points = points(&text);
        let found: Vec<_> = (names.tokens(&text).into_iter())
            .map(|token| {
                (
                    points[&token.start],
                    points[&token.end] - points[&token.start],
                )
            })
            .collect();
        assert_eq!(found, tokens, "{text:?}");
    }
}

/// Weights in half precision turn a close decision now and then.
#[test]
fn entities_are_those_of_spacy() {
    let names = Names::builtin().unwrap();
    let (mut texts, mut same) = (0, 0);
    for Golden { text, entities, .. } in golden() {
        let points = points(&text);
        let mut found = Vec::new();
        names.find_plain(&text, &mut found);
        let in_points = |n: &Name| (points[&n.start], points[&n.end], n.label.to_string());
        texts += 1;
        same += usize::from(found.iter().map(in_points).eq(entities));
    }
    assert!(texts > 500);
    assert!(same * 1000 >= texts * 995, "{same} of {texts} texts");
}
