//! A server without manners.

use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

use super::PLANTED;
use crate::support::{Server, Tag, error, result};

/// Serves until its process is gone.
pub(super) fn run(server: &Server, mut rng: Rng) {
    let mut read = Vec::new();
    let mut late = Vec::new();
    while let Some(frame) = server.hear() {
        if frame.tag != Tag::Stdin {
            continue;
        }
        read.extend(frame.bytes);
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = read.drain(..=end).collect();
            react(server, &line, &mut late, &mut rng);
        }
    }
}

fn react(server: &Server, line: &[u8], late: &mut Vec<String>, rng: &mut Rng) {
    let msg: Value = serde_json::from_slice(line).expect("the gateway writes JSON");
    let Some(id) = msg.get("id").map(Value::to_string) else {
        return;
    };
    match msg["method"].as_str() {
        Some("initialize") => greet(server, &id, rng),
        Some("tools/list") => {
            let tool = json!({"tools": [{"name": "t", "description": PLANTED, "inputSchema": {"type": "object"}}]});
            server.say(result(&id, &tool.to_string()));
        }
        Some("resources/list") => server.say(result(&id, r#"{"resources":[]}"#)),
        Some("tools/call" | "resources/read") => serve(server, &id, late, rng),
        Some(_) => server.say(result(&id, "{}")),
        None => {}
    }
}

fn greet(server: &Server, id: &str, rng: &mut Rng) {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": server.name, "version": "1"},
        "instructions": PLANTED,
    });
    match rng.u8(..16) {
        0 => server.exit(1),
        1 => server.say(error(id, -32000, PLANTED)),
        2 => server.say(format!("starting for {PLANTED}")),
        _ => server.say(result(id, &hello.to_string())),
    }
}

/// Answers a call, or does something else.
fn serve(server: &Server, id: &str, late: &mut Vec<String>, rng: &mut Rng) {
    let news = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{PLANTED}"}}}}"#
    );
    let of = |size: usize| {
        let text = format!("write to {PLANTED} ").repeat(size);
        let content = json!({"content": [{"type": "text", "text": text}]});
        result(id, &content.to_string())
    };
    match rng.u8(..30) {
        0 => server.exit(rng.u8(..3)),
        1 => {
            server.write(&of(1).as_bytes()[..20]);
            server.exit(1);
        }
        2 => server.order(Tag::CloseStdout, ""),
        3 => {
            server.order(Tag::Stay, "");
            server.order(Tag::CloseStdin, "");
        }
        4 => server.turn_deaf(),
        5 => {
            server.order(Tag::Stay, "");
            server.spawn("child");
            server.say(of(1));
        }
        6 => {}
        // In another order than it was asked.
        7 | 8 => late.push(of(1)),
        9 => {
            for answer in late.drain(..).rev() {
                server.say(answer);
            }
            server.say(of(1));
        }
        10 => {
            server.say(of(1));
            server.say(of(2));
        }
        11 => {
            let other = rng.u32(..1_000_000);
            for id in [
                &*other.to_string(),
                "null",
                "\"a:0\"",
                "\"ask:1\"",
                "\"round:1\"",
                "-0.5e1",
            ] {
                server.say(result(id, &format!(r#"{{"text":"{PLANTED}"}}"#)));
            }
            server.say(of(1));
        }
        12 => server.say(error(id, -32000, PLANTED)),
        13 => server.say(of(3_000)),
        14 => server.say(of(12_000)),
        15 => {
            server.write(format!("{news}\n").repeat(rng.usize(..3_000)));
            server.say(of(1));
        }
        16 => {
            server.say(format!("Warning: {PLANTED} is no JSON"));
            server.say(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":"{PLANTED}"#
            ));
        }
        17 => {
            server.complain(format!("error: {PLANTED}\n"));
            server.say(of(1));
        }
        18 => {
            let text = json!({"messages": [{"role": "user", "content": {"type": "text", "text": PLANTED}}], "maxTokens": 1});
            server.say(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"sampling/createMessage","params":{text}}}"#
            ));
            server.say(of(1));
        }
        19 => {
            thread::sleep(Duration::from_millis(rng.u64(..350)));
            server.say(of(1));
        }
        _ => server.say(of(1)),
    }
}
