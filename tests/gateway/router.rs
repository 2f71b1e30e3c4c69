//! Who is asked, who is answered, and what becomes of what nobody asked for.

use serde_json::json;

use crate::support::{Setup, id, json, result};

const TOOLS: &str = r#"{"tools":{}}"#;

#[test]
fn names_say_who_is_asked() {
    let setup = Setup::new(&["a", "b-2"]);
    let all = r#"{"tools":{},"prompts":{},"completions":{}}"#;
    let (mut client, [a, b]) = setup.session("{}", [("a", all), ("b-2", all)]);
    for (name, server, bare) in [
        ("a__t", &a, "t"),
        ("b-2__t", &b, "t"),
        ("a__b-2__t", &a, "b-2__t"),
        ("a___t", &a, "_t"),
        ("a__", &a, ""),
        (r"\u0061__t", &a, "t"),
        (r"a\u005f_t", &a, "t"),
    ] {
        for method in ["tools/call", "prompts/get"] {
            client.ask("1", method, &format!(r#"{{"name":"{name}"}}"#));
            let request = server.expect(method);
            assert_eq!(json(&request)["params"]["name"], bare);
            server.answer(&request, "{}");
            assert_eq!(client.text(), result("1", "{}"));
        }
        let reference = format!(
            r#"{{"ref":{{"type":"ref/prompt","name":"{name}"}},"argument":{{"name":"x","value":"y"}}}}"#
        );
        client.ask("2", "completion/complete", &reference);
        let request = server.expect("completion/complete");
        assert_eq!(json(&request)["params"]["ref"]["name"], bare);
        server.answer(&request, r#"{"completion":{"values":[]}}"#);
        assert_eq!(client.json()["id"], 2);
    }
    client.end();
}

#[test]
fn names_that_say_nothing_are_refused() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    for params in [
        r#"{"name":"t"}"#,
        r#"{"name":"c__t"}"#,
        r#"{"name":"_a__t"}"#,
        r#"{"name":""}"#,
        r#"{"name":7}"#,
        r#"{"name":"a__t","name":"a__u"}"#,
        r#"{"name":"a__t","\u006eame":"a__u"}"#,
        "{}",
        "[]",
        r#""a__t""#,
    ] {
        client.ask("1", "tools/call", params);
        let answer = client.json();
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        assert_eq!(answer["id"], 1);
    }
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call"}"#);
    assert_eq!(client.json()["error"]["code"], -32602);
    client.close();
    a.expect_eof();
}

#[test]
fn methods_that_nobody_knows_are_refused_by_name() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    for method in [
        "tools/Call",
        "unheard/of",
        "server/discover",
        "tasks/get",
        "roots/list",
        "",
    ] {
        client.ask("1", method, "{}");
        let answer = client.json();
        assert_eq!(answer["error"]["code"], -32601);
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains(method),
            "{answer}"
        );
    }
    client.notify("notifications/unheard", "{}");
    client.close();
    a.expect_eof();
}

