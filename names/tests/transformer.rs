//! Token classifiers of the BERT family: the same answers as a plain computation in double
//! precision, whose small random models `models/tiny.py` made.

#![cfg(feature = "transformer")]

use std::fs;
use std::path::{Path, PathBuf};

use cloak_names::{Label, ModelError, Name, Names};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    text: String,
    /// First byte, the one after the last, label, chance.
    names: Vec<(usize, usize, String, f32)>,
}

const FAMILIES: [&str; 3] = ["bert", "roberta", "distilbert"];

fn tiny(family: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tiny")
        .join(family)
}

#[test]
fn answers_are_those_of_a_plain_computation() {
    for family in FAMILIES {
        let names = Names::open(&tiny(family)).unwrap();
        assert_eq!(names.labels(), [Label::Person, Label::Gpe]);
        let expected = fs::read_to_string(tiny(family).join("expected.jsonl")).unwrap();
        let mut words = 0;
        for line in expected.lines() {
            let Expected { text, names: right } = serde_json::from_str(line).unwrap();
            let mut found = Vec::new();
            names.find_plain(&text, &mut found);
            // A chance that is half almost exactly may fall to either side.
            let clear = |score: f32| (score - 0.5).abs() > 1e-3;
            found.retain(|name| clear(name.score));
            let right: Vec<_> = right.into_iter().filter(|name| clear(name.3)).collect();
            assert_eq!(found.len(), right.len(), "{family}: {text}");
            for (found, (start, end, label, chance)) in found.iter().zip(right) {
                assert_eq!((found.start, found.end), (start, end), "{family}: {text}");
                assert_eq!(found.label.as_str(), label);
                assert!((found.score - chance).abs() < 1e-4, "{found:?} {chance}");
                words += 1;
            }
        }
        assert!(words > 500, "{words}");
    }
}

#[test]
fn what_is_computed_together_changes_nothing() {
    let lines: Vec<_> = (0..300)
        .map(|i| ["ann runs", "Bob 7 rome", "日 lima unheard", "red"][i % 4].repeat(1 + i % 7))
        .collect();
    let text = lines.join("\n");
    for family in FAMILIES {
        let names = Names::open(&tiny(family)).unwrap();
        let find = |text: &str| {
            let mut found = Vec::new();
            names.find(text, &names.labels(), &mut found);
            found
        };
        let whole = find(&text);
        let mut sharded = Vec::new();
        // Another model, so that nothing is remembered.
        let fresh = Names::open(&tiny(family)).unwrap();
        fresh.find_sharded(&text, &names.labels(), &mut sharded);
        assert_eq!(whole, sharded);
        let mut start = 0;
        let parts = lines.iter().flat_map(|line| {
            let shift = start;
            start += line.len() + 1;
            find(line).into_iter().map(move |name| Name {
                start: name.start + shift,
                end: name.end + shift,
                ..name
            })
        });
        assert_eq!(whole, parts.collect::<Vec<_>>());
        assert!(!whole.is_empty());
    }
}

/// A copy of a tiny model with one file changed, and what is said of it.
fn error(family: &str, file: &str, change: impl Fn(String) -> String) -> String {
    let name = format!("cloak-tiny-{}-{family}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    for copied in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(tiny(family).join(copied), folder.join(copied)).unwrap();
    }
    // Tensors are binary; their names in the head are text all the same.
    let bytes = fs::read(folder.join(file)).unwrap();
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let changed = change(text);
    let bytes: Vec<_> = changed.chars().map(|c| c as u8).collect();
    fs::write(folder.join(file), bytes).unwrap();
    let error: ModelError = Names::open(&folder).err().expect("the model is damaged");
    fs::remove_dir_all(&folder).unwrap();
    error.to_string().replace(&*folder.to_string_lossy(), "DIR")
}

#[test]
fn errors_name_the_file_and_what_is_wrong_in_it() {
    for (file, from, to, expected) in [
        (
            "config.json",
            "\"bert\"",
            "\"deberta-v2\"",
            "DIR/config.json: a model of architecture \"deberta-v2\"; this build runs bert, roberta",
        ),
        (
            "config.json",
            "\"gelu\"",
            "\"silu\"",
            "a model of architecture \"bert with silu\"; this build runs the activation",
        ),
        (
            "config.json",
            "\"hidden_size\": 24",
            "\"hidden_size\": 0",
            "DIR/config.json: not a valid model configuration file: hidden_size is 0",
        ),
        (
            "config.json",
            "\"hidden_size\": 24",
            "\"hidden_size\": 48",
            "DIR/model.safetensors: tensor \"bert.embeddings.word_embeddings.weight\" has shape",
        ),
        (
            "config.json",
            "\"num_hidden_layers\": 2",
            "\"num_hidden_layers\": 3",
            "tensor \"bert.encoder.layer.2.attention.self.query.weight\" is missing",
        ),
        (
            "config.json",
            "\"intermediate_size\": 40",
            "\"intermediate_size\": 41",
            "has shape [40, 24] where [41, 24] is expected",
        ),
        (
            "config.json",
            "\"3\"",
            "\"9\"",
            "id2label leaves out a class",
        ),
        (
            "config.json",
            "\"num_attention_heads\": 3",
            "\"num_attention_heads\": 7",
            "multiple of",
        ),
        (
            "tokenizer.json",
            "\"WordLevel\"",
            "\"Syllables\"",
            "DIR/tokenizer.json: not a valid tokenizer",
        ),
        (
            "model.safetensors",
            "classifier.bias",
            "classifier.bios",
            "tensor \"classifier.bias\" is missing",
        ),
    ] {
        let message = error("bert", file, |text| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        assert!(message.contains(expected), "{message}");
    }
    let message = error("bert", "model.safetensors", |text| {
        text[..text.len() / 3].to_owned()
    });
    assert!(
        message.contains("DIR/model.safetensors: not a valid safetensors file"),
        "{message}"
    );
}

#[test]
fn hostile_text_is_read_to_its_end() {
    let names = Names::open(&tiny("bert")).unwrap();
    for unit in [
        "a", "日", "\u{301}", "ann ", "\u{200d}", "A\u{301}", "İ", "\0",
    ] {
        let text = unit.repeat((1 << 16) / unit.len());
        names.find(&text, &[Label::Person], &mut Vec::new());
    }
    let everything: String = (0..=char::MAX as u32).filter_map(char::from_u32).collect();
    names.find(&everything, &[Label::Person], &mut Vec::new());
}
