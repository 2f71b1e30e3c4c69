//! What is found in any text.

use std::sync::LazyLock;

use cloak_stages::detect::{Context, Detectors, Finding, Settings};

use crate::pieces::{byte, spell_text};

/// What the rules look at, to be put together in every way.
const PIECES: &[&str] = &[
    "marie@example.eu",
    "@",
    "é@",
    "日本",
    "+44 20 7123 4567",
    "(212) 555-1234",
    "call ",
    "521-44-9382",
    "ssn ",
    "4111 1111 1111 1111",
    "378282246310005",
    "card ",
    "DE89 3704 0044 0532 0130 00",
    "370400440532013000",
    "203.0.113.9",
    "2001:db8::1",
    "::",
    "fe80",
    "password=",
    "zX81kkQ0p#",
    "sk-",
    "AKIAQ3EGRZ5VJ7LMN2PX",
    "eyJhbGciOiJIUzI1NiJ9.",
    "https://user:",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "id,last_name,iban\n",
    "first_name: ",
    "\"ssn\": \"",
    "AB123456C",
    "nino ",
    "bWFpbCBtYXJpZUBleGFtcGxlLmV1IG5vdw==",
    "\\u0040",
    "\\n",
    "%40",
    "&#64;",
    "=\n",
    "\u{200b}",
    "\u{a0}",
    "１",
    "４１１１",
    " at ",
    " dot ",
    "[at]",
    "0c:4d:e9:9a:11:7f",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "EMP-",
    "blue whale",
    "\t",
    "|",
    "123456789",
    "Marie Curie",
];

const FIELDS: [Option<&str>; 4] = [None, Some("email"), Some("iban"), Some("last_name")];

static DETECTORS: LazyLock<Detectors> = LazyLock::new(|| {
    let settings = Settings {
        detect_il_id: true,
        detect_mac: true,
        detect_crypto: true,
        locale: vec!["all".into()],
        custom_patterns: vec![("EMPLOYEE".into(), r"\bEMP-[0-9]{3,6}\b".into())],
        deny: vec!["blue whale".into()],
        allow: vec!["@allowed.example".into()],
        ..Settings::default()
    };
    Detectors::new(&settings).expect("the settings are sound")
});

/// Findings are sorted, disjoint and on character boundaries, the same each time and in shards of
/// any size.
pub fn detect(mut input: &[u8]) {
    let shard = usize::from(byte(&mut input)) + 1;
    let field = FIELDS[usize::from(byte(&mut input)) % FIELDS.len()];
    let text = spell_text(input, PIECES);
    let cx = Context { field };
    let (mut found, mut other) = (Vec::new(), Vec::new());
    DETECTORS.find(&text, cx, &mut found);
    assert_sound(&text, &found);
    DETECTORS.find_in_shards(&text, cx, shard, &mut other);
    assert_eq!(found, other, "shards of {shard} bytes");
    DETECTORS.find_sharded(&text, cx, &mut other);
    assert_eq!(found, other, "shards of the usual size");
    for finding in found {
        let number = DETECTORS.find_number(&text[finding.start..finding.end], cx);
        assert!(number.is_none_or(|number| number.end <= finding.end - finding.start));
    }
}

pub(crate) fn assert_sound(text: &str, found: &[Finding]) {
    for finding in found {
        assert!(
            text.get(finding.start..finding.end)
                .is_some_and(|value| !value.is_empty())
        );
    }
    assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
}