#[test]
fn nothing_is_asked_before_initialize_but_a_ping() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.ask(r#""p""#, "ping", "{}");
    assert_eq!(client.text(), result(r#""p""#, "{}"));
    client.ask("1", "tools/list", "{}");
    assert_eq!(client.json()["error"]["code"], -32600);
    client.greet("2025-11-25", "{}");
    setup.greeted("a", TOOLS);
    client.greeted();
    client.end();
}

#[test]
fn capabilities_are_the_union_and_instructions_are_joined() {
    let setup = Setup::new(&["a", "b", "c"]);
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    for (name, rest) in [
        (
            "a",
            r#""capabilities":{"tools":{},"experimental":{"x":{}},"tasks":{}},"instructions":"Ask \"a\" first.""#,
        ),
        (
            "b",
            r#""capabilities":{"resources":{"subscribe":true},"logging":{}}"#,
        ),
        (
            "c",
            r#""capabilities":{"prompts":{},"completions":{}},"instructions":"Then c.""#,
        ),
    ] {
        let server = setup.server(name);
        let request = server.expect("initialize");
        server.answer(
            &request,
            &format!(r#"{{"protocolVersion":"2025-11-25","serverInfo":{{"name":"s","version":"1"}},{rest}}}"#),
        );
    }
    let hello = client.greeted();
    assert_eq!(
        hello["capabilities"],
        json!({
            "completions": {}, "logging": {}, "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true}, "tools": {"listChanged": true},
        }),
    );
    let text = hello["instructions"].as_str().unwrap();
    let (a, c) = (text.find("Ask \"a\" first."), text.find("Then c."));
    assert!(a.is_some() && a < c, "{text}");
    client.end();
}

#[test]
fn each_revision_is_spoken_with_whom_speaks_it() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let setup = Setup::new(&["a", "b"]);
        let mut client = setup.start();
        client.greet(revision, "{}");
        let (a, b) = (setup.server("a"), setup.server("b"));
        let asked = a.welcome_in("2024-11-05", TOOLS);
        assert_eq!(asked["params"]["protocolVersion"], revision);
        b.welcome_in("2025-11-25", TOOLS);
        assert_eq!(client.greeted()["protocolVersion"], revision);
        for server in [&a, &b] {
            client.ask(
                "1",
                "tools/call",
                &format!(r#"{{"name":"{}__t"}}"#, server.name),
            );
            let request = server.expect("tools/call");
            server.answer(&request, "{}");
            assert_eq!(client.text(), result("1", "{}"));
        }
        client.end();
    }
}

#[test]
fn a_revision_that_is_not_known_becomes_the_newest() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet("2099-01-01", "{}");
    let asked = setup.server("a").welcome(TOOLS);
    assert_eq!(asked["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(client.greeted()["protocolVersion"], "2025-11-25");
    client.end();
}

#[test]
fn a_server_of_an_unknown_revision_does_not_hinder_the_others() {
    let setup = Setup::new(&["a", "b"]);
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let a = setup.server("a");
    let request = a.expect("initialize");
    a.answer(&request, r#"{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#);
    let b = setup.greeted("b", TOOLS);
    client.greeted();
    a.expect_eof();
    client.ask("1", "tools/call", r#"{"name":"b__t"}"#);
    let request = b.expect("tools/call");
    b.answer(&request, "{}");
    assert_eq!(client.text(), result("1", "{}"));
    client.end();
}

#[test]
fn resources_are_asked_of_who_listed_them() {
    let setup = Setup::new(&["a", "b"]);
    let both = r#"{"resources":{"subscribe":true},"completions":{}}"#;
    let (mut client, [a, b]) = setup.session("{}", [("a", both), ("b", both)]);
    client.ask("1", "resources/list", "{}");
    let request = a.expect("resources/list");
    a.answer(&request, r#"{"resources":[{"uri":"note:\/\/a"}]}"#);
    let request = b.expect("resources/list");
    b.answer(&request, r#"{"resources":[{"uri":"note://b"}]}"#);
    client.json();
    client.ask("2", "resources/templates/list", "{}");
    let request = a.expect("resources/templates/list");
    a.answer(&request, r#"{"resourceTemplates":[]}"#);
    let request = b.expect("resources/templates/list");
    b.answer(
        &request,
        r#"{"resourceTemplates":[{"uriTemplate":"row://{table}/{id}"}]}"#,
    );
    client.json();
    for (uri, server) in [
        ("note://a", &a),
        ("note://b", &b),
        ("row://people/7", &b),
        (r"note:\/\/\u0061", &a),
    ] {
        for method in [
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
        ] {
            client.ask("3", method, &format!(r#"{{"uri":"{uri}"}}"#));
            let request = server.expect(method);
            // The spelling is the client's.
            assert!(String::from_utf8(request.clone()).unwrap().contains(uri));
            server.answer(&request, "{}");
            assert_eq!(client.text(), result("3", "{}"));
        }
    }
    // A template is completed by who has it.
    client.ask("4", "completion/complete", r#"{"ref":{"type":"ref/resource","uri":"row://{table}/{id}"},"argument":{"name":"id","value":"1"}}"#);
    let request = b.expect("completion/complete");
    b.answer(&request, r#"{"completion":{"values":["12"]}}"#);
    assert_eq!(
        client.text(),
        result("4", r#"{"completion":{"values":["12"]}}"#)
    );
    client.end();
}

#[test]
fn a_resource_that_nobody_listed_is_asked_of_each() {
    let setup = Setup::new(&["a", "b", "c"]);
    let some = r#"{"resources":{}}"#;
    let (mut client, [a, b, c]) = setup.session("{}", [("a", some), ("b", TOOLS), ("c", some)]);
    let read = r#"{"uri":"x://1","_meta":{"progressToken":"p"}}"#;
    client.ask(r#""r""#, "resources/read", read);
    let request = a.expect("resources/read");
    a.fail(&request, -32002, "not mine");
    let request = c.expect("resources/read");
    // Progress of whoever has it is progress of the request.
    let token = json(&request)["params"]["_meta"]["progressToken"].to_string();
    c.say(format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#));
    c.answer(&request, r#"{"contents":[]}"#);
    assert_eq!(
        client.expect("notifications/progress")["params"]["progressToken"],
        "p"
    );
    assert_eq!(client.text(), result(r#""r""#, r#"{"contents":[]}"#));
    // From now on it is known.
    client.ask("2", "resources/read", read);
    let request = c.expect("resources/read");
    c.answer(&request, "{}");
    assert_eq!(client.text(), result("2", "{}"));
    // What nobody has is refused as the first of them refused it.
    client.ask("3", "resources/read", r#"{"uri":"x://2"}"#);
    for (server, code) in [(&a, -32002), (&c, -32602)] {
        let request = server.expect("resources/read");
        server.fail(&request, code, "not mine");
    }
    let answer = client.json();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(3), &json!(-32002))
    );
    client.close();
    b.expect_eof();
}

#[test]
fn the_only_server_with_resources_is_asked_for_all() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [_a, b]) = setup.session("{}", [("a", TOOLS), ("b", r#"{"resources":{}}"#)]);
    client.ask("1", "resources/read", r#"{"uri":"any:thing"}"#);
    let request = b.expect("resources/read");
    b.fail(&request, -32002, "no");
    assert_eq!(client.json()["error"]["code"], -32002);
    client.end();
}

#[test]
fn the_level_of_logs_is_set_everywhere() {
    let setup = Setup::new(&["a", "b", "c"]);
    let logging = r#"{"logging":{},"tools":{}}"#;
    let (mut client, [a, b, c]) =
        setup.session("{}", [("a", logging), ("b", TOOLS), ("c", logging)]);
    client.ask("1", "logging/setLevel", r#"{"level":"debug"}"#);
    for server in [&a, &c] {
        let request = server.expect("logging/setLevel");
        assert_eq!(json(&request)["params"], json!({"level": "debug"}));
        server.answer(&request, "{}");
    }
    assert_eq!(client.text(), result("1", "{}"));
    // Who starts again is told again.
    a.crash(&mut client, 0);
    client.ask("2", "tools/call", r#"{"name":"a__t"}"#);
    let a = setup.greeted("a", logging);
    let first = json(&a.line());
    let second = json(&a.line());
    let methods = [&first["method"], &second["method"]];
    assert!(methods.contains(&&json!("logging/setLevel")), "{methods:?}");
    assert!(methods.contains(&&json!("tools/call")), "{methods:?}");
    client.close();
    b.expect_eof();
}

#[test]
fn a_cancelled_call_is_cancelled_where_it_is() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", [("a", TOOLS), ("b", TOOLS)]);
    client.ask("1", "tools/call", r#"{"name":"b__t"}"#);
    b.expect("tools/call");
    client.ask(r#""1""#, "tools/call", r#"{"name":"a__t"}"#);
    let request = a.expect("tools/call");
    client.notify(
        "notifications/cancelled",
        r#"{"requestId":"1","reason":"enough"}"#,
    );
    let cancelled = json(&a.expect("notifications/cancelled"));
    assert_eq!(cancelled["params"]["requestId"].to_string(), id(&request));
    assert_eq!(cancelled["params"]["reason"], "enough");
    // The late answer goes to nobody, and neither do cancellations of nothing.
    a.answer(&request, "{}");
    a.settle();
    for nothing in [
        r#"{"requestId":"1"}"#,
        r#"{"requestId":99}"#,
        "{}",
        r#"{"requestId":null}"#,
    ] {
        client.notify("notifications/cancelled", nothing);
    }
    client.expect_silence();
    client.ask("2", "tools/call", r#"{"name":"a__t"}"#);
    let request = a.expect("tools/call");
    a.answer(&request, "{}");
    assert_eq!(client.text(), result("2", "{}"));
    client.close();
    b.expect_eof();
}

#[test]
fn a_cancelled_list_is_not_answered() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/list", "{}");
    let request = a.expect("tools/list");
    client.notify("notifications/cancelled", r#"{"requestId":1}"#);
    client.expect_silence();
    a.answer(&request, r#"{"tools":[]}"#);
    a.settle();
    client.expect_silence();
    // The id may be used again.
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    loop {
        let line = a.line();
        if json(&line)["method"] == "tools/call" {
            a.answer(&line, "{}");
            break;
        }
    }
    assert_eq!(client.text(), result("1", "{}"));
    client.end();
}

#[test]
fn progress_carries_the_clients_own_token() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", [("a", TOOLS), ("b", TOOLS)]);
    let tokens = [(&a, "0"), (&a, r#""0""#), (&b, r#""\u0041""#), (&b, "1.50")];
    let mut open = Vec::new();
    for (number, (server, token)) in tokens.iter().enumerate() {
        client.ask(
            &number.to_string(),
            "tools/call",
            &format!(
                r#"{{"name":"{}__t","_meta":{{"progressToken":{token},"x":1}}}}"#,
                server.name
            ),
        );
        open.push(server.expect("tools/call"));
    }
    for ((server, token), request) in tokens.iter().zip(&open) {
        let theirs = json(request)["params"]["_meta"]["progressToken"].to_string();
        let line = |token: &str| {
            format!(
                r#"{{"method":"notifications/progress","params":{{ "progress":1.0,"progressToken":{token} ,"total":2}},"jsonrpc":"2.0"}}"#
            )
        };
        server.say(line(&theirs));
        assert_eq!(client.text(), line(token));
        server.answer(request, "{}");
        client.line();
        // Nothing follows the answer.
        server.say(line(&theirs));
        server.settle();
    }
    client.expect_silence();
    client.end();
}

#[test]
fn progress_that_nobody_wants_is_dropped() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", [("a", TOOLS), ("b", TOOLS)]);
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    let silent = a.expect("tools/call");
    client.ask(
        "2",
        "tools/call",
        r#"{"name":"b__t","_meta":{"progressToken":"p"}}"#,
    );
    let loud = b.expect("tools/call");
    let token = json(&loud)["params"]["_meta"]["progressToken"].to_string();
    // Not asked for; of the other server's call; of nothing.
    for token in [&id(&silent), &token, "\"p\"", "99"] {
        a.say(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        ));
    }
    a.answer(&silent, "{}");
    assert_eq!(client.text(), result("1", "{}"));
    b.answer(&loud, "{}");
    assert_eq!(client.text(), result("2", "{}"));
    client.end();
}

#[test]
fn no_server_answers_for_another() {
    let setup = Setup::new(&["good", "evil"]);
    let (mut client, [good, evil]) = setup.session("{}", [("good", TOOLS), ("evil", TOOLS)]);
    client.ask("1", "tools/call", r#"{"name":"good__t"}"#);
    let request = good.expect("tools/call");
    for guess in 0..200 {
        evil.say(result(&guess.to_string(), r#"{"from":"evil"}"#));
    }
    for guess in [
        r#""1""#,
        r#""round:1:0""#,
        r#""ask:1""#,
        r#""initialize""#,
        r#""silence""#,
        "null",
        "{}",
    ] {
        evil.say(result(guess, r#"{"from":"evil"}"#));
    }
    evil.settle();
    client.expect_silence();
    good.answer(&request, r#"{"from":"good"}"#);
    assert_eq!(client.text(), result("1", r#"{"from":"good"}"#));
    client.end();
}

#[test]
fn what_changes_at_servers_is_told_once() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    for method in [
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/message",
        "notifications/elicitation/complete",
    ] {
        a.say(format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"x":1.0}}}}"#
        ));
        client.expect(method);
        client.expect_silence();
    }
    a.say(r#"{"jsonrpc":"2.0","method":"notifications/unheard"}"#);
    a.settle();
    client.expect_silence();
    client.end();
}

#[test]
fn what_a_server_says_before_it_is_ready_comes_after_the_greeting() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let a = setup.server("a");
    let request = a.expect("initialize");
    a.say(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"early"}}"#);
    a.say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    a.answer(&request, r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}"#);
    client.greeted();
    client.expect("notifications/message");
    client.expect("notifications/tools/list_changed");
    client.end();
}

#[test]
fn an_id_is_not_used_twice_at_once() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    let request = a.expect("tools/call");
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    assert_eq!(client.json()["error"]["code"], -32600);
    a.answer(&request, r#"{"first":1}"#);
    assert_eq!(client.text(), result("1", r#"{"first":1}"#));
    client.end();
}

#[test]
fn lines_that_are_no_messages_are_refused_and_life_goes_on() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    for (line, code, id) in [
        ("nonsense", -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":5,"#, -32700, json!(5)),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"ping"} trailing"#,
            -32700,
            json!(5),
        ),
        ("7", -32600, json!(null)),
        ("{}", -32600, json!(null)),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
            -32600,
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            -32600,
            json!(null),
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, json!(1)),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            -32600,
            json!(1),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
            -32600,
            json!(1),
        ),
    ] {
        client.send(line);
        let answer = client.json();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert!(
            answer["id"] == id || answer["id"].is_null(),
            "{line}: {answer}"
        );
    }
    client.write(b"\xff\xfe{\"jsonrpc\":\"2.0\"}\n");
    assert_eq!(client.json()["error"]["code"], -32700);
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"x\":\"\xc3\x28\"}\n");
    assert_eq!(client.json()["error"]["code"], -32700);
    client.write("\n \n\r\n");
    client.expect_silence();
    client.close();
    a.expect_eof();
}
