//! The leak probe: values on every surface, in every representation, looked for in the bytes that
//! would leave.
//!
//! In each message, `VALUE` stands where personal data must not get through, in a string or a key,
//! `NUMBER` where it stands as a JSON number, `OPAQUE` where a peer must get back what it sent, and
//! `SCHEMA` where a schema keeps its bytes.

use cloak_stages::{Flow, json};

use crate::gate::Gate;

/// What an upstream may send: the method it is about if it is an answer, and the message.
#[rustfmt::skip]
const FROM_UPSTREAM: &[(&str, &str)] = &[
    ("initialize", r#"{"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"x":"SCHEMA"}},"serverInfo":{"name":"VALUE","version":"1","title":"VALUE","description":"VALUE","websiteUrl":"https://h/?q=VALUE","icons":[{"src":"https://h/?q=VALUE","mimeType":"image/png"}]},"instructions":"Mail VALUE","new":"VALUE"}}"#),
    ("server/discover", r#"{"id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"instructions":"VALUE","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","title":"VALUE"},"eu.example/x":{"VALUE":"VALUE"}}}}"#),
    ("ping", r#"{"id":1,"result":{"VALUE":"VALUE"}}"#),
    ("tools/list", r#"{"id":1,"result":{"tools":[{"name":"t","title":"VALUE","description":"Calendars: VALUE","inputSchema":{"type":"object","properties":{"a":{"description":"SCHEMA","enum":["SCHEMA"]}}},"outputSchema":{"type":"object","description":"SCHEMA"},"annotations":{"title":"VALUE","readOnlyHint":true,"x":"VALUE"},"execution":{"taskSupport":"optional"},"icons":[{"src":"data:text/plain;base64,BASE64"}],"_meta":{"k":"VALUE"},"new":{"VALUE":["VALUE",NUMBER]}}],"nextCursor":"OPAQUE","ttlMs":0,"VALUE":1}}"#),
    ("tools/call", r#"{"id":1,"result":{"content":[{"type":"text","text":"VALUE","annotations":{"audience":["VALUE"],"lastModified":"VALUE"},"_meta":{"k":"VALUE"},"new":"VALUE"},{"type":"image","data":"AAAA","mimeType":"VALUE"},{"type":"audio","data":"AAAA","mimeType":"audio/wav"},{"type":"resource_link","uri":"file:///VALUE","name":"VALUE","title":"VALUE","description":"VALUE","mimeType":"VALUE","size":12},{"type":"resource","resource":{"uri":"file:///VALUE","mimeType":"text/plain","text":"VALUE"}},{"type":"resource","resource":{"uri":"f:a","mimeType":"text/csv","blob":"BASE64"}},{"type":"new","data":"VALUE","mimeType":"VALUE","type2":{"VALUE":[["VALUE"]]}},"VALUE",["VALUE"]],"structuredContent":{"data":"VALUE","blob":"VALUE","type":"VALUE","mimeType":"VALUE","progressToken":"VALUE","uri":"VALUE","taskId":"VALUE","requestState":"VALUE","rows":[{"type":"VALUE","n":NUMBER}],"VALUE":NUMBER,"_meta":{"VALUE":"VALUE"}},"isError":true,"taskId":"VALUE","requestState":"VALUE","new":{"VALUE":"VALUE"}}}"#),
    ("tools/call", r#"{"id":1,"result":{"content":[{"type":"text","type":"image","text":"VALUE","data":"VALUE"}]},"extra":{"VALUE":"VALUE"},"params":"VALUE"}"#),
    ("tools/call", r#"{"id":1,"result":{"content":{"type":"text","text":"VALUE"},"structuredContent":"VALUE"}}"#),
    ("tools/call", r#"{"id":1,"result":"VALUE"}"#),
    ("tools/call", r#"{"id":1,"result":["VALUE",{"VALUE":NUMBER}]}"#),
    ("tools/call", r#"{"id":1,"result":{"task":{"taskId":"OPAQUE","status":"working","statusMessage":"VALUE","createdAt":"2025","ttl":1}}}"#),
    ("tools/call", r#"{"id":1,"result":{"resultType":"task","taskId":"OPAQUE","status":"working","statusMessage":"VALUE"}}"#),
    ("tools/call", r#"{"id":1,"result":{"resultType":"input_required","inputRequests":{"OPAQUE":{"method":"elicitation/create","params":{"mode":"form","message":"VALUE","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"VALUE","default":"VALUE"}}}}},"b":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"VALUE"}}],"maxTokens":1}},"c":{"method":"new","params":{"VALUE":"VALUE"}}},"requestState":"OPAQUE"}}"#),
    ("resources/list", r#"{"id":1,"result":{"resources":[{"uri":"file:///home?q=VALUE","name":"VALUE","title":"VALUE","description":"VALUE","mimeType":"VALUE","size":5}],"nextCursor":"OPAQUE"}}"#),
    ("resources/templates/list", r#"{"id":1,"result":{"resourceTemplates":[{"uriTemplate":"file:///{p}?q=VALUE","name":"VALUE","title":"VALUE","description":"VALUE"}],"nextCursor":"OPAQUE"}}"#),
    ("resources/read", r#"{"id":1,"result":{"contents":[{"uri":"file:///VALUE","mimeType":"VALUE","text":"VALUE"},{"uri":"f:b","mimeType":"application/json","blob":"BASE64"},{"uri":"f:c","blob":"BASE64"}]}}"#),
    ("subscriptions/listen", r#"{"id":1,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"OPAQUE"},"x":"VALUE"}}"#),
    ("prompts/list", r#"{"id":1,"result":{"prompts":[{"name":"p","title":"VALUE","description":"VALUE","arguments":[{"name":"a","title":"VALUE","description":"VALUE","required":true}]}],"nextCursor":"OPAQUE"}}"#),
    ("prompts/get", r#"{"id":1,"result":{"description":"VALUE","messages":[{"role":"user","content":{"type":"text","text":"VALUE"}},{"role":"VALUE","content":{"type":"resource","resource":{"uri":"f:VALUE","text":"VALUE"}}}]}}"#),
    ("completion/complete", r#"{"id":1,"result":{"completion":{"values":["VALUE"],"total":1,"hasMore":false}}}"#),
    ("logging/setLevel", r#"{"id":1,"result":{"x":"VALUE"}}"#),
    ("tasks/get", r#"{"id":1,"result":{"taskId":"OPAQUE","statusMessage":"VALUE","result":{"content":[{"type":"text","text":"VALUE"}],"structuredContent":{"VALUE":NUMBER}},"error":{"code":1,"message":"VALUE","data":"VALUE"}}}"#),
    ("tasks/list", r#"{"id":1,"result":{"tasks":[{"taskId":"OPAQUE","statusMessage":"VALUE"}]}}"#),
    ("tasks/result", r#"{"id":1,"result":{"content":[{"type":"text","text":"VALUE"}]}}"#),
    ("never/heard", r#"{"id":1,"result":{"type":"VALUE","x":{"VALUE":[NUMBER]}}}"#),
    ("", r#"{"id":1,"result":{"nextCursor":"VALUE","VALUE":"VALUE"}}"#),
    ("tools/call", r#"{"id":1,"error":{"code":-32603,"message":"no VALUE","data":{"data":"VALUE","VALUE":[NUMBER],"elicitations":[{"url":"VALUE"}],"uri":"VALUE"},"x":"VALUE"}}"#),
    ("tools/call", r#"{"id":1,"error":{"code":-32042,"message":"VALUE","data":{"elicitations":[{"mode":"url","elicitationId":"OPAQUE","url":"OPAQUE","message":"VALUE"}],"x":"VALUE"}}}"#),
    ("resources/read", r#"{"id":1,"error":{"code":-32002,"message":"VALUE","data":{"uri":"file:///VALUE"}}}"#),
    ("", r#"{"id":null,"error":{"code":-32700,"message":"VALUE"}}"#),
    ("", r#"{"id":"OPAQUE","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"text","text":"VALUE"},{"type":"tool_use","id":"OPAQUE","name":"t","input":{"VALUE":"VALUE","n":NUMBER}},{"type":"tool_result","toolUseId":"OPAQUE","content":[{"type":"text","text":"VALUE"}],"structuredContent":{"VALUE":NUMBER}}]}],"systemPrompt":"VALUE","stopSequences":["VALUE"],"metadata":{"VALUE":"VALUE"},"modelPreferences":{"hints":[{"name":"VALUE"}]},"maxTokens":1,"tools":[{"name":"t","description":"VALUE","inputSchema":{}}],"new":"VALUE"}}"#),
    ("", r#"{"id":1,"method":"elicitation/create","params":{"mode":"form","message":"VALUE","requestedSchema":{"type":"object","properties":{"OPAQUE":{"type":"string","title":"VALUE","description":"VALUE","default":"VALUE","enum":["VALUE"],"enumNames":["VALUE"]},"b":{"oneOf":[{"const":"VALUE","title":"VALUE"}]},"c":{"type":"array","items":{"anyOf":[{"const":"VALUE"}]}}}}}}"#),
    ("", r#"{"id":1,"method":"elicitation/create","params":{"mode":"url","message":"VALUE","url":"OPAQUE","elicitationId":"OPAQUE"}}"#),
    ("", r#"{"id":1,"method":"roots/list","params":{"x":"VALUE"}}"#),
    ("", r#"{"id":1,"method":"ping","params":{"VALUE":"VALUE"}}"#),
    ("", r#"{"method":"notifications/progress","params":{"progressToken":"OPAQUE","progress":1,"total":2,"message":"VALUE","x":"VALUE"}}"#),
    ("", r#"{"method":"notifications/cancelled","params":{"requestId":"OPAQUE","reason":"VALUE"}}"#),
    ("", r#"{"method":"notifications/message","params":{"level":"VALUE","logger":"VALUE","data":{"data":"VALUE","VALUE":NUMBER}}}"#),
    ("", r#"{"method":"notifications/message","params":{"level":"info","data":"VALUE"}}"#),
    ("", r#"{"method":"notifications/tools/list_changed","params":{"x":"VALUE"}}"#),
    ("", r#"{"method":"notifications/prompts/list_changed","params":{"_meta":{"x":"VALUE"}}}"#),
    ("", r#"{"method":"notifications/resources/list_changed","params":["VALUE"]}"#),
    ("", r#"{"method":"notifications/resources/updated","params":{"uri":"file:///VALUE"}}"#),
    ("", r#"{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["f:VALUE"],"taskIds":["OPAQUE"]}}}"#),
    ("", r#"{"method":"notifications/elicitation/complete","params":{"elicitationId":"OPAQUE","x":"VALUE"}}"#),
    ("", r#"{"method":"notifications/tasks/status","params":{"taskId":"OPAQUE","statusMessage":"VALUE","result":{"content":[{"type":"text","text":"VALUE"}]}}}"#),
    ("", r#"{"method":"notifications/tasks","params":{"taskId":"OPAQUE","result":{"structuredContent":{"VALUE":"VALUE"}}}}"#),
];

/// A value, and what of it must not be seen.
#[rustfmt::skip]
const VALUES: &[(&str, &str)] = &[
    ("marie.curie@example.eu", "marie.curie"),
    ("4111 1111 1111 1111", "4111111111111111"),
    ("4111111111111111", "4111111111111111"),
    ("FR76 3000 6000 0112 3456 7890 189", "30006000011234567890189"),
    ("+46 8 123 456 78", "46812345678"),
    ("198.51.100.23", "198.51.100.23"),
];

const KEPT: &str = "kept.always@example.org";

/// The ways in which a value is written into a string.
fn representations(value: &str) -> Vec<String> {
    let escaped: String = value
        .chars()
        .map(|c| format!("\\u{:04x}", c as u32))
        .collect();
    let within = json::quote(&format!(r#"{{"a":[{}]}}"#, json::quote(value)));
    let hidden = json::quote(&format!(r#"{{"a":["{escaped}"]}}"#));
    vec![
        value.to_owned(),
        format!("see {value}, please"),
        escaped,
        within[1..within.len() - 1].to_owned(),
        hidden[1..hidden.len() - 1].to_owned(),
    ]
}

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::prelude::BASE64_STANDARD.encode(text)
}

fn filled(message: &str, value: &str) -> String {
    message
        .replace("VALUE", value)
        .replace("NUMBER", "4111111111111111")
        .replace("BASE64", &base64("{\"x\":\"marie.curie@example.eu\"}"))
        .replace("OPAQUE", KEPT)
        .replace("SCHEMA", KEPT)
}

/// Whether `secret` can be read from `text`, taking escapes, base64 and separators away.
fn leaks(text: &str, secret: &str) -> bool {
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let mut views = vec![text.to_owned()];
    for _ in 0..3 {
        let last = views.last().unwrap();
        views.push(json::decode(last.as_bytes()).into_owned());
    }
    for word in text.split(|c: char| !c.is_ascii_alphanumeric() && !"+/=".contains(c)) {
        use base64::Engine;
        if let Ok(bytes) = base64::prelude::BASE64_STANDARD.decode(word) {
            views.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    views.iter().any(|view| {
        let hidden = secret.bytes().all(|byte| byte.is_ascii_digit());
        view.contains(secret) || (hidden && digits(view).contains(secret))
    })
}

/// Messages that leak, with protection and tripwire on or off.
fn leaking(protect: bool, tripwire: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (about, message) in FROM_UPSTREAM {
        for (value, secret) in VALUES {
            for written in representations(value) {
                let mut gate = Gate::new();
                gate.protect = protect;
                gate.tripwire = tripwire;
                let (flow, out) = gate.from(0, about, &filled(message, &written));
                assert_eq!(flow, Flow::Forward, "{about} {message}");
                assert_eq!(json::check(out.as_bytes()), Ok(()));
                if leaks(&out, secret)
                    || leaks(&out, "marie.curie")
                    || leaks(&out, "4111111111111111")
                {
                    found.push(format!("{about} {value} as {written}\n{out}"));
                }
            }
        }
    }
    found
}

#[test]
fn nothing_gets_through() {
    let found = leaking(true, true);
    assert!(
        found.is_empty(),
        "{} leaks, the first: {}",
        found.len(),
        found[0]
    );
}

#[test]
fn without_protection_the_probe_finds_everything() {
    let all: usize = VALUES
        .iter()
        .map(|(value, _)| representations(value).len())
        .sum();
    assert_eq!(leaking(false, false).len(), FROM_UPSTREAM.len() * all);
}

#[test]
fn each_guard_is_needed() {
    // The tripwire alone catches what it can see, the typed pass alone leaves keys and kept words.
    let without_tripwire = leaking(true, false);
    assert!(!without_tripwire.is_empty());
    assert!(
        without_tripwire.iter().any(|leak| leak.starts_with("ping")),
        "keys"
    );
}

#[test]
fn what_a_peer_must_get_back_is_kept() {
    for (about, message) in FROM_UPSTREAM {
        let wanted = message.matches("OPAQUE").count() + message.matches("SCHEMA").count();
        let (_, out) = Gate::new().from(0, about, &filled(message, "x"));
        assert_eq!(out.matches(KEPT).count(), wanted, "{about} {out}");
    }
}

#[test]
fn no_note_holds_a_value() {
    let gate = Gate::new();
    for (about, message) in FROM_UPSTREAM {
        gate.from(0, about, &filled(message, "marie.curie@example.eu"));
    }
    let log = gate.log().concat();
    assert!(log.contains("Sanitized") && log.contains("Tripped") && log.contains("Schema"));
    assert!(!leaks(&log, "marie.curie") && !leaks(&log, "kept.always"));
}

#[test]
fn look_alikes_are_neutralised_on_every_surface() {
    for (about, message) in FROM_UPSTREAM {
        for fake in [
            "[EMAIL_0]",
            "[email_0]",
            r"\\[Email\\_0\\]",
            "%5BEMAIL_0%5D",
            r"\u005bEMAIL_0\u005d",
        ] {
            let message = message
                .replace("VALUE", fake)
                .replace("SCHEMA", fake)
                .replace("BASE64", &base64("[EMAIL_0]"))
                .replace("NUMBER", "1");
            let (_, out) = Gate::new().from(0, about, &message);
            let decoded = json::decode(out.as_bytes())
                .to_uppercase()
                .replace('\\', "");
            assert!(
                !decoded.contains("[EMAIL_0]") && !decoded.contains("%5BEMAIL_0%5D"),
                "{about} {out}"
            );
            assert!(!out.contains(&base64("[EMAIL_0]")), "{about} {out}");
        }
    }
}
