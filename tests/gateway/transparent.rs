//! What passes, and that it passes byte for byte.

use serde_json::json;

use crate::support::{Setup, id, json, result};

/// JSON as servers write it and nobody may write it again: spelling of numbers, order and
/// repetition of keys, escapes, lone surrogates, line separators, white space.
const ODD: [&str; 8] = [
    r#"{"n":1.10,"e":1E5,"minus":-0,"big":18446744073709551616,"huge":1e400}"#,
    r#"{"z":1,"a":2,"a":3,"":null}"#,
    r#"{"s":"\u0041\/\ud800 \udc00\ud83d\ude00\u2028"}"#,
    "{\"s\":\"\u{2028}\u{2029}\u{feff}\u{7f}\u{1f600}\"}",
    "{ \"a\" :\t[ 1 , 2 ],\r \"b\" : { } }",
    r#"{"id":1,"method":"ping","result":{"id":2},"jsonrpc":"1.0"}"#,
    r#"{"content":[{"type":"text","text":"{\"mail\":\"jane@example.com\"}"}],"isError":false}"#,
    r#"{"_meta":{"progressToken":7},"nextCursor":"x","unheard":[[[]]]}"#,
];

#[test]
fn results_pass_byte_for_byte() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, _b]) = setup.session("{}", [("a", r#"{"tools":{}}"#), ("b", "{}")]);
    for odd in ODD {
        client.ask("7", "tools/call", r#"{"name":"a__t"}"#);
        let request = a.expect("tools/call");
        a.say(format!(
            r#"{{ "result":{odd} , "unheard":1,"id": {},"jsonrpc" :"2.0" }}"#,
            id(&request),
        ));
        let wanted = format!(r#"{{ "result":{odd} , "unheard":1,"id": 7,"jsonrpc" :"2.0" }}"#);
        assert_eq!(client.text(), wanted);
    }
    client.end();
}

#[test]
fn errors_pass_byte_for_byte() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    for odd in ODD {
        client.ask(r#""e""#, "tools/call", r#"{"name":"a__t"}"#);
        let request = a.expect("tools/call");
        let error = format!(r#"{{"data":{odd}, "message":"\u0041","code":-32002 }}"#);
        let line = |id: &str| format!(r#"{{"jsonrpc":"2.0","error":{error},"id":{id}}}"#);
        a.say(line(&id(&request)));
        assert_eq!(client.text(), line(r#""e""#));
    }
    client.end();
}

#[test]
fn requests_reach_the_server_byte_for_byte() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    for odd in ODD {
        let line = |id: &str, name: &str| {
            format!(
                r#"{{"params": {{"arguments":{odd} ,"name":"{name}"}},"method":"tools/call","id" :{id},"jsonrpc":"2.0"}}"#
            )
        };
        client.send(line(r#""x""#, "a__t"));
        let request = a.line();
        let theirs = id(&request);
        assert_eq!(String::from_utf8(request).unwrap(), line(&theirs, "t"));
        a.say(result(&theirs, "{}"));
        assert_eq!(client.text(), result(r#""x""#, "{}"));
    }
    client.end();
}

#[test]
fn notifications_pass_byte_for_byte() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"logging":{}}"#)]);
    for odd in ODD {
        let line = format!(
            r#"{{"params":{{"data":{odd} ,"level":"info"}}, "method":"notifications\/message","jsonrpc":"2.0"}}"#
        );
        a.say(&line);
        assert_eq!(client.text(), line);
    }
    client.end();
}

#[test]
fn questions_pass_byte_for_byte_and_so_do_their_answers() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session(r#"{"sampling":{}}"#, [("a", "{}")]);
    for odd in ODD {
        let question = |id: &str| {
            format!(
                r#"{{"id":{id},"params":{{"messages":{odd} }}, "method":"sampling/createMessage","jsonrpc":"2.0"}}"#
            )
        };
        a.say(question("0"));
        let asked = client.line();
        let ours = id(&asked);
        assert_eq!(String::from_utf8(asked).unwrap(), question(&ours));
        let answer = |id: &str| format!(r#"{{ "result":{odd},"id":{id} ,"jsonrpc":"2.0"}}"#);
        client.send(answer(&ours));
        assert_eq!(String::from_utf8(a.line()).unwrap(), answer("0"));
    }
    client.end();
}

#[test]
fn definitions_of_tools_pass_byte_for_byte_but_for_the_name() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    let tool = |name: &str, odd: &str| {
        format!(
            r#"{{ "inputSchema":{odd},"name" : "{name}","outputSchema": {odd} ,"annotations":{{"name":"n"}},"_meta":{{}} }}"#
        )
    };
    client.ask("1", "tools/list", "{}");
    let list = |prefix: &str| {
        let names = (0..).map(|number| format!("{prefix}t\\u0041{number}"));
        let tools: Vec<String> = ODD
            .iter()
            .zip(names)
            .map(|(odd, name)| tool(&name, odd))
            .collect();
        format!(r#"{{"tools":[{}]}}"#, tools.join(","))
    };
    let request = a.expect("tools/list");
    a.answer(&request, &list(""));
    assert_eq!(client.text(), result("1", &list("a__")));
    client.end();
}

#[test]
fn ids_keep_their_type_and_spelling() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    let ids = [
        "0",
        "1",
        r#""1""#,
        "-5",
        "9007199254740993",
        r#""""#,
        r#""0""#,
        r#""\u0041""#,
        r#""é ""#,
        r#""a:1""#,
        r#""round:1:0""#,
        r#""initialize""#,
        "18446744073709551616",
    ];
    for id in ids {
        client.ask(id, "tools/call", r#"{"name":"a__t"}"#);
    }
    let requests = ids.map(|_| a.expect("tools/call"));
    for (theirs, request) in ids.iter().zip(&requests).rev() {
        a.answer(request, "{}");
        assert_eq!(client.text(), result(theirs, "{}"));
    }
    client.end();
}

#[test]
fn a_server_that_makes_strings_of_ids_is_understood() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    client.ask("5", "tools/call", r#"{"name":"a__t"}"#);
    let request = a.expect("tools/call");
    a.say(result(&format!("\"{}\"", id(&request)), "{}"));
    assert_eq!(client.text(), result("5", "{}"));
    client.end();
}

#[test]
fn byte_order_mark_and_line_ends_of_windows_are_no_matter() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.write("\u{feff}");
    client.write(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"w\",\"version\":\"1\"}}}\r\n\r\n",
    );
    let a = setup.server("a");
    let request = a.expect("initialize");
    a.write("\u{feff}");
    let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}"#;
    a.write(format!("{}\r\n", result(&id(&request), hello)));
    client.greeted();
    a.expect("notifications/initialized");
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    let request = a.expect("tools/call");
    a.write(format!(
        "{}\r\n\r\n",
        result(&id(&request), r#"{"a":"\r\n"}"#)
    ));
    assert_eq!(client.text(), result("1", r#"{"a":"\r\n"}"#));
    client.end();
}

#[test]
fn output_that_is_no_message_is_skipped_and_told_in_the_log() {
    let setup = Setup::new(&["a"]);
    let mut client = setup.start();
    client.greet("2025-06-18", "{}");
    let a = setup.server("a");
    a.say("Starting server v1.2 ...");
    a.say("\u{1b}[32mready\u{1b}[0m");
    a.welcome(r#"{"tools":{}}"#);
    client.greeted();
    client.ask("1", "tools/call", r#"{"name":"a__t"}"#);
    let request = a.expect("tools/call");
    for noise in [
        "[info] handling",
        "null",
        "7",
        "{",
        "{}",
        "[]",
        "\"text\"",
        "\u{0}",
    ] {
        a.say(noise);
    }
    a.answer(&request, "{}");
    assert_eq!(client.text(), result("1", "{}"));
    let log = client.end();
    assert!(
        log.contains("skipped") && log.contains(" a") || log.contains("upstream=\"a\""),
        "{log}"
    );
    assert!(
        !log.contains("[32m") && !log.contains("[info] handling"),
        "{log}"
    );
}

#[test]
fn messages_in_pieces_are_put_together() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    let call = r#"{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{"name":"a__t"}}"#;
    for byte in call.bytes().chain([b'\n']) {
        client.write([byte]);
    }
    let request = a.expect("tools/call");
    for byte in result(&id(&request), r#"{"text":"ü\u00fc"}"#).bytes() {
        a.write([byte]);
        a.settle();
    }
    a.write("\n");
    assert_eq!(client.text(), result(r#""é""#, r#"{"text":"ü\u00fc"}"#));
    let both = format!("{call}\n{call}\n").replacen("é", "e", 1);
    client.write(both);
    let (first, second) = (a.expect("tools/call"), a.expect("tools/call"));
    a.write(format!(
        "{}\n{}\n",
        result(&id(&first), "{}"),
        result(&id(&second), "{}")
    ));
    assert_eq!(client.text(), result(r#""e""#, "{}"));
    assert_eq!(client.text(), result(r#""é""#, "{}"));
    client.end();
}

#[test]
fn one_wrapped_server_keeps_its_names() {
    let setup = Setup::new(&[]);
    let mut client = setup.wrap("only");
    client.greet("2025-11-25", "{}");
    let only = setup.server("only");
    only.welcome(r#"{"tools":{},"prompts":{}}"#);
    let hello = client.greeted();
    assert_eq!(hello["serverInfo"]["name"], "cloakllm-gateway");
    client.ask("1", "tools/list", r#"{"cursor":"c","_meta":{"x":1}}"#);
    let request = only.expect("tools/list");
    assert_eq!(
        json(&request)["params"],
        json!({"cursor": "c", "_meta": {"x": 1}})
    );
    let page = r#"{"tools":[{"name":"t__u"}],"nextCursor":"d","unheard":1.0}"#;
    only.answer(&request, page);
    assert_eq!(client.text(), result("1", page));
    client.ask("2", "tools/call", r#"{"name":"t__u"}"#);
    let request = only.expect("tools/call");
    assert_eq!(json(&request)["params"]["name"], "t__u");
    only.answer(&request, "{}");
    assert_eq!(client.text(), result("2", "{}"));
    client.end();
}
