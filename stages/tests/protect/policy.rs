//! Who gets which values.

use std::sync::Arc;

use cloak_stages::Flow;
use cloak_stages::protect::{FreshValues, Mode, Scope};
use cloak_stages::vault::{InMemory, Numbers};

use crate::gate::Gate;

const CALL: &str = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t","arguments":{"to":"ARG"}}}"#;

fn call(argument: &str) -> String {
    CALL.replace("ARG", argument)
}

fn show(gate: &Gate, upstream: u16, text: &str) {
    let text = format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#);
    gate.from(upstream, "tools/call", &text);
}

#[test]
fn in_a_session_any_upstream_gets_a_value_and_it_is_told() {
    let gate = Gate::new();
    show(&gate, 0, "marie@example.eu");
    assert_eq!(
        gate.to(1, "", &call("[EMAIL_0]")),
        (Flow::Forward, call("marie@example.eu"))
    );
    assert!(
        gate.log()
            .iter()
            .any(|line| line.contains("CrossUpstream") && line.contains("[EMAIL_0]"))
    );
    assert!(!gate.log().iter().any(|line| line.contains("marie")));
}

#[test]
fn with_the_narrow_scope_an_upstream_gets_only_what_it_returned() {
    let mut gate = Gate::new();
    gate.policy.scope = Scope::Upstream;
    show(&gate, 0, "marie@example.eu");
    for written in [
        "[EMAIL_0]",
        "[email_0]",
        r"\\[EMAIL\\_0\\]",
        "%5BEMAIL_0%5D",
        "\\u005bEMAIL_0]",
    ] {
        let (flow, answer) = gate.to(1, "", &call(written));
        assert_eq!(flow, Flow::Back, "{written}");
        assert!(
            answer.contains("-32602") && answer.contains("[EMAIL_0]"),
            "{answer}"
        );
        assert!(!answer.contains("marie"));
    }
    assert_eq!(gate.to(0, "", &call("[EMAIL_0]")).0, Flow::Forward);
    // Provenance is a set: once the other has returned the value too, it may have it.
    show(&gate, 1, "marie@example.eu");
    assert_eq!(
        gate.to(1, "", &call("[EMAIL_0]")),
        (Flow::Forward, call("marie@example.eu"))
    );
}

#[test]
fn the_narrow_scope_holds_on_every_channel_that_restores() {
    let mut gate = Gate::new();
    gate.policy.scope = Scope::Upstream;
    show(&gate, 0, "marie@example.eu");
    for (about, text) in [
        (
            "",
            r#"{"id":1,"method":"prompts/get","params":{"name":"p","arguments":{"a":"[EMAIL_0]"}}}"#,
        ),
        (
            "",
            r#"{"id":1,"method":"resources/read","params":{"uri":"f:///[EMAIL_0]"}}"#,
        ),
        (
            "",
            r#"{"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"[EMAIL_0]"}}}"#,
        ),
        (
            "sampling/createMessage",
            r#"{"id":1,"result":{"role":"assistant","content":{"type":"text","text":"[EMAIL_0]"},"model":"m"}}"#,
        ),
        (
            "elicitation/create",
            r#"{"id":1,"result":{"action":"accept","content":{"a":"[EMAIL_0]"}}}"#,
        ),
        (
            "",
            r#"{"method":"notifications/cancelled","params":{"requestId":1,"reason":"[EMAIL_0]"}}"#,
        ),
    ] {
        let (flow, sent) = gate.to(1, about, text);
        let refused = sent.contains("-32602") && !sent.contains("marie");
        assert!(refused || flow == Flow::Drop, "{flow:?} {sent}");
    }
}

#[test]
fn values_of_every_channel_have_an_origin() {
    for (about, text) in [
        (
            "resources/list",
            r#"{"id":1,"result":{"resources":[{"uri":"f:a","name":"marie@example.eu"}]}}"#,
        ),
        (
            "",
            r#"{"id":1,"method":"sampling/createMessage","params":{"messages":[],"systemPrompt":"marie@example.eu","maxTokens":9}}"#,
        ),
        (
            "",
            r#"{"method":"notifications/message","params":{"level":"info","data":"marie@example.eu"}}"#,
        ),
        (
            "tools/call",
            r#"{"id":1,"result":{"structuredContent":{"marie@example.eu":1}}}"#,
        ),
    ] {
        let mut gate = Gate::new();
        gate.policy.scope = Scope::Upstream;
        gate.from(0, about, text);
        assert_eq!(
            gate.to(0, "", &call("[EMAIL_0]")).0,
            Flow::Forward,
            "{text}"
        );
        assert_eq!(gate.to(1, "", &call("[EMAIL_0]")).0, Flow::Back, "{text}");
    }
}

#[test]
fn a_token_of_an_earlier_session_is_refused_and_a_look_alike_passes() {
    let numbers = Arc::new(InMemory::default());
    let first = Gate::numbered(Arc::clone(&numbers));
    show(&first, 0, "marie@example.eu");
    drop(first);
    assert_eq!(numbers.issued_below("EMAIL"), 1);
    let second = Gate::numbered(numbers);
    show(&second, 0, "jo@example.eu");
    let (flow, answer) = second.to(0, "", &call("[EMAIL_0]"));
    assert_eq!(flow, Flow::Back);
    assert!(
        answer.contains("-32602") && answer.contains("read the source"),
        "{answer}"
    );
    assert_eq!(
        second.to(0, "", &call("[EMAIL_1]")),
        (Flow::Forward, call("jo@example.eu"))
    );
    assert_eq!(
        second.to(0, "", &call("[EMAIL_2]")),
        (Flow::Forward, call("[EMAIL_2]"))
    );
}

