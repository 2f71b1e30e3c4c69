//! What each surface does on the way to an upstream, and what a tool's schemas look like.

use cloak_stages::Flow;

use crate::gate::Gate;

/// What a client may send: the method it answers, and the message. `TOKEN` is restored, `ID` stays.
#[rustfmt::skip]
const FROM_CLIENT: &[(&str, &str)] = &[
    ("", r#"{"id":"ID","method":"tools/call","params":{"name":"TOKEN","arguments":{"a":"TOKEN","TOKEN":[["x TOKEN"]],"type":"TOKEN","data":"TOKEN"},"_meta":{"progressToken":"ID","io.modelcontextprotocol/related-task":{"taskId":"ID"},"x":"TOKEN"},"requestState":"ID","inputResponses":{"ID":{"action":"accept","content":{"a":"TOKEN"}}},"new":"TOKEN"}}"#),
    ("", r#"{"id":1,"method":"prompts/get","params":{"name":"p","arguments":{"a":"TOKEN"}}}"#),
    ("", r#"{"id":1,"method":"resources/read","params":{"uri":"file:///TOKEN/x"}}"#),
    ("", r#"{"id":1,"method":"resources/subscribe","params":{"uri":"file:///TOKEN"}}"#),
    ("", r#"{"id":1,"method":"resources/unsubscribe","params":{"uri":"TOKEN"}}"#),
    ("", r#"{"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"f:TOKEN"},"argument":{"name":"a","value":"TOKEN"},"context":{"arguments":{"b":"TOKEN"}}}}"#),
    ("", r#"{"id":1,"method":"tools/list","params":{"cursor":"ID"}}"#),
    ("", r#"{"id":1,"method":"tasks/get","params":{"taskId":"ID"}}"#),
    ("", r#"{"id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["f:TOKEN"],"taskIds":["ID"]}}}"#),
    ("", r#"{"method":"notifications/cancelled","params":{"requestId":"ID","reason":"TOKEN"}}"#),
    ("", r#"{"method":"notifications/progress","params":{"progressToken":"ID","message":"TOKEN"}}"#),
    ("sampling/createMessage", r#"{"id":1,"result":{"role":"assistant","content":[{"type":"text","text":"TOKEN"},{"type":"tool_use","id":"ID","name":"t","input":{"a":"TOKEN"}}],"model":"m","stopReason":"endTurn"}}"#),
    ("elicitation/create", r#"{"id":1,"result":{"action":"accept","content":{"a":"TOKEN","b":["TOKEN"]}}}"#),
    ("roots/list", r#"{"id":1,"result":{"roots":[{"uri":"file:///TOKEN","name":"TOKEN"}]}}"#),
    ("sampling/createMessage", r#"{"id":1,"error":{"code":1,"message":"TOKEN","data":{"x":"TOKEN"}}}"#),
    ("", r#"{"id":1,"result":{"anything":"TOKEN"}}"#),
];

#[test]
fn tokens_are_restored_where_the_table_says_so() {
    for (about, message) in FROM_CLIENT {
        let gate = Gate::new();
        gate.shown("tools/call", r#"{"structuredContent":"marie@example.eu"}"#);
        let sent = message
            .replace("TOKEN", "[EMAIL_0]")
            .replace("ID", "[EMAIL_0]");
        let wanted = message
            .replace("TOKEN", "marie@example.eu")
            .replace("ID", "[EMAIL_0]");
        assert_eq!(gate.to(0, about, &sent), (Flow::Forward, wanted));
    }
}

#[test]
fn a_tool_list_keeps_its_bytes_but_for_words_and_what_a_token_violates() {
    let gate = Gate::new();
    let tools = r#"{ "tools" : [ {"name":"send","description":"As jane@example.eu","inputSchema":{"type":"object","properties":{"to":{"type":"string","format":"email","default":"jo@example.eu"}}},"outputSchema":{"type":"object","properties":{"to":{"type":"string","format":"email"},"n":{"type":"integer"}},"required":["to"]}} ] }"#;
    let shown = gate.shown("tools/list", tools);
    let wanted = tools.replace("jane@example.eu", "[EMAIL_0]").replace(
        r#"{"type":"string","format":"email"},"n":{"type":"integer"}"#,
        r#"{"type":"string"},"n":{"type":["integer","string"]}"#,
    );
    assert_eq!(shown, wanted);
    gate.shown("tools/list", tools);
    let told: Vec<_> = gate
        .log()
        .into_iter()
        .filter(|line| line.contains("SchemaRelaxed"))
        .collect();
    assert_eq!(told.len(), 2, "once for each lane: {told:?}");
    assert!(told[0].contains("send"));
}

#[test]
fn a_schema_of_the_input_is_never_touched() {
    let schema = r#"{"type":"object","properties":{"a":{"format":"email","pattern":"x","enum":["a@b.co"]}},"additionalProperties":false}"#;
    let tools = format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#);
    assert_eq!(Gate::new().shown("tools/list", &tools), tools);
}
