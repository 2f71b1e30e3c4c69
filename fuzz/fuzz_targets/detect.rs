//! Any text is judged without a panic; findings are sorted, disjoint and on character boundaries;
//! any cut gives the same; and putting every value back in its place gives the text.

#![no_main]

use std::sync::LazyLock;

use cloak_stages::detect::{Context, Detectors, Settings};
use libfuzzer_sys::fuzz_target;

static DETECTORS: LazyLock<Detectors> = LazyLock::new(|| {
    let settings = Settings { locale: vec!["all".into()], detect_il_id: true, ..Settings::default() };
    Detectors::new(&settings).expect("the settings are sound")
});

fuzz_target!(|input: (&str, u8, Option<&str>)| {
    let (text, size, field) = input;
    let cx = Context { field };
    let (mut found, mut cut) = (Vec::new(), Vec::new());
    DETECTORS.find(text, cx, &mut found);
    DETECTORS.find_in_shards(text, cx, usize::from(size) + 1, &mut cut);
    assert_eq!(found, cut);

    let mut end = 0;
    let mut restored = String::new();
    for finding in &found {
        assert!(end <= finding.start && finding.start < finding.end);
        restored.push_str(&text[end..finding.start]);
        restored.push_str(&text[finding.start..finding.end]);
        end = finding.end;
    }
    restored.push_str(&text[end..]);
    assert_eq!(restored, text);
});
