//! The gateway: stages from [`cloak_stages`], tasks, pipes and processes from tokio.

pub mod config;
mod os;
pub mod pipe;
pub mod pump;
pub mod router;
pub mod upstream;

pub use cloak_stages as stages;
