//! What servers ask the client.

use serde_json::json;

use crate::support::{Setup, id, json, result};

const ALL: &str = r#"{"sampling":{},"elicitation":{},"roots":{"listChanged":true}}"#;

#[test]
fn questions_are_relayed_and_answered_to_who_asked() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session(ALL, [("a", "{}"), ("b", "{}")]);
    for (method, params) in [
        ("sampling/createMessage", r#"{"messages":[]}"#),
        ("elicitation/create", r#"{"message":"?"}"#),
        ("roots/list", "{}"),
    ] {
        // Both count from 0, and one of them in strings.
        let ids = [(&a, "0"), (&b, r#""0""#)];
        let mut asked = Vec::new();
        for (server, id) in ids {
            server.say(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
            ));
            let question = client.line();
            assert_eq!(json(&question)["method"], method);
            asked.push(crate::support::id(&question));
        }
        assert_ne!(asked[0], asked[1]);
        for ((server, id), ours) in ids.iter().zip(&asked).rev() {
            let own = format!(r#"{{"for":"{}"}}"#, server.name);
            client.send(result(ours, &own));
            assert_eq!(String::from_utf8(server.line()).unwrap(), result(id, &own));
        }
    }
    client.end();
}

#[test]
fn the_clients_refusal_reaches_the_server() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session(ALL, [("a", "{}")]);
    a.say(r#"{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}"#);
    let question = client.line();
    client.send(crate::support::error(
        &id(&question),
        -1,
        "the user said no",
    ));
    let answer = json(&a.line());
    assert_eq!(answer["id"], "q");
    assert_eq!(
        answer["error"],
        json!({"code": -1, "message": "the user said no"})
    );
    client.end();
}

#[test]
fn a_client_is_asked_only_what_it_can() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet(
        "2025-11-25",
        r#"{"roots":{},"experimental":{"x":{}},"tasks":{}}"#,
    );
    let a = setup.server("a");
    let asked = a.welcome("{}");
    assert_eq!(asked["params"]["capabilities"], json!({"roots": {}}));
    client.greeted();
    for method in [
        "sampling/createMessage",
        "elicitation/create",
        "tasks/list",
        "unheard/of",
    ] {
        a.say(format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{}}}}"#
        ));
        let answer = json(&a.line());
        assert_eq!(answer["id"], 7);
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    client.expect_silence();
    client.end();
}

#[test]
fn a_servers_ping_is_answered_here() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let a = setup.server("a");
    let hello = a.expect("initialize");
    a.say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    // Before or after the handshake is over.
    a.answer(&hello, r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#);
    let mut heard = [a.line(), a.line()].map(|line| json(&line));
    heard.sort_by_key(|msg| msg["id"].is_string());
    assert_eq!(heard[0]["method"], "notifications/initialized");
    assert_eq!(heard[1], json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    client.greeted();
    a.say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(json(&a.line())["id"], "p");
    client.expect_silence();
    client.end();
}

#[test]
fn questions_wait_until_the_client_is_initialized() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet("2025-11-25", ALL);
    let a = setup.server("a");
    a.welcome("{}");
    let hello = client.json();
    assert_eq!(hello["id"], 0);
    a.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    a.settle();
    client.expect_silence();
    client.notify("notifications/initialized", "{}");
    client.expect("roots/list");
    client.end();
}

#[test]
fn a_server_withdraws_its_question() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session(ALL, [("a", "{}")]);
    a.say(r#"{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"?"}}"#);
    let question = client.line();
    a.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"late"}}"#);
    let cancelled = client.expect("notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"].to_string(), id(&question));
    assert_eq!(cancelled["params"]["reason"], "late");
    // A late answer goes to nobody.
    client.send(result(&id(&question), "{}"));
    a.say(r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#);
    assert_eq!(json(&a.line())["id"], 4);
    client.end();
}

#[test]
fn a_question_ends_with_the_server_that_asked() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session(ALL, [("a", r#"{"tools":{}}"#)]);
    a.say(r#"{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"?"}}"#);
    let question = client.line();
    a.exit(0);
    let cancelled = client.expect("notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"].to_string(), id(&question));
    // Its successor is not given the answer.
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    let a = setup.greeted("a", r#"{"tools":{}}"#);
    a.expect("tools/call");
    client.send(result(&id(&question), r#"{"action":"accept"}"#));
    client.ask("2", "tools/call", r#"{"name":"a__t"}"#);
    a.expect("tools/call");
    client.end();
}

#[test]
fn answers_to_nothing_go_to_nobody() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session(ALL, [("a", r#"{"tools":{}}"#), ("b", "{}")]);
    a.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    let question = id(&client.line());
    for id in [
        "1",
        r#""1""#,
        r#""b:1""#,
        r#""a:99""#,
        r#""c:1""#,
        r#""""#,
        "null",
    ] {
        client.send(result(id, r#"{"roots":[]}"#));
    }
    client.send(result(&question, r#"{"roots":[]}"#));
    assert_eq!(json(&a.line())["id"], 1);
    // Nor twice.
    client.send(result(&question, r#"{"roots":[]}"#));
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    a.expect("tools/call");
    client.close();
    b.expect_eof();
}

#[test]
fn progress_of_the_clients_answer_reaches_who_asked() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session(ALL, [("a", "{}")]);
    a.say(r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"_meta":{"progressToken":"t"}}}"#);
    let question = client.json();
    let token = question["params"]["_meta"]["progressToken"].to_string();
    client.notify(
        "notifications/progress",
        &format!(r#"{{"progressToken":{token},"progress":0.5}}"#),
    );
    assert_eq!(
        json(&a.expect("notifications/progress"))["params"],
        json!({"progressToken": "t", "progress": 0.5}),
    );
    client.end();
}

#[test]
fn changed_roots_are_told_to_all() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, servers) = setup.session(ALL, [("a", "{}"), ("b", "{}")]);
    client.notify("notifications/roots/list_changed", "{}");
    for server in &servers {
        server.expect("notifications/roots/list_changed");
    }
    client.end();
}
