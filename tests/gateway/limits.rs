//! Nothing is unbounded, and what is too much harms only itself.

use serde_json::json;

use crate::support::{Setup, id, json, result};

const TOOLS: &str = r#"{"tools":{}}"#;
const CALL: &str = r#"{"name":"a__t"}"#;

#[test]
fn an_answer_over_the_limit_fails_its_call_alone() {
    let setup = Setup::new(&["a"]).set("/max_message", json!(100_000));
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    let fits = |rest: usize| format!(r#"{{"text":"{}"}}"#, "x".repeat(rest));
    // With the id in front, and behind.
    for behind in [false, true] {
        client.ask("1", "tools/call", CALL);
        let request = a.expect("tools/call");
        let large = fits(200_000);
        a.say(if behind {
            format!(
                r#"{{"jsonrpc":"2.0","result":{large},"id":{}}}"#,
                id(&request)
            )
        } else {
            result(&id(&request), &large)
        });
        let answer = client.json();
        assert_eq!(answer["id"], 1);
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("over the limit"),
            "{answer}"
        );
    }
    client.ask("2", "tools/call", CALL);
    let request = a.expect("tools/call");
    a.answer(&request, &fits(90_000));
    assert_eq!(client.text(), result("2", &fits(90_000)));
    client.end();
}

#[test]
fn a_request_over_the_limit_is_refused() {
    let setup = Setup::new(&["a"]).set("/max_message", json!(100_000));
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    let large = format!(
        r#"{{"name":"a__t","arguments":{{"x":"{}"}}}}"#,
        "x".repeat(200_000)
    );
    client.ask("1", "tools/call", &large);
    let answer = client.json();
    assert_eq!(answer["id"], 1, "{answer}");
    assert_eq!(answer["error"]["code"], -32600);
    client.expect_silence();
    client.close();
    a.expect_eof();
}

#[test]
fn a_line_without_end_is_not_kept() {
    let setup = Setup::new(&["a"]).set("/max_message", json!(100_000));
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..32 {
        a.write(&chunk);
        client.write(&chunk);
    }
    a.settle();
    client.write("\n");
    assert_eq!(client.json()["error"]["code"], -32600);
    a.write("\n");
    client.ask("1", "tools/call", CALL);
    let request = a.expect("tools/call");
    a.answer(&request, "{}");
    assert_eq!(client.text(), result("1", "{}"));
    client.end();
}

