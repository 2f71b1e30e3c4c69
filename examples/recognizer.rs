//! Protects one more kind of data than the gateway knows: employee numbers such as `EMP-00412`.
//!
//! ```text
//! cargo run --example recognizer -- npx -y @modelcontextprotocol/server-filesystem .
//! ```

use std::sync::Arc;

use cloakllm_gateway::config::Upstream;
use cloakllm_gateway::stages::detect::{
    Category, Context, Detectors, Finding, Recognizer, Settings,
};
use cloakllm_gateway::stages::note::Silent;
use cloakllm_gateway::stages::offload::Offload;
use cloakllm_gateway::stages::protect::{FreshValues, Mode, Policy, Protect, Scope};
use cloakllm_gateway::stages::remap::Remap;
use cloakllm_gateway::stages::vault::{InMemory, Vault};
use cloakllm_gateway::stages::{LinkExt, Peer, frame::MAX_LINE};
use cloakllm_gateway::{pipe, pump, upstream};

struct EmployeeNumbers;

impl Recognizer for EmployeeNumbers {
    fn categories(&self) -> Vec<String> {
        vec!["EMPLOYEE".to_owned()]
    }

    fn reach(&self) -> usize {
        9
    }

    fn find(&self, text: &str, _: Context<'_>, categories: &[Category], out: &mut Vec<Finding>) {
        for (start, _) in text.match_indices("EMP-") {
            let end = start + 9;
            let digits = text.as_bytes().get(start + 4..end).unwrap_or_default();
            if digits.len() == 5 && digits.iter().all(u8::is_ascii_digit) {
                let category = categories[0];
                out.push(Finding {
                    start,
                    end,
                    category,
                    confidence: 90,
                    rule: "employee",
                });
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().ok_or("which server is to be started?")?;
    let mut spec = Upstream::new("server".to_owned(), command);
    spec.args = words.collect();

    let detectors = Detectors::new(&Settings::default())?;
    let detectors = Arc::new(detectors.with_recognizer(Arc::new(EmployeeNumbers)));
    let vault = Vault::new(&detectors, InMemory::default());
    let policy = Policy {
        upstream: 0,
        name: spec.name.clone(),
        scope: Scope::Session,
        third_party: false,
        fresh_values: FreshValues::Report,
        mode: Mode::Tokenize,
    };
    let protect = Protect::new(detectors, vault, policy, Arc::new(Silent));

    let (process, server) =
        upstream::start(&spec, Peer::Upstream(0), MAX_LINE, upstream::unchanged())?;
    let remap = Remap::new(spec.name.as_str(), Arc::default());
    let server = server.through((remap, Offload::new(protect)));
    pump::pump(pipe::stdio(MAX_LINE)?, server).await?;
    process.stop().await;
    Ok(())
}
