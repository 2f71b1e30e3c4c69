//! `cloak-bench`: what does protection cost? Measured on a real gateway over real pipes.

mod chart;
mod compare;
mod fit;
mod generate;
mod inside;
mod latency;
mod load;
mod output;
mod page;
mod relay;
mod scale;
mod server;
mod session;
mod size;
mod stages;
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
    /// The same work through the gateway and another command, call by call
    Compare(compare::Compare),
    /// Write the texts that are measured with
    Gen(generate::Generate),
    /// Round trips through a gateway process, beside those without one
    Latency(latency::Latency),
    /// Many callers at once: who waits for whom, and what grows over time
    Load(load::Load),
    /// Pass bytes to and from a server, unread: the floor of any gateway
    Relay(relay::Relay),
    /// How the cost grows with the size of a text, the values in it, and the age of the session
    Scale(scale::Scale),
    /// What each stage of the pipeline costs
    Stages(stages::Stages),
    /// The built-in MCP server
    #[command(hide = true)]
    Serve(server::Serve),
}

/// Runs the harness: reads the command line, does what it says, tells the code to end with.
#[must_use]
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Compare(compare) => compare.run().map(|()| ExitCode::SUCCESS),
        Command::Gen(generate) => generate.run().map(|()| ExitCode::SUCCESS),
        Command::Latency(latency) => latency.run().map(|()| ExitCode::SUCCESS),
        Command::Load(load) => load.run().map(|()| ExitCode::SUCCESS),
        Command::Relay(relay) => relay.run(),
        Command::Scale(scale) => scale.run().map(|()| ExitCode::SUCCESS),
        Command::Serve(serve) => serve.run().map(|()| ExitCode::SUCCESS),
        Command::Stages(stages) => stages.run().map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("cloak-bench: {error:#}");
        ExitCode::FAILURE
    })
}
