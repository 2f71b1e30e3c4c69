//! Finding names: the same answer whatever the split, on any text.

use std::sync::LazyLock;

use cloak_names::{Known, Label, Name, Names};
use proptest::prelude::*;

static NAMES: LazyLock<Names> = LazyLock::new(|| Names::builtin().unwrap());

const PERSON: &[Label] = &[Label::Person];
const PLACES_TOO: &[Label] = &[
    Label::Person,
    Label::Org,
    Label::Gpe,
    Label::Fac,
    Label::Norp,
];

fn find(text: &str, labels: &[Label]) -> Vec<Name> {
    let mut found = Vec::new();
    NAMES.find(text, labels, &mut found);
    found
}

fn people(text: &str) -> Vec<&str> {
    find(text, PERSON)
        .into_iter()
        .map(|name| &text[name.start..name.end])
        .collect()
}

#[test]
fn what_is_known_is_not_looked_for() {
    let text = "Marie Lindqvist met Jonas Wagner.\nAna Pereira was there too.";
    let marie = 0.."Marie Lindqvist".len();
    let part = 0.."Marie".len();
    let end = text.len() - 1..text.len();
    let (marie, part, end) = (&[marie], &[part], &[end]);
    let check = |known: Known<'_>, expected: &[&str]| {
        let mut found = Vec::new();
        NAMES.find_unknown(text, PERSON, known, &mut found);
        let found: Vec<_> = found
            .iter()
            .map(|name| &text[name.start..name.end])
            .collect();
        assert_eq!(found, expected, "{known:?}");
    };
    let all = ["Marie Lindqvist", "Jonas Wagner", "Ana Pereira"];
    let found = |found| Known {
        found,
        edited: None,
    };
    check(Known::default(), &all);
    check(found(marie), &all[1..]);
    check(found(part), &all);
    let edited = Some(&end[..]);
    check(Known { found: &[], edited }, &all[2..]);
}

#[test]
fn people_in_data_of_all_kinds() {
    for (text, expected) in [
        (
            "My colleague Marie Lindqvist lives in Lyon.",
            &["Marie Lindqvist"][..],
        ),
        (
            "{\"id\":7,\"customer\":\"Jonas Wagner\",\"city\":\"Lyon\"}",
            &["Jonas Wagner"],
        ),
        (
            "7,Jonas Wagner,Osaka,2024-05-01\n8,Ana Pereira,Graz,2024-05-02",
            &["Jonas Wagner", "Ana Pereira"],
        ),
        (
            "members:\n  - name: Ines Carvalho\n    city: Porto",
            &["Ines Carvalho"],
        ),
        (
            "2024-05-01T10:00:00Z INFO user=\"Piotr Nowak\" action=login",
            &["Piotr Nowak"],
        ),
        (
            "INSERT INTO people VALUES (3, 'Lena Fischer', 'Graz');",
            &["Lena Fischer"],
        ),
    ] {
        assert_eq!(people(text), expected, "{text}");
    }
}

#[test]
fn code_is_not_people() {
    for text in [
        "#[derive(Clone, Debug, PartialEq)]\npub struct Parser<'a> { input: &'a str }",
        "use std::collections::HashMap;\nfn main() -> Result<(), Box<dyn Error>> { Ok(()) }",
        "INFO  [main] c.e.app.Server - Started Server in 2.3 seconds",
        "serde = { version = \"1\", features = [\"derive\"] }",
        "ERROR NullPointerException at com.example.Foo.bar(Foo.java:17)",
    ] {
        assert_eq!(people(text), [""; 0], "{text}");
    }
}

#[test]
fn other_kinds_are_found_when_asked_for() {
    let text = "Tim Robinson flew from Berlin to Paris for Microsoft.";
    let labels: Vec<_> = find(text, PLACES_TOO)
        .into_iter()
        .map(|name| name.label)
        .collect();
    assert_eq!(labels, [Label::Person, Label::Gpe, Label::Gpe, Label::Org]);
    assert_eq!(find(text, &[]), []);
}

/// Text in which some lines hold names, some code, some neither.
fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("Please ask Marie Lindqvist about the invoice.".to_owned()),
        Just("3,Jonas Wagner,Osaka".to_owned()),
        Just("let parser = Parser::new(input);".to_owned()),
        Just("\u{feff}Клиент: Анна Иванова".to_owned()),
        "[A-Z][a-z]{2,8} [A-Z][a-z]{2,8}( and [A-Z][a-z]{1,9})?[.,]?",
        "\\PC{0,60}",
        "([A-Za-z]{1,9}[ ,.:;\"'()-]{0,2}){0,20}",
    ];
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

fn on_threads(threads: usize, names: &Names, text: &str, labels: &[Label]) -> Vec<Name> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let mut found = Vec::new();
    pool.install(|| names.find_sharded(text, labels, &mut found));
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn threads_change_nothing(text in lines(), copies in 1..60_usize) {
        let text = vec![text; copies].join("\n");
        let fresh = Names::builtin().unwrap();
        let whole = find(&text, PERSON);
        for threads in [1, 2, 5] {
            prop_assert_eq!(&on_threads(threads, &fresh, &text, PERSON), &whole);
        }
        prop_assert_eq!(on_threads(2, &fresh, &text, PLACES_TOO), find(&text, PLACES_TOO));
    }

    #[test]
    fn a_cut_at_a_line_end_changes_nothing(a in lines(), b in lines()) {
        let whole = find(&format!("{a}\n{b}"), PLACES_TOO);
        let shift = a.len() + 1;
        let second = find(&b, PLACES_TOO).into_iter().map(|name| Name {
            start: name.start + shift,
            end: name.end + shift,
            ..name
        });
        let parts: Vec<_> = find(&a, PLACES_TOO).into_iter().chain(second).collect();
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn names_are_ordered_and_apart(text in "\\PC{0,400}|(\\PC{0,30}\n){0,20}") {
        let mut last = 0;
        for name in find(&text, PLACES_TOO) {
            prop_assert!(last <= name.start && name.start < name.end);
            prop_assert!(text.is_char_boundary(name.start) && text.is_char_boundary(name.end));
            prop_assert!((0.0..=1.0).contains(&name.score));
            last = name.end;
        }
    }
}

#[test]
fn hostile_text_is_read_to_its_end() {
    let million = 1 << 20;
    for unit in [
        "a", "A", "日", "ا", "é", "\u{301}", "\u{200d}", "A\u{301}", ".", "…", "(", "'", "@", "a@",
        "a.", "@.", "-", "1-", "://", " ", "\t", "\u{3000}", "\r", "\"", "{\"", "(a.m.", ":-)",
        "🤖", "ß", "İ", "\0",
    ] {
        let text = unit.repeat(million / unit.len());
        find(&text, PERSON);
    }
    let words = "Marie ".repeat(million / 6);
    find(&words, PERSON);
    find(&"Marie".repeat(2 * million), PLACES_TOO);
    // A million letters without a pattern, so that nothing is known from before.
    let mut state = 1_u32;
    let letters = (0..million).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"aeiouAEIOUrstlnRSTLN-'"[(state >> 24) as usize % 22])
    });
    find(&letters.collect::<String>(), PERSON);
    let everything: String = (0..=char::MAX as u32).filter_map(char::from_u32).collect();
    find(&everything, PLACES_TOO);
}
