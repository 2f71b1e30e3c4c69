//! The gateway: stages from [`cloak_stages`], tasks, pipes and processes from tokio.

mod os;
pub mod pipe;
pub mod pump;
pub mod router;
pub mod upstream;

pub use cloak_stages as stages;
