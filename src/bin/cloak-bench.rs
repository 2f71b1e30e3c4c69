//! The throughput harness. What it does is in the library: [`cloakllm_gateway::bench`].

fn main() -> std::process::ExitCode {
    cloakllm_gateway::bench::main()
}
