//! The gateway: stages from [`cloak_stages`], tasks, pipes and processes from tokio.

pub mod audit;

pub use cloak_stages as stages;