#[test]
fn depth_is_bounded_and_does_no_harm() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let bomb = |levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
        client.ask(
            "1",
            "tools/call",
            &format!(r#"{{"name":"a__t","arguments":{}}}"#, bomb(100_000)),
        );
        let answer = client.json();
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        client.ask("2", "tools/call", CALL);
        let request = a.expect("tools/call");
        a.answer(&request, &bomb(100_000));
        let answer = client.json();
        assert_eq!(answer["id"], 2);
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        // What people write passes.
        client.ask("3", "tools/call", CALL);
        let request = a.expect("tools/call");
        a.answer(&request, &format!(r#"{{"deep":{}}}"#, bomb(100)));
        assert_eq!(
            client.text(),
            result("3", &format!(r#"{{"deep":{}}}"#, bomb(100)))
        );
    }
    client.end();
}

#[test]
fn bytes_that_are_no_text_fail_the_call_they_answer() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", CALL);
    let request = a.expect("tools/call");
    let mut line = result(&id(&request), r#"{"text":"?"}"#).into_bytes();
    let place = line.iter().position(|byte| *byte == b'?').unwrap();
    line[place] = 0xff;
    a.say(line);
    let answer = client.json();
    assert_eq!(answer["id"], 1);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("\"a\""),
        "{answer}"
    );
    client.expect_silence();
    client.end();
}

#[test]
fn answers_that_are_no_json_fail_the_call_they_answer() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    for bad in [
        "nope",
        "{\"a\":1,}",
        "[1 2]",
        "01",
        "\"\t\"",
        "{'a':1}",
        "NaN",
        "\"\\x\"",
    ] {
        client.ask("1", "tools/call", CALL);
        let request = a.expect("tools/call");
        a.answer(&request, bad);
        let answer = client.json();
        assert_eq!(answer["id"], 1);
        assert!(answer["error"]["code"].is_i64(), "{bad}: {answer}");
    }
    client.end();
}

#[test]
fn a_large_result_passes_whole_and_holds_up_no_ping() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    let large = format!(r#"{{"text":"{}"}}"#, "0123456789 ".repeat((50 << 20) / 11));
    client.ask("1", "tools/call", CALL);
    let request = a.expect("tools/call");
    // All of it but its end is on its way: it cannot be answered yet, a ping can.
    a.write(result(&id(&request), &large));
    a.settle();
    client.expect_silence();
    a.write("\n");
    assert!(client.line() == result("1", &large).into_bytes());
    client.end();
}

#[test]
fn many_calls_at_once_are_all_answered_in_any_order() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    for number in 0..1000 {
        client.ask(
            &number.to_string(),
            "tools/call",
            &format!(r#"{{"name":"a__t","arguments":{{"n":{number}}}}}"#),
        );
    }
    let mut requests: Vec<Vec<u8>> = (0..1000).map(|_| a.expect("tools/call")).collect();
    requests.reverse();
    for request in &requests {
        a.answer(request, &json(request)["params"]["arguments"].to_string());
    }
    for number in (0..1000).rev() {
        assert_eq!(
            client.text(),
            result(&number.to_string(), &format!(r#"{{"n":{number}}}"#))
        );
    }
    client.end();
}

#[test]
fn more_than_a_server_can_take_is_refused_at_once() {
    let setup = Setup::new(&["a"]).set("/max_message", json!(1 << 20));
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    a.turn_deaf();
    a.settle();
    let large = format!(
        r#"{{"name":"a__t","arguments":{{"x":"{}"}}}}"#,
        "x".repeat(900_000)
    );
    for number in 0..300 {
        client.ask(&number.to_string(), "tools/call", &large);
    }
    let answer = client.json();
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("does not keep up"),
        "{answer}"
    );
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let setup = Setup::new(&["a"]).set("/request_timeout", json!(0.3));
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", CALL);
    let request = a.expect("tools/call");
    let answer = client.json();
    assert_eq!(answer["id"], 1);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("\"a\""),
        "{answer}"
    );
    let cancelled = json(&a.expect("notifications/cancelled"));
    assert_eq!(cancelled["params"]["requestId"].to_string(), id(&request));
    a.answer(&request, "{}");
    a.settle();
    client.expect_silence();
    client.end();
}

#[test]
fn a_server_that_never_says_whether_it_has_a_resource_is_passed_over() {
    let setup = Setup::new(&["a", "b"]).set("/request_timeout", json!(0.3));
    let can = r#"{"resources":{}}"#;
    let (mut client, [a, b]) = setup.session("{}", [("a", can), ("b", can)]);
    client.ask("1", "resources/read", r#"{"uri":"x:1"}"#);
    let first = a.expect("resources/read");
    let second = b.expect("resources/read");
    // Too late: nobody asks it any more.
    a.fail(&first, -32002, "not here");
    a.settle();
    b.answer(&second, r#"{"contents":[]}"#);
    assert_eq!(client.text(), result("1", r#"{"contents":[]}"#));
    // Nobody has this one, and nobody says so.
    client.ask("2", "resources/read", r#"{"uri":"x:2"}"#);
    let answer = client.json();
    assert_eq!(answer["id"], 2, "{answer}");
    assert_eq!(answer["error"]["code"], -32001, "{answer}");
    client.end();
}

#[test]
fn a_server_that_never_lists_is_left_out() {
    let setup = Setup::new(&["a", "b"]).set("/request_timeout", json!(0.3));
    let (mut client, [a, b]) = setup.session("{}", [("a", TOOLS), ("b", TOOLS)]);
    client.ask("1", "tools/list", "{}");
    a.expect("tools/list");
    let request = b.expect("tools/list");
    b.answer(&request, r#"{"tools":[{"name":"t"}]}"#);
    // Ten seconds for those that may still be starting, then as long as the setting says; without
    // it that were two minutes, longer than this test listens.
    assert_eq!(client.text(), result("1", r#"{"tools":[{"name":"b__t"}]}"#));
    client.end();
}
