//! No value gets into the log, whatever is put into every text an entry can be made from.

mod audit_support;

use std::fs;
use std::path::Path;

use audit_support::LogDir;
use cloak_stages::audit::{Digest, Entry, Event, Id, Name, PayloadKey};

const VALUES: [&str; 10] = [
    "marie.curie@example.eu",
    "+33 6 12 34 56 78",
    "0612345678",
    "FR7630006000011234567890189",
    "4111111111111111",
    "123-45-6789",
    "Marie Curie",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "10.31.44.18:5432",
    "Zoë",
];

/// A text of every origin, as a gateway would record it.
fn entries(value: &str, key: &PayloadKey) -> Vec<Entry> {
    let mut call = Entry::new(Event::ToolsCall)
        .fact(key.name(value), key.name(value))
        .fact(Name::literal("detectors"), vec![key.name(value)])
        .fact(Name::literal("config"), key.digest(value.as_bytes()));
    call.upstream = Some(key.name(value));
    call.method = Some(key.name(value));
    call.tool = Some(key.name(value));
    call.id = Some(Id::Name(key.name(value)));
    call.count(key.name(value), 1);
    call.spent(key.name(value), std::time::Duration::from_micros(1));
    call.before = Some(key.digest(value.as_bytes()));
    call.after = Some(Digest::of(b"[EMAIL_0]"));
    let mut unknown_tool = Entry::new(Event::Refusal);
    unknown_tool.tool = Some(key.pseudonym(value));
    vec![call, unknown_tool]
}

#[test]
fn planted_values_are_nowhere_below_the_directory() {
    let log = LogDir::with_key();
    log.session(|handle| {
        let key = handle.payload_key().unwrap();
        for value in VALUES {
            entries(value, key)
                .into_iter()
                .for_each(|entry| handle.record(entry).unwrap());
        }
    });
    assert_eq!(log.verify().entries, 3 + 2 * VALUES.len() as u64);
    let mut searched = 0;
    each_file(log.dir(), &mut |content| {
        searched += 1;
        for value in VALUES {
            let plain = Digest::of(value.as_bytes()).to_string();
            for needle in [value, plain.as_str()] {
                assert!(
                    !contains(content, needle.as_bytes()),
                    "{needle} is in the log"
                );
            }
        }
    });
    assert!(searched >= 4);
    let told = format!("{:?}", log.warnings());
    assert!(VALUES.iter().all(|value| !told.contains(value)));
}

#[test]
fn the_same_value_has_the_same_pseudonym_within_a_log() {
    let log = LogDir::with_key();
    let name = || {
        let mut seen = None;
        log.session(|handle| seen = Some(handle.payload_key().unwrap().name(VALUES[0])));
        seen.unwrap()
    };
    assert_eq!(name(), name());
}

fn each_file(dir: &Path, each: &mut impl FnMut(&[u8])) {
    for file in fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            each_file(&path, each)
        } else {
            each(&fs::read(path).unwrap())
        }
    }
}

fn contains(content: &[u8], needle: &[u8]) -> bool {
    content.windows(needle.len()).any(|window| window == needle)
}
