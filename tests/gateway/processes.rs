//! Servers as processes: how they start, end, and start again.

use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::support::{Setup, id, result};

const TOOLS: &str = r#"{"tools":{}}"#;
const CALL_A: &str = r#"{"name":"a__t"}"#;
const CALL_B: &str = r#"{"name":"b__t"}"#;

/// What a client is told when the server `name` is gone.
#[track_caller]
fn assert_blames(answer: &serde_json::Value, id: i64, name: &str) {
    assert_eq!(answer["id"], id, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(&format!("\"{name}\"")), "{answer}");
}

#[test]
fn a_crash_fails_its_calls_and_no_others() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", [("a", TOOLS), ("b", TOOLS)]);
    client.ask("1", "tools/call", CALL_A);
    let first = a.expect("tools/call");
    client.ask("2", "tools/call", CALL_A);
    a.expect("tools/call");
    client.ask("3", "tools/call", CALL_B);
    let other = b.expect("tools/call");
    // In the middle of a message.
    a.write(format!(r#"{{"jsonrpc":"2.0","id":{},"resu"#, id(&first)));
    a.exit(1);
    assert_blames(&client.json(), 1, "a");
    assert_blames(&client.json(), 2, "a");
    b.answer(&other, "{}");
    assert_eq!(client.text(), result("3", "{}"));
    // The next call starts it again, and what it offers may be new.
    client.ask("4", "tools/call", CALL_A);
    let a = setup.greeted("a", TOOLS);
    let request = a.expect("tools/call");
    client.expect("notifications/tools/list_changed");
    a.answer(&request, "{}");
    assert_eq!(client.text(), result("4", "{}"));
    client.end();
}

#[test]
fn a_server_that_ends_between_calls_is_started_again_when_it_is_needed() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session(
        "{}",
        [("a", r#"{"tools":{},"resources":{"subscribe":true}}"#)],
    );
    client.ask("1", "resources/subscribe", r#"{"uri":"x:1"}"#);
    let request = a.expect("resources/subscribe");
    a.answer(&request, "{}");
    client.line();
    a.crash(&mut client, 0);
    client.ask("2", "tools/list", "{}");
    let a = setup.greeted("a", r#"{"tools":{},"resources":{"subscribe":true}}"#);
    // Subscriptions outlive the process.
    let mut heard = [a.line(), a.line()];
    heard.sort_by_key(|line| String::from_utf8_lossy(line).contains("tools/list"));
    assert!(String::from_utf8_lossy(&heard[0]).contains(r#""x:1""#));
    a.answer(&heard[0], "{}");
    a.answer(&heard[1], r#"{"tools":[]}"#);
    client.expect("notifications/resources/list_changed");
    client.expect("notifications/tools/list_changed");
    assert_eq!(client.text(), result("2", r#"{"tools":[]}"#));
    client.end();
}

#[test]
fn a_server_that_keeps_ending_is_not_started_all_the_time() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    a.crash(&mut client, 3);
    client.ask("1", "tools/call", CALL_A);
    let a = setup.server("a");
    a.expect("initialize");
    a.exit(3);
    assert_blames(&client.json(), 1, "a");
    // It takes a second or more until it is tried again, so this call is refused.
    client.ask("2", "tools/call", CALL_A);
    assert_blames(&client.json(), 2, "a");
    client.end();
}

#[test]
fn a_program_that_cannot_be_started_does_not_hinder_the_others() {
    let setup =
        Setup::new(&["a", "b"]).set("/upstreams/a/command", json!("no-such-program-anywhere"));
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let b = setup.greeted("b", TOOLS);
    client.greeted();
    client.ask("1", "tools/call", CALL_A);
    assert_blames(&client.json(), 1, "a");
    client.ask("2", "tools/list", "{}");
    let request = b.expect("tools/list");
    b.answer(&request, r#"{"tools":[{"name":"t"}]}"#);
    assert_eq!(client.text(), result("2", r#"{"tools":[{"name":"b__t"}]}"#));
    let log = client.end();
    assert!(log.contains("cannot be started"), "{log}");
}

#[test]
fn a_slow_server_is_not_waited_for() {
    let setup = Setup::new(&["a", "b"]);
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let b = setup.greeted("b", TOOLS);
    let a = setup.server("a");
    let hello = a.expect("initialize");
    client.greeted();
    // Its calls wait, those of others do not.
    client.ask("1", "tools/call", CALL_A);
    client.ask("2", "tools/call", CALL_B);
    let request = b.expect("tools/call");
    b.answer(&request, "{}");
    assert_eq!(client.text(), result("2", "{}"));
    a.answer(&hello, r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}"#);
    a.expect("notifications/initialized");
    client.expect("notifications/tools/list_changed");
    let request = a.expect("tools/call");
    a.answer(&request, "{}");
    assert_eq!(client.text(), result("1", "{}"));
    client.end();
}

#[test]
fn a_server_that_never_answers_initialize_is_given_up() {
    let setup = Setup::new(&["a", "b"]).set("/upstreams/a/startup_timeout", json!(0.5));
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let b = setup.greeted("b", TOOLS);
    let a = setup.server("a");
    a.expect("initialize");
    client.greeted();
    a.expect_eof();
    client.ask("1", "tools/list", "{}");
    let request = b.expect("tools/list");
    b.answer(&request, r#"{"tools":[]}"#);
    assert_eq!(client.text(), result("1", r#"{"tools":[]}"#));
    let log = client.end();
    assert!(log.contains("did not answer initialize"), "{log}");
}

#[test]
fn one_that_refuses_initialize_is_told_to_be_so() {
    let setup = Setup::new(&["a", "b"]);
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let a = setup.server("a");
    let hello = a.expect("initialize");
    a.fail(&hello, -32602, "jane@example.com is not welcome");
    setup.greeted("b", TOOLS);
    client.greeted();
    let log = client.end();
    assert!(log.contains("-32602"), "{log}");
    assert!(!log.contains("jane@"), "{log}");
}

#[test]
fn what_is_in_flight_is_answered_after_the_client_closed() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", CALL_A);
    let request = a.expect("tools/call");
    client.close();
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(3 << 20));
    a.answer(&request, &large);
    assert!(client.text() == result("1", &large));
    a.expect_eof();
    a.exit(0);
    let (status, log) = client.wait();
    assert!(status.success(), "{status}: {log}");
}

#[test]
fn a_client_that_asks_and_closes_at_once_is_answered() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    client.notify("notifications/initialized", "{}");
    client.ask("1", "tools/list", "{}");
    client.close();
    let a = setup.greeted("a", TOOLS);
    let request = a.expect("tools/list");
    a.answer(&request, r#"{"tools":[]}"#);
    assert_eq!(client.json()["id"], 0);
    assert_eq!(client.text(), result("1", r#"{"tools":[]}"#));
    a.expect_eof();
    a.exit(0);
    let (status, log) = client.wait();
    assert!(status.success(), "{status}: {log}");
}

#[test]
fn nobody_stays_behind() {
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let setup = Setup::new(&["a", "b"]).shell("b", "trap '' TERM INT HUP; \"$@\"");
        let (mut client, [a, b]) = setup.session("{}", [("a", TOOLS), ("b", TOOLS)]);
        // Neither ends with its input, one of them not even when it is asked to, and each has a
        // child.
        a.stay();
        b.stay();
        a.spawn("child-of-a");
        b.spawn("child-of-b");
        let children = [setup.server("child-of-a"), setup.server("child-of-b")];
        client.ask("1", "tools/call", CALL_A);
        a.expect("tools/call");
        match signal {
            None => client.close(),
            Some(signal) => kill_process(client.pid(), signal).unwrap(),
        }
        for server in [&a, &b].into_iter().chain(&children) {
            server.expect_death();
        }
        let (status, log) = client.wait();
        assert!(status.success(), "{signal:?}: {status}: {log}");
    }
}

#[test]
fn the_children_of_a_crashed_server_end_too() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    a.spawn("child");
    let child = setup.server("child");
    a.crash(&mut client, 1);
    child.expect_death();
    client.end();
}

#[test]
fn a_server_that_closes_its_output_has_ended() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", CALL_A);
    a.expect("tools/call");
    a.close_stdout();
    assert_blames(&client.json(), 1, "a");
    a.expect_death();
    client.ask("2", "tools/call", CALL_A);
    let a = setup.greeted("a", TOOLS);
    let request = a.expect("tools/call");
    client.expect("notifications/tools/list_changed");
    a.answer(&request, "{}");
    assert_eq!(client.text(), result("2", "{}"));
    client.end();
}

#[test]
fn a_server_that_closes_its_input_has_ended() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", CALL_A);
    a.expect("tools/call");
    a.close_stdin();
    // What is being read is still read; whatever follows cannot be written.
    client.ask("2", "tools/call", CALL_A);
    a.expect("tools/call");
    client.ask("3", "tools/call", CALL_A);
    let mut ids: Vec<i64> = (0..3)
        .map(|_| {
            let answer = client.json();
            assert!(
                answer["error"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("\"a\"")
            );
            answer["id"].as_i64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
    a.expect_death();
    client.end();
}

#[test]
fn standard_error_is_drained_and_its_end_is_shown() {
    let setup = Setup::new(&["a"]).set("/log_level", json!("info"));
    let mut client = setup.start();
    client.greet("2025-11-25", "{}");
    let a = setup.server("a");
    a.complain("x".repeat(1 << 20));
    a.complain("\nlast words\n\u{fffd}");
    a.complain(b"\xff\n");
    a.settle();
    a.welcome(TOOLS);
    client.greeted();
    a.crash(&mut client, 1);
    let log = client.end();
    assert!(log.contains("last words"), "{log}");
    assert!(log.len() < 64 << 10, "{} bytes of log", log.len());
}

#[test]
fn a_server_that_does_not_read_holds_up_nobody() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", [("a", TOOLS), ("b", TOOLS)]);
    a.turn_deaf();
    a.settle();
    let large = format!(
        r#"{{"name":"a__t","arguments":{{"x":"{}"}}}}"#,
        "x".repeat(4 << 20)
    );
    for number in 1..=8 {
        client.ask(&number.to_string(), "tools/call", &large);
    }
    client.expect_silence();
    client.ask("9", "tools/call", CALL_B);
    let request = b.expect("tools/call");
    b.answer(&request, "{}");
    assert_eq!(client.text(), result("9", "{}"));
    client.close();
    a.expect_death();
}

#[test]
fn a_client_that_goes_without_reading_is_no_reason_to_stay() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", TOOLS)]);
    client.ask("1", "tools/call", CALL_A);
    let request = a.expect("tools/call");
    client.turn_away();
    a.answer(&request, "{}");
    // More than a pipe holds: the gateway cannot but notice.
    let news = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#;
    a.write(format!("{news}\n").repeat(100_000));
    a.expect_death();
    let (status, log) = client.wait();
    assert!(status.success(), "{status}: {log}");
}

#[test]
fn servers_get_their_environment_arguments_and_folder() {
    let setup = Setup::new(&["a"]).shell("a", r#"echo "$GREETING $PWD" >&2; exec "$@""#);
    let folder = setup.dir().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let setup = setup
        .set("/upstreams/a/env", json!({"GREETING": "hello"}))
        .set("/upstreams/a/cwd", json!(folder));
    let (client, [_a]) = setup.session("{}", [("a", TOOLS)]);
    let log = client.end();
    let wanted = format!("hello {}", folder.canonicalize().unwrap().display());
    assert!(log.contains(&wanted), "{log}");
}
