//! Forbids some tools of a server, whatever the model is told.
//!
//! ```text
//! cargo run --example blocklist -- write_file,move_file npx -y @modelcontextprotocol/server-filesystem .
//! ```

use cloakllm_gateway::config::Upstream;
use cloakllm_gateway::stages::{Filter, Flow, LinkExt, Message, Peer, frame::MAX_LINE};
use cloakllm_gateway::{pipe, pump, upstream};

struct Forbid(Vec<String>);

impl Filter for Forbid {
    fn to_upstream(&mut self, msg: &mut Message) -> Flow {
        let tool = msg.text(&["name"]).unwrap_or_default();
        if msg.method() != Some("tools/call") || !self.0.contains(&tool) {
            return Flow::Forward;
        }
        msg.refuse(-32601, &format!("the tool \"{tool}\" is not to be called"));
        Flow::Back
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let forbidden = words.next().ok_or("which tools are forbidden?")?;
    let command = words.next().ok_or("which server is to be started?")?;
    let mut spec = Upstream::new("server".to_owned(), command);
    spec.args = words.collect();

    let (process, server) =
        upstream::start(&spec, Peer::Upstream(0), MAX_LINE, upstream::unchanged())?;
    let forbid = Forbid(forbidden.split(',').map(str::to_owned).collect());
    pump::pump(pipe::stdio(MAX_LINE)?, server.through(forbid)).await?;
    process.stop().await;
    Ok(())
}
