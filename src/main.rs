//! The command line.

use cloakllm_gateway::config::Config;
use cloakllm_gateway::gateway::{Transparent, serve};

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(2);
    let command = args.next().unwrap_or_default();
    serve(&Config::new().wrap(command, args.collect()), &Transparent)
}
