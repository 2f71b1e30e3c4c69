//! Tells on standard error how long a server takes for each request.
//!
//! ```text
//! cargo run --example latency -- npx -y @modelcontextprotocol/server-filesystem .
//! ```

use std::collections::HashMap;
use std::time::Instant;

use cloakllm_gateway::config::Upstream;
use cloakllm_gateway::stages::{Filter, Flow, Kind, LinkExt, Message, Peer, frame::MAX_LINE};
use cloakllm_gateway::{pipe, pump, upstream};

#[derive(Default)]
struct Latency(HashMap<Vec<u8>, (String, Instant)>);

impl Filter for Latency {
    fn to_upstream(&mut self, msg: &mut Message) -> Flow {
        if let (Kind::Request, Some(id), Some(method)) = (msg.kind(), msg.id(), msg.method()) {
            self.0
                .insert(id.to_vec(), (method.to_owned(), Instant::now()));
        }
        Flow::Forward
    }

    fn to_model(&mut self, msg: &mut Message) -> Flow {
        let asked = msg.id().and_then(|id| self.0.remove(&id[..]));
        if let Some((method, since)) = asked {
            eprintln!(
                "{method}: {} bytes in {:.1?}",
                msg.raw().len(),
                since.elapsed()
            );
        }
        Flow::Forward
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().ok_or("which server is to be started?")?;
    let mut spec = Upstream::new("server".to_owned(), command);
    spec.args = words.collect();

    let (process, server) =
        upstream::start(&spec, Peer::Upstream(0), MAX_LINE, upstream::unchanged())?;
    pump::pump(pipe::stdio(MAX_LINE)?, server.through(Latency::default())).await?;
    process.stop().await;
    Ok(())
}
