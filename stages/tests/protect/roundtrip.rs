//! What an upstream said comes back to it as it was.

use cloak_stages::json;
use proptest::prelude::*;
use serde_json::Value;

use crate::gate::Gate;

/// What the model sees of structured content, and what the upstream gets when the model passes it
/// back as arguments.
fn echo(gate: &Gate, data: &str) -> (String, String) {
    let shown = gate.shown("tools/call", &format!(r#"{{"structuredContent":{data}}}"#));
    let shown = shown[r#"{"structuredContent":"#.len()..shown.len() - 1].to_owned();
    let back = gate.told(
        "tools/call",
        &format!(r#"{{"name":"t","arguments":{shown}}}"#),
    );
    let back = back[r#"{"name":"t","arguments":"#.len()..back.len() - 1].to_owned();
    (shown, back)
}

#[test]
fn numbers_keep_their_spelling_and_their_type() {
    let gate = Gate::new();
    let data = r#"[1.10,1E5,18446744073709551616,1e400,-0,4111111111111111,{"a":1,"a":2},"\ud83d\/\u00e9"]"#;
    let (shown, back) = echo(&gate, data);
    assert_eq!(
        shown,
        data.replace("4111111111111111", "\"[CREDIT_CARD_0]\"")
    );
    assert_eq!(back, data);
}

#[test]
fn a_number_that_was_a_string_too_stays_a_string() {
    let gate = Gate::new();
    let (_, back) = echo(&gate, r#"[4111111111111111,"4111111111111111"]"#);
    assert_eq!(back, r#"["4111111111111111","4111111111111111"]"#);
}

#[test]
fn a_number_is_put_back_only_in_place_of_a_whole_string() {
    let gate = Gate::new();
    echo(&gate, "[4111111111111111]");
    assert_eq!(
        gate.told(
            "tools/call",
            r#"{"arguments":["no. [CREDIT_CARD_0]","[CREDIT_CARD_0]"]}"#
        ),
        r#"{"arguments":["no. 4111111111111111",4111111111111111]}"#
    );
}

#[test]
fn json_in_a_string_is_looked_into_and_stays_json() {
    let gate = Gate::new();
    let inner = r#"{"to":"jo\u0040example.eu","n":[1.10,4111111111111111],"deep":"{\"x\":\"marie@example.eu\"}"}"#;
    let (shown, back) = echo(&gate, &json::quote(inner));
    let shown: String = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        shown,
        r#"{"to":"[EMAIL_0]","n":[1.10,"[CREDIT_CARD_0]"],"deep":"{\"x\":\"[EMAIL_1]\"}"}"#
    );
    let back: String = serde_json::from_str(&back).unwrap();
    assert_eq!(back, inner.replace("\\u0040", "@"));
}

#[test]
fn tokens_are_found_as_models_write_them() {
    let gate = Gate::new();
    echo(&gate, r#"["marie@example.eu"]"#);
    for (written, read) in [
        (r"[EMAIL_0]", "marie@example.eu"),
        (
            r"[email_0], [Email_0]",
            "marie@example.eu, marie@example.eu",
        ),
        (r"\\[EMAIL\\_0\\]", "marie@example.eu"),
        (r"\u005bEMAIL_0\u005D", "marie@example.eu"),
        (
            r"http://h/?q=%5BEMAIL_0%5D&r=%5bemail_0%5d",
            "http://h/?q=marie@example.eu&r=marie@example.eu",
        ),
        (r"C:\\[EMAIL_0]\\x", r"C:\\marie@example.eu\\x"),
        (
            r#"{\"to\":\"[EMAIL_0]\"}"#,
            r#"{\"to\":\"marie@example.eu\"}"#,
        ),
        (
            "[EMAIL_7] [FOO_0] [EMAIL_00]",
            "[EMAIL_7] [FOO_0] [EMAIL_00]",
        ),
    ] {
        assert_eq!(
            gate.told("tools/call", &format!(r#"{{"arguments":["{written}"]}}"#)),
            format!(r#"{{"arguments":["{read}"]}}"#)
        );
    }
}

#[test]
fn restored_text_keeps_the_json_valid() {
    let mut gate = Gate::new();
    gate.tripwire = false;
    let value = r#"postgres://jo:pa\"ss'w0rd\\x@db.example.eu/x"#;
    // Whatever is found in it, quotes and backslashes come back in every layer.
    let data = format!(r#"{{"url":"{value}","mail":"\"a\\\"b\"@example.eu"}}"#);
    let (_, back) = echo(&gate, &data);
    assert_eq!(back, data);
    let (_, back) = echo(&gate, &json::quote(&data));
    assert_eq!(back, json::quote(&data));
}

#[test]
fn textual_blobs_and_data_uris_are_decoded_and_encoded_again() {
    let gate = Gate::new();
    // "to,marie@example.eu\n", "to,[EMAIL_0]\n" and an image.
    let shown = gate.shown(
        "resources/read",
        r#"{"contents":[{"uri":"f:a","mimeType":"text/csv","blob":"dG8sbWFyaWVAZXhhbXBsZS5ldQo="},{"uri":"f:b","mimeType":"image/png","blob":"dG8sbWFyaWVAZXhhbXBsZS5ldQo="},{"uri":"data:text/plain;base64,dG8sbWFyaWVAZXhhbXBsZS5ldQo=","text":"x"}]}"#,
    );
    assert_eq!(
        shown,
        r#"{"contents":[{"uri":"f:a","mimeType":"text/csv","blob":"dG8sW0VNQUlMXzBdCg=="},{"uri":"f:b","mimeType":"image/png","blob":"dG8sbWFyaWVAZXhhbXBsZS5ldQo="},{"uri":"data:text/plain;base64,dG8sW0VNQUlMXzBdCg==","text":"x"}]}"#
    );
    assert!(gate.log().iter().any(|line| line.contains("Binary(1)")));
    assert_eq!(
        gate.told(
            "resources/read",
            r#"{"uri":"data:text/plain;base64,dG8sW0VNQUlMXzBdCg=="}"#
        ),
        r#"{"uri":"data:text/plain;base64,dG8sbWFyaWVAZXhhbXBsZS5ldQo="}"#
    );
}

#[test]
fn tokens_are_numbered_in_reading_order_whatever_the_size() {
    let gate = Gate::new();
    // Enough for many threads, in many strings and one long one.
    let cells: Vec<_> = (0..20_000).map(|n| format!("user{n}@example.eu")).collect();
    let long = cells[10_000..].join(", ");
    let short = cells[..10_000].join("\",\"");
    let shown = gate.shown(
        "tools/call",
        &format!(r#"{{"structuredContent":["{short}","{long}"]}}"#),
    );
    let mut rest = shown.as_str();
    for n in 0..20_000 {
        let token = format!("[EMAIL_{n}]");
        let at = rest.find(&token).unwrap_or_else(|| panic!("{token}"));
        rest = &rest[at + token.len()..];
    }
    assert!(!shown.contains('@'));
}

#[test]
fn deep_and_wide_messages_take_their_time_and_no_more() {
    let gate = Gate::new();
    // As deep as a message may be, and JSON in a string as deep again.
    let nest =
        |inner: &str, depth: usize| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth));
    let inner = nest("\"marie@example.eu\"", 250);
    let data = nest(&json::quote(&inner), 250);
    let (shown, back) = echo(&gate, &data);
    assert!(shown.contains("[EMAIL_0]") && !shown.contains("marie"));
    assert_eq!(back, data);
    // Many of everything that is looked up by pairs.
    let uri = "data:text/plain;base64,bWFyaWVAZXhhbXBsZS5ldQ== ".repeat(5_000);
    let blobs = "\"blob\":\"AAAA\",".repeat(20_000);
    let keys: String = (0..20_000)
        .map(|n| format!("\"k{n}@example.eu\":1,"))
        .collect();
    let result =
        format!(r#"{{"contents":[{{{blobs}"uri":"f:a"}}],"x":"{uri}","y":{{{keys}"z":1}}}}"#);
    let shown = gate.shown("resources/read", &result);
    assert!(!shown.contains("@example") && !shown.contains("bWFyaWVA"));
}

#[test]
fn what_is_said_twice_gets_the_same_tokens() {
    let gate = Gate::new();
    let text = json::quote(&"marie@example.eu and jo@example.eu ".repeat(20));
    let shown = gate.shown(
        "tools/call",
        &format!(r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{{"content":{text}}}}}"#),
    );
    let tokens = json::quote(&"[EMAIL_0] and [EMAIL_1] ".repeat(20));
    assert_eq!(
        shown,
        format!(
            r#"{{"content":[{{"type":"text","text":{tokens}}}],"structuredContent":{{"content":{tokens}}}}}"#
        )
    );
}

/// Strings made of what is hard: values, tokens, brackets of all kinds, JSON.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "marie@example.eu",
            "jo@example.org",
            "+46 8 123 456 78",
            "4111 1111 1111 1111",
            "10.2.3.4",
            "[EMAIL_0]",
            "[email_0]",
            "\\[EMAIL\\_1\\]",
            "［EMAIL_0］",
            "［＿EMAIL_0］",
            "%5BEMAIL_0%5D",
            "%ef%bc%bbPHONE_0%ef%bc%bd",
            "[",
            "]",
            "［",
            "］",
            "＿",
            "%5B",
            "\\",
            "\"",
            "/",
            "\n",
            "é",
            "\u{1f600}",
            "[PHONE_4155550100]",
            "[EMAIL_REDACTED]",
            "{\"a\":\"",
            "\"}",
            ",",
            " ",
        ])
        .prop_map(str::to_owned),
        ".{0,6}",
    ];
    prop::collection::vec(piece, 0..10).prop_map(|all| all.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text(), inner.clone()), 0..5)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
            // JSON in a string.
            inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}

/// Texts that are JSON are compared as what they say: an escape that nobody needs is not kept.
fn canonical(value: &Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner) if !matches!(inner, Value::Number(_)) => {
                Value::from(canonical(&inner).to_string())
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, value)| match canonical(&Value::from(key.as_str())) {
                    Value::String(key) => (key, canonical(value)),
                    _ => unreachable!("text stays text"),
                })
                .collect(),
        ),
        _ => value.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_text_comes_back(text in text()) {
        let gate = Gate::new();
        let text = Value::from(text);
        let (_, back) = echo(&gate, &text.to_string());
        let back: Value = serde_json::from_str(&back).unwrap();
        prop_assert_eq!(canonical(&back), canonical(&text));
    }

    #[test]
    fn every_value_comes_back(value in value()) {
        let gate = Gate::new();
        let (shown, back) = echo(&gate, &value.to_string());
        let back: Value = serde_json::from_str(&back).unwrap();
        prop_assert_eq!(canonical(&back), canonical(&value), "{}", shown);
    }

    #[test]
    fn what_holds_nothing_personal_keeps_its_bytes(value in clean(), spaces in any::<bool>()) {
        let gate = Gate::new();
        let text = if spaces { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        let (shown, back) = echo(&gate, &text);
        prop_assert_eq!(&shown, &text);
        prop_assert_eq!(&back, &text);
    }
}

/// Nothing in here is personal data or looks like a token.
fn clean() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        "[a-z é\\\\\"\n]{0,12}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[qxz]{0,5}", inner), 0..5)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}
