//! The official Rust SDK drives the gateway, which has its own file server behind it.

use std::process::Stdio;

use rmcp::model::CallToolRequestParams;
use rmcp::transport::{ConfigureCommandExt, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt, object, service::RunningService};
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::{GATEWAY, configure};

/// Calls a tool and returns its text.
async fn call(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: Map<String, Value>,
) -> String {
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    let result = client.call_tool(request).await.unwrap();
    let result = serde_json::to_value(result).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_value_goes_to_the_disk_and_a_token_to_the_model() {
    let (dir, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let note = "Write to ada@example.eu.";
    std::fs::write(folder.path().join("note.txt"), note).unwrap();
    let server = [GATEWAY, "serve-files", folder.path().to_str().unwrap()];
    let server = server.map(str::to_owned).to_vec();
    let args = configure(dir.path(), true, &[("files", server)]);
    let command = Command::new(GATEWAY).configure(|command| {
        command.args(&args);
    });
    let (gateway, _) = TokioChildProcess::builder(command)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let client = ().serve(gateway).await.unwrap();
    let hello = serde_json::to_value(client.peer_info()).unwrap();
    assert_eq!(hello["serverInfo"]["name"], "cloakllm-gateway", "{hello}");
    let tools = client.list_all_tools().await.unwrap();
    assert!(
        tools
            .iter()
            .any(|tool| tool.name == "files__read_text_file")
    );
    assert!(tools.iter().all(|tool| tool.name.starts_with("files__")));

    let read = object!({"path": "note.txt"});
    let read = call(&client, "files__read_text_file", read).await;
    assert!(read.starts_with("Write to [EMAIL_"), "{read}");
    let write = object!({"path": "copy.txt", "content": read});
    call(&client, "files__write_file", write).await;
    let copy = std::fs::read_to_string(folder.path().join("copy.txt")).unwrap();
    assert_eq!(copy, note);
    client.cancel().await.unwrap();
}
