//! Through the protection to the model, and back.

use std::sync::{Arc, LazyLock};

use cloak_stages::detect::{Detectors, Settings};
use cloak_stages::note::Silent;
use cloak_stages::offload::Work;
use cloak_stages::protect::{FreshValues, Mode, Policy, Protect, Scope};
use cloak_stages::tripwire::Tripwire;
use cloak_stages::vault::{InMemory, Vault};
use cloak_stages::{Flow, Message, Peer, json};
use serde_json::Value;

use crate::pieces::spell_text;

/// Values, tokens, what looks like tokens, brackets of all kinds, JSON.
const PIECES: &[&str] = &[
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
    "［",
    "］",
    "＿",
    "%5B",
    "é",
    "\u{1f600}",
    "[PHONE_4155550100]",
    "[EMAIL_REDACTED]",
    "{\"a\":\"",
    "\"}",
    "[\"",
    "\"]",
    "\\u0040",
    "&#64;",
    "\u{200b}",
    "\"ssn\": \"",
    "password: ",
    "zX81kkQ0p#",
];

static DETECTORS: LazyLock<Arc<Detectors>> = LazyLock::new(|| {
    Arc::new(Detectors::new(&Settings::default()).expect("the settings are sound"))
});

/// A text that a tool returned, and that the model hands to a tool as it sees it, arrives as it
/// was; and the model saw none of the planted addresses.
pub fn restore(input: &[u8]) {
    let text = spell_text(input, PIECES);
    let escapes = text.contains("\\u00");
    let text = Value::from(text);
    let work = work();
    let shown = through(&text, |msg| work.to_model(msg), true);
    let back = through(&shown, |msg| work.to_upstream(msg), false);
    let (said, meant) = (canonical(&back, escapes), canonical(&text, escapes));
    assert_eq!(said, meant, "{shown}");
}

fn work() -> impl Work {
    let vault = Vault::new(&DETECTORS, InMemory::default());
    let policy = Policy {
        upstream: 0,
        name: "fs".into(),
        scope: Scope::Session,
        third_party: false,
        fresh_values: FreshValues::Allow,
        mode: Mode::Tokenize,
    };
    let tripwire = Tripwire::new(DETECTORS.clone(), vault.clone(), &policy, Arc::new(Silent));
    let protect = Protect::new(DETECTORS.clone(), vault, policy, Arc::new(Silent));
    (protect, tripwire)
}

/// What becomes of `text` as a tool's result, or as an argument.
fn through(text: &Value, work: impl FnOnce(&mut Message) -> Flow, result: bool) -> Value {
    let (body, path, from, to) = if result {
        (
            format!(r#""result":{{"content":[{{"type":"text","text":{text}}}]}}"#),
            "/result/content/0/text",
            Peer::Upstream(0),
            Peer::Client,
        )
    } else {
        (
            format!(
                r#""method":"tools/call","params":{{"name":"t","arguments":{{"text":{text}}}}}"#
            ),
            "/params/arguments/text",
            Peer::Client,
            Peer::Upstream(0),
        )
    };
    let mut msg = Message::own(format!(r#"{{"jsonrpc":"2.0","id":1,{body}}}"#), from, to);
    if result {
        msg.set_answers("tools/call".into());
    }
    assert_eq!(work(&mut msg), Flow::Forward);
    let bytes = msg.into_bytes().expect("no edits overlap");
    assert_eq!(json::check(&bytes), Ok(()));
    let whole: Value = serde_json::from_slice(&bytes).expect("what was checked is JSON");
    whole
        .pointer(path)
        .expect("the text is still there")
        .clone()
}

/// A text that is JSON, or has `escapes` of JSON in it, is compared as what it says: an escape that
/// nobody needs is not kept.
fn canonical(value: &Value, escapes: bool) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner) if !inner.is_number() => canonical(&inner, escapes).to_string().into(),
            Err(_) if escapes => json::decode(text.as_bytes()).into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| canonical(item, escapes)).collect(),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                let key = canonical(&key.as_str().into(), escapes);
                (
                    key.as_str().unwrap_or_default().to_owned(),
                    canonical(value, escapes),
                )
            };
            Value::Object(members.iter().map(member).collect())
        }
        _ => value.clone(),
    }
}
