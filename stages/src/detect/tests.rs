//! The engine as a whole.

use proptest::prelude::*;

use super::*;

fn detectors() -> Detectors {
    Detectors::new(&Settings::default()).unwrap()
}

fn find(detectors: &Detectors, text: &str) -> Vec<Finding> {
    let mut out = Vec::new();
    detectors.find(text, Context::default(), &mut out);
    out
}

fn values<'t>(detectors: &Detectors, text: &'t str) -> Vec<(String, &'t str)> {
    find(detectors, text)
        .iter()
        .map(|f| (detectors.name(f.category).to_owned(), &text[f.start..f.end]))
        .collect()
}

/// What is found with the settings as they come.
pub(super) fn found(text: &str) -> Vec<(Category, &str)> {
    let found = find(&detectors(), text);
    found
        .iter()
        .map(|f| (f.category, &text[f.start..f.end]))
        .collect()
}

#[test]
fn a_password_is_no_account_at_a_host() {
    assert_eq!(
        found("User Id=inv_user;Password=Kp9@xTr4!z;Encrypt=True;"),
        [(Category::PASSWORD, "Kp9@xTr4!z")]
    );
}

#[test]
fn every_probe_is_found() {
    let custom_patterns = [
        ("EMPLOYEE", r"\bEMP-[0-9]{6}\b"),
        ("TICKET", r"(?i)(?:ABC|DEF)-\d+"),
        ("CASE_NO", r"^[A-Z]{2}\d{4}$"),
    ];
    let settings = Settings {
        custom_patterns: custom_patterns
            .map(|(n, p)| (n.to_owned(), p.to_owned()))
            .to_vec(),
        detect_mac: true,
        detect_crypto: true,
        ..Settings::default()
    };
    let detectors = Detectors::new(&settings).unwrap();
    let probes = detectors.probes();
    for category in detectors.categories() {
        assert!(
            probes.iter().any(|probe| probe.category == category),
            "no probe for {}",
            detectors.name(category)
        );
    }
    let missed: Vec<_> = probes
        .iter()
        .filter(|probe| {
            let found = find(&detectors, &probe.text);
            !found
                .iter()
                .any(|f| f.category == probe.category && probe.text[f.start..f.end] == probe.value)
        })
        .map(|probe| (detectors.name(probe.category), &probe.text))
        .collect();
    assert_eq!(missed, []);
}

#[test]
fn settings_switch_categories() {
    let off = Settings {
        detect_emails: false,
        ..Settings::default()
    };
    let detectors = Detectors::new(&off).unwrap();
    assert_eq!(
        values(&detectors, "a@b.org 203.0.113.9"),
        [("IP_ADDRESS".into(), "203.0.113.9")]
    );
    assert!(
        detectors
            .categories()
            .all(|category| category != Category::EMAIL)
    );
}

#[test]
fn the_users_own_come_first() {
    let settings = Settings {
        custom_patterns: vec![("ACCOUNT".into(), "[0-9]{4} [0-9]{4}".into())],
        deny: vec!["blue whale".into()],
        allow: vec!["@acme.example".into()],
        ..Settings::default()
    };
    let detectors = Detectors::new(&settings).unwrap();
    assert_eq!(
        values(
            &detectors,
            "4111 1111 1111 1111 of Blue Whale, help@acme.example"
        ),
        [
            ("ACCOUNT".to_owned(), "4111 1111"),
            ("ACCOUNT".to_owned(), "1111 1111"),
            ("DENIED".to_owned(), "Blue Whale"),
        ]
    );
}

#[test]
fn numbers_of_json() {
    let detectors = detectors();
    let number = |text| {
        detectors
            .find_number(text, Context::default())
            .map(|f| f.category)
    };
    assert_eq!(number("4111111111111111"), Some(Category::CREDIT_CARD));
    for text in [
        "4111111111111112",
        "1548138160707",
        "524118903",
        "-4111111111111111",
        "4e15",
    ] {
        assert_eq!(number(text), None, "{text}");
    }
}

/// Pieces of what the rules look at, to be put together in every way.
pub(super) const PIECES: &[&str] = &[
    "+",
    "(",
    ")",
    "::",
    ":",
    "a",
    "fe80",
    "@",
    ".",
    "..",
    "-",
    " ",
    "\n",
    "\u{a0}",
    "é",
    "日",
    "DE89",
    "370400440532013000",
    "1.2.3.4",
    "203.0.113.9",
    "call ",
    "ssn ",
    "4111",
    "1111",
    "5500",
    "378282246310005",
    "521-44-9382",
    "0",
    "12",
    "123",
    "1234",
    "123456",
    "1234567",
    "212-555-1234",
    "(212) 555-1234",
    "+442071234567",
    "x.com",
    "marie@example.eu",
    ",",
    "'",
    "\"",
    "=",
    "/",
    "_",
    "\\n",
    "card ",
    "v",
    "version ",
    "\\u0040",
    "%40",
    "&#64;",
    "\u{200b}",
    "１",
    "first_name: ",
    "Marie",
    "\"ssn\": \"",
    "123456789",
    "password=",
    "zX81kkQ0p",
    "sk-",
    "eyJ",
    "https://",
    "id,last_name\n",
    "AB123456C",
    "nino ",
    " at ",
    " dot ",
    "[at]",
    "--token ",
    "bWFpbCBtYXJpZUBleGFtcGxlLmV1IG5vdw==",
    "-----BEGIN PRIVATE KEY-----",
    "é@",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_cut_gives_the_same(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        size in 1usize..90,
    ) {
        let text = pieces.concat();
        let detectors = detectors();
        let whole = find(&detectors, &text);
        let mut cut = Vec::new();
        detectors.find_in_shards(&text, Context::default(), size, &mut cut);
        prop_assert_eq!(&whole, &cut);
        prop_assert!(whole.windows(2).all(|pair| pair[0].end <= pair[1].start));
        for finding in &whole {
            prop_assert!(text.get(finding.start..finding.end).is_some_and(|s| !s.is_empty()));
        }
    }

    #[test]
    fn any_text_is_judged(text in any::<String>()) {
        find(&detectors(), &text);
    }
}
