//! Batches, which MCP 2025-03-26 has and no other revision.

use crate::support::{Setup, id, json, result};

const TOOLS: &str = r#"{"tools":{}}"#;

#[test]
fn batches_are_answered_as_batches_where_they_exist() {
    let setup = Setup::new(&["a", "b"]);
    let mut client = setup.start();
    client.greet("2025-03-26", "{}");
    let (a, b) = (setup.greeted("a", TOOLS), setup.greeted("b", TOOLS));
    client.greeted();
    client.send(
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}},
            {"jsonrpc":"2.0","method":"notifications/roots/list_changed"},
            {"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"b__t"}},
            {"jsonrpc":"2.0","id":2,"method":"ping"},
            {"jsonrpc":"2.0","id":3,"method":"unheard/of"}]"#
            .replace('\n', " "),
    );
    let first = a.expect("tools/call");
    a.expect("notifications/roots/list_changed");
    b.expect("notifications/roots/list_changed");
    let second = b.expect("tools/call");
    client.expect_silence();
    b.answer(&second, r#"{"n":1.0}"#);
    a.answer(&first, "{}");
    let answer = client.text();
    assert!(
        answer.contains(&result(r#""1""#, r#"{"n":1.0}"#)),
        "{answer}"
    );
    let answer = json(answer.as_bytes());
    let mut ids: Vec<String> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].to_string())
        .collect();
    ids.sort();
    assert_eq!(ids, [r#""1""#, "1", "2", "3"]);
    // Nothing but notifications is answered with nothing.
    client.send(r#"[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]"#);
    a.expect("notifications/roots/list_changed");
    client.expect_silence();
    for refused in [
        "[]",
        "[1]",
        r#"[{"jsonrpc":"2.0","id":9,"method":"initialize","params":{}}]"#,
    ] {
        client.send(refused);
        let answer = client.json();
        let error = if answer.is_array() {
            &answer[0]["error"]
        } else {
            &answer["error"]
        };
        assert_eq!(error["code"], -32600, "{refused}: {answer}");
    }
    client.expect_silence();
    client.end();
}

#[test]
fn a_cancelled_call_does_not_hold_up_its_batch() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet("2025-03-26", "{}");
    let a = setup.greeted("a", TOOLS);
    client.greeted();
    client.send(r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#);
    a.expect("tools/call");
    client.notify("notifications/cancelled", r#"{"requestId":1}"#);
    let answer = client.json();
    assert_eq!(answer.as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(answer[0]["id"], 2);
    client.end();
}

#[test]
fn batches_are_refused_elsewhere() {
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let setup = Setup::new(&["a"]);
        let mut client = setup.start();
        client.greet(revision, "{}");
        let a = setup.greeted("a", TOOLS);
        client.greeted();
        for batch in [
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t"}}]"#,
        ] {
            client.send(batch);
            assert_eq!(client.json()["error"]["code"], -32600, "{revision} {batch}");
        }
        client.close();
        a.expect_eof();
    }
}

#[test]
fn a_servers_batch_is_taken_apart() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    client.ask("2", "tools/call", r#"{"name":"a__t"}"#);
    let (first, second) = (a.expect("tools/call"), a.expect("tools/call"));
    a.say(format!(
        r#"[{},{{"jsonrpc":"2.0","method":"notifications/message","params":{{}}}} , {}]"#,
        result(&id(&second), r#"{"n":1.0}"#),
        result(&id(&first), "{}"),
    ));
    assert_eq!(client.text(), result("2", r#"{"n":1.0}"#));
    client.expect("notifications/message");
    assert_eq!(client.text(), result("1", "{}"));
    client.end();
}