#[test]
fn fresh_values_to_a_third_party() {
    let mut gate = Gate::new();
    let fresh = call("x jo@example.org y");
    let told = |gate: &Gate| {
        gate.log()
            .iter()
            .filter(|line| line.contains("FreshValues"))
            .count()
    };
    assert_eq!(gate.to(0, "", &fresh).0, Flow::Forward);
    assert_eq!(told(&gate), 0, "not a third party");
    gate.policy.third_party = true;
    assert_eq!(gate.to(0, "", &fresh), (Flow::Forward, fresh.clone()));
    assert_eq!(told(&gate), 1);
    show(&gate, 0, "marie@example.eu");
    assert_eq!(gate.to(0, "", &call("[EMAIL_0]")).0, Flow::Forward);
    assert_eq!(told(&gate), 1, "a token is not fresh");
    gate.policy.fresh_values = FreshValues::Block;
    let (flow, answer) = gate.to(0, "", &fresh);
    assert_eq!(flow, Flow::Back);
    assert!(
        answer.contains("EMAIL") && !answer.contains("jo@"),
        "{answer}"
    );
    let sampled = r#"{"id":1,"result":{"role":"assistant","content":{"type":"text","text":"jo@example.org"},"model":"m"}}"#;
    let (flow, sent) = gate.to(0, "sampling/createMessage", sampled);
    assert_eq!(flow, Flow::Forward);
    assert!(sent.contains("-32602") && !sent.contains("jo@"), "{sent}");
    let typed = r#"{"id":1,"result":{"action":"accept","content":{"a":"jo@example.org"}}}"#;
    assert_eq!(
        gate.to(0, "elicitation/create", typed),
        (Flow::Forward, typed.into())
    );
    gate.policy.fresh_values = FreshValues::Allow;
    assert_eq!(gate.to(0, "", &fresh), (Flow::Forward, fresh.clone()));
}

#[test]
fn redacted_values_cannot_come_back() {
    let mut gate = Gate::new();
    gate.policy.mode = Mode::Redact;
    let shown = gate.shown("tools/call", r#"{"structuredContent":{"marie@example.eu":"jo@example.eu","lea@example.eu":1,"[EMAIL_REDACTED]":2}}"#);
    assert_eq!(
        shown,
        r#"{"structuredContent":{"[EMAIL_REDACTED]":"[EMAIL_REDACTED]","[EMAIL_REDACTED] (2)":1,"［EMAIL_REDACTED］":2}}"#
    );
    assert!(gate.vault.is_empty());
    assert_eq!(
        gate.to(0, "", &call("[EMAIL_REDACTED]")),
        (Flow::Forward, call("[EMAIL_REDACTED]"))
    );
}

#[test]
fn unknown_methods_are_turned_away() {
    let gate = Gate::new();
    let (flow, answer) = gate.to(0, "", r#"{"id":1,"method":"secrets/list"}"#);
    assert_eq!(flow, Flow::Back);
    assert!(answer.contains("-32601") && answer.contains("secrets/list"));
    let (flow, answer) = gate.from(0, "", r#"{"id":1,"method":"tools/call","params":{}}"#);
    assert_eq!(flow, Flow::Back);
    assert!(answer.contains("-32601"));
    assert_eq!(
        gate.from(0, "", r#"{"method":"notifications/x","params":{}}"#)
            .0,
        Flow::Drop
    );
    assert_eq!(gate.log().len(), 3);
}

#[test]
fn a_vault_that_is_full_keeps_the_answer_back() {
    struct None;
    impl Numbers for None {
        fn reserve(&self, _: &str, _: u64) -> Result<std::ops::Range<u64>, String> {
            Err("the state file is locked".into())
        }
        fn issued_below(&self, _: &str) -> u64 {
            0
        }
    }
    let gate = Gate::numbered(None);
    let answer = r#"{"id":1,"result":{"content":[{"type":"text","text":"marie@example.eu"}]}}"#;
    let (flow, text) = gate.from(0, "tools/call", answer);
    assert_eq!(flow, Flow::Forward);
    assert!(
        text.contains("-32603") && text.contains("locked") && !text.contains("marie"),
        "{text}"
    );
    let note = r#"{"method":"notifications/message","params":{"data":"marie@example.eu"}}"#;
    assert_eq!(gate.from(0, "", note).0, Flow::Drop);
    let (flow, text) = gate.from(0, "", r#"{"id":1,"method":"sampling/createMessage","params":{"systemPrompt":"marie@example.eu"}}"#);
    assert_eq!(flow, Flow::Back);
    assert!(text.contains("-32603"));
}

#[test]
fn a_text_over_the_limit_keeps_the_answer_back() {
    let answer = |text: &str| {
        format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
    };
    let mut gate = Gate::new();
    gate.longest = 20;
    let (_, text) = gate.from(0, "tools/call", &answer(r"twenty \u0063haracters.."));
    assert!(text.contains("twenty"), "{text}");
    let (_, text) = gate.from(0, "tools/call", &answer("twenty-one characters"));
    assert!(
        text.contains("-32603") && text.contains("longer than 20"),
        "{text}"
    );
    gate.longest = 0;
    let (_, text) = gate.from(0, "tools/call", &answer("twenty-one characters"));
    assert!(text.contains("twenty-one"), "{text}");
}
