//! The program. What it does is in the library: [`cloakllm_gateway::cli`].

fn main() -> std::process::ExitCode {
    cloakllm_gateway::cli::main()
}
