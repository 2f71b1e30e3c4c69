//! A real transformer: the same answers from the folder that `models/rampart.py` writes as from
//! Rampart's own 4-bit weights in onnxruntime, which `models/golden_rampart.py` asked.
//!
//! `CLOAKLLM_RAMPART` names the folder. Without it the tests are left out, but not in CI.

#![cfg(feature = "transformer")]

use std::path::Path;

use cloak_names::{Label, Names};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    text: String,
    /// First byte, the one after the last, the chance to be part of a person's name.
    tokens: Vec<(usize, usize, f32)>,
}

const GOLDEN: &str = include_str!("golden/rampart.jsonl");

fn rampart() -> Option<Names> {
    let Some(folder) = std::env::var_os("CLOAKLLM_RAMPART") else {
        assert!(
            std::env::var_os("CI").is_none(),
            "CLOAKLLM_RAMPART has to name the folder that models/rampart.py writes"
        );
        eprintln!("LEFT OUT: CLOAKLLM_RAMPART does not name a folder with the model");
        return None;
    };
    Some(Names::open(Path::new(&folder)).unwrap())
}

#[test]
fn people_are_those_of_onnxruntime() {
    let Some(names) = rampart() else { return };
    assert!(names.labels().contains(&Label::Passport));
    let mut words = 0;
    for line in GOLDEN.lines() {
        let Golden { text, tokens } = serde_json::from_str(line).unwrap();
        let mut found = Vec::new();
        names.find_plain(&text, &mut found);
        found.retain(|name| name.label == Label::Person);
        for &(start, end, chance) in &tokens {
            let inside = found.iter().find(|n| n.start <= start && end <= n.end);
            // Half precision moves a chance a little, and a name grows to whole words.
            if chance > 0.55 {
                let name = inside.unwrap_or_else(|| panic!("{}: {text}", &text[start..end]));
                assert!(name.score > chance - 0.02, "{name:?} {chance} {text}");
                words += 1;
            }
        }
        for name in found {
            let inside = |t: &&(usize, usize, f32)| name.start <= t.0 && t.1 <= name.end;
            let most = tokens
                .iter()
                .filter(inside)
                .map(|t| t.2)
                .fold(0.0, f32::max);
            assert!((name.score - most).abs() < 0.02, "{name:?} {most} {text}");
        }
    }
    assert!(words > 100, "{words}");
}

#[test]
fn other_personal_data_is_found_when_asked_for() {
    let Some(names) = rampart() else { return };
    let text = "Marie Lindqvist, 14 Baker Street, London, passport 553211876.";
    let mut found = Vec::new();
    names.find(
        text,
        &[Label::Person, Label::Address, Label::Gpe],
        &mut found,
    );
    let labels: Vec<_> = found.iter().map(|name| name.label).collect();
    assert!(
        labels.starts_with(&[Label::Person, Label::Address]),
        "{found:?}"
    );
    found.clear();
    names.find(text, &[Label::Person], &mut found);
    assert_eq!(found.len(), 1, "{found:?}");
}
