//! `cloak-bench`: what does protection cost? Measured on a real gateway over real pipes.

mod generate;
mod latency;
mod output;
mod relay;
mod server;
mod session;
mod size;
mod stats;
mod subject;
mod table;
mod usage;
mod workload;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures what the gateway costs.
#[derive(Debug, Parser)]
#[command(name = "cloak-bench", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the texts that are measured with
    Gen(generate::Generate),
    /// Round trips through a gateway process, beside those without one
    Latency(latency::Latency),
    /// Pass bytes to and from a server, unread: the floor of any gateway
    Relay(relay::Relay),
    /// The built-in MCP server
    #[command(hide = true)]
    Serve(server::Serve),
}

/// Runs the harness: reads the command line, does what it says, tells the code to end with.
#[must_use]
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Gen(generate) => generate.run().map(|()| ExitCode::SUCCESS),
        Command::Latency(latency) => latency.run().map(|()| ExitCode::SUCCESS),
        Command::Relay(relay) => relay.run(),
        Command::Serve(serve) => serve.run().map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("cloak-bench: {error:#}");
        ExitCode::FAILURE
    })
}
