//! Lists: of all servers, all pages, and what they teach about resources.

use serde_json::json;

use crate::support::{Setup, json, result};

const BOTH: [(&str, &str); 2] = [
    ("a", r#"{"tools":{},"prompts":{},"resources":{}}"#),
    ("b", r#"{"tools":{},"prompts":{},"resources":{}}"#),
];

#[test]
fn every_page_of_every_server_is_in_the_list() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", BOTH);
    client.ask("1", "tools/list", "{}");
    let first = b.expect("tools/list");
    b.answer(
        &first,
        r#"{"tools":[{"name":"b1"}],"nextCursor":"\u0041 1.0"}"#,
    );
    let second = b.expect("tools/list");
    assert_eq!(json(&second)["params"], json!({"cursor": "A 1.0"}));
    // An empty cursor is a cursor.
    b.answer(&second, r#"{"tools":[],"nextCursor":""}"#);
    let third = b.expect("tools/list");
    assert_eq!(json(&third)["params"], json!({"cursor": ""}));
    b.answer(&third, r#"{"tools":[{"name":"b__2"}]}"#);
    let request = a.expect("tools/list");
    a.answer(&request, r#"{"tools":[{"name":"a1"}],"nextCursor":null}"#);
    assert_eq!(
        client.text(),
        result(
            "1",
            r#"{"tools":[{"name":"a__a1"},{"name":"b__b1"},{"name":"b__b__2"}]}"#
        ),
    );
    client.end();
}

#[test]
fn prompts_resources_and_templates_are_listed_alike() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", BOTH);
    for (method, member, item, listed) in [
        (
            "prompts/list",
            "prompts",
            r#"{"name":"p"}"#,
            [r#"{"name":"a__p"}"#, r#"{"name":"b__p"}"#],
        ),
        (
            "resources/list",
            "resources",
            r#"{"uri":"x:1"}"#,
            [r#"{"uri":"x:1"}"#; 2],
        ),
        (
            "resources/templates/list",
            "resourceTemplates",
            r#"{"uriTemplate":"x:{y}"}"#,
            [r#"{"uriTemplate":"x:{y}"}"#; 2],
        ),
    ] {
        client.ask("1", method, "{}");
        for server in [&a, &b] {
            let request = server.expect(method);
            server.answer(&request, &format!(r#"{{"{member}":[{item}]}}"#));
        }
        let wanted = format!(r#"{{"{member}":[{}]}}"#, listed.join(","));
        assert_eq!(client.text(), result("1", &wanted));
    }
    client.end();
}

#[test]
fn a_list_that_never_ends_is_cut() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    client.ask("1", "tools/list", "{}");
    for page in ["1", "2"] {
        let request = a.expect("tools/list");
        a.answer(
            &request,
            &format!(r#"{{"tools":[{{"name":"t{page}"}}],"nextCursor":"same"}}"#),
        );
    }
    assert_eq!(
        client.text(),
        result("1", r#"{"tools":[{"name":"a__t1"},{"name":"a__t2"}]}"#),
    );
    let log = client.end();
    assert!(log.contains("never ends"), "{log}");
}

#[test]
fn cursors_that_count_for_ever_are_cut_too() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    client.ask("1", "tools/list", "{}");
    for page in 1..=1000 {
        let request = a.expect("tools/list");
        a.answer(
            &request,
            &format!(r#"{{"tools":[{{"name":"t"}}],"nextCursor":"{page}"}}"#),
        );
    }
    assert_eq!(
        client.json()["result"]["tools"].as_array().unwrap().len(),
        1000
    );
    client.end();
}

#[test]
fn a_server_that_refuses_or_cannot_is_left_out() {
    let setup = Setup::new(&["a", "b", "c"]);
    let tools = r#"{"tools":{}}"#;
    let (mut client, [a, b, _c]) = setup.session("{}", [("a", tools), ("b", tools), ("c", "{}")]);
    client.ask("1", "tools/list", "{}");
    let request = a.expect("tools/list");
    a.fail(&request, -32000, "not today");
    let request = b.expect("tools/list");
    b.answer(&request, r#"{"tools":[{"name":"t"}]}"#);
    assert_eq!(client.text(), result("1", r#"{"tools":[{"name":"b__t"}]}"#));
    // What nobody can is no method here.
    client.ask("2", "prompts/list", "{}");
    assert_eq!(client.json()["error"]["code"], -32601);
    // When all fail, the list fails.
    client.ask("3", "tools/list", "{}");
    for server in [&a, &b] {
        let request = server.expect("tools/list");
        server.fail(&request, -32000, "not today");
    }
    assert_eq!(client.json()["error"]["code"], -32603);
    let log = client.end();
    assert!(log.contains("is missing"), "{log}");
}

#[test]
fn a_dead_server_does_not_hide_the_others() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, [a, b]) = setup.session("{}", BOTH);
    client.ask("1", "tools/list", "{}");
    a.expect("tools/list");
    a.exit(1);
    let request = b.expect("tools/list");
    b.answer(&request, r#"{"tools":[{"name":"t"}]}"#);
    assert_eq!(client.text(), result("1", r#"{"tools":[{"name":"b__t"}]}"#));
    client.end();
}

#[test]
fn many_lists_at_once_are_all_answered() {
    let setup = Setup::new(&["a", "b"]);
    let (mut client, servers) = setup.session("{}", BOTH);
    for number in 0..50 {
        client.ask(&number.to_string(), "tools/list", "{}");
    }
    for server in &servers {
        for _ in 0..50 {
            let request = server.expect("tools/list");
            server.answer(&request, r#"{"tools":[]}"#);
        }
    }
    let mut ids: Vec<i64> = (0..50)
        .map(|_| client.json()["id"].as_i64().unwrap())
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..50));
    client.end();
}

#[test]
fn an_item_that_is_no_tool_is_left_out() {
    let setup = Setup::new(&["a"]);
    let (mut client, [a]) = setup.session("{}", [("a", r#"{"tools":{}}"#)]);
    client.ask("1", "tools/list", "{}");
    let request = a.expect("tools/list");
    a.answer(
        &request,
        r#"{"tools":[{"name":7},null,{"nom":"x"},{"name":"t","name":"u"},{"name":"v"}]}"#,
    );
    let answer = client.json();
    let names: Vec<&str> = answer["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    // Who reads the last name of two must not be led to another server.
    assert!(
        names.iter().all(|name| name.starts_with("a__")),
        "{names:?}"
    );
    assert!(names.contains(&"a__v"));
    client.end();
}
