//! What must hold for any input.
//!
//! Each check is a function of bytes that panics when a property does not hold. A fuzzer looks for
//! bytes that make it panic (`fuzz/`); the tests of this crate feed it the kept seeds and seeded
//! chance, so that every `cargo test` is a short fuzzing run without any tools.

mod config;
mod detect;
mod edits;
mod frame;
mod json;
mod pieces;
mod restore;
mod session;
mod views;

pub use config::config;
pub use detect::detect;
pub use edits::edits;
pub use frame::frame;
pub use json::json;
pub use restore::restore;
pub use session::session;
pub use views::views;
