//! The gateway: stages from [`cloak_stages`], tasks, pipes and processes from tokio.

pub mod audit;
pub mod bench;
mod check;
pub mod cli;
pub mod config;
mod demo;
mod detect;
pub mod gateway;
pub mod logs;
mod names;
mod os;
pub mod pipe;
pub mod protection;
pub mod pump;
mod recording;
pub mod router;
mod scrub;
mod selftest;
pub mod state;
mod text;
pub mod upstream;

pub use cloak_stages as stages;

/// Compiles what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
