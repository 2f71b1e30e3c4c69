//! Stages that decorate a conversation of JSON-RPC messages, and the parts they are made of.
//!
//! Three words carry the crate:
//!
//! * a [`Message`] is the bytes that arrived plus a list of edits;
//! * a [`Link`] is a stream of messages going to the model and a sink of messages going upstream;
//! * a [`Stage`] wraps one link and gives another.
//!
//! Nothing here starts a task or a process, opens a file or looks at a clock, so every stage runs
//! wherever futures are polled. [`guide`] shows how to write one.

pub mod audit;
pub mod batch;
pub mod detect;
pub mod edits;
pub mod filter;
pub mod frame;
pub mod guide;
mod hidden;
pub mod json;
mod layers;
pub mod link;
pub mod memory;
pub mod message;
pub mod note;
mod numbers;
pub mod offload;
mod places;
pub mod protect;
pub mod remap;
mod render;
mod restore;
mod sanitize;
mod schema;
pub mod stage;
pub mod surfaces;
mod sync;
pub mod token;
pub mod tripwire;
pub mod vault;
pub mod vouch;

pub use filter::{Filter, Flow};
pub use link::{BoxLink, Link, LinkError, LinkExt};
pub use message::{BadMessage, Kind, Message, Peer};
pub use stage::Stage;
