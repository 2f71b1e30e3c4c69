//! Stages that decorate a conversation of JSON-RPC messages.
pub mod batch;
pub mod detect;
pub mod edits;
pub mod filter;
pub mod frame;
pub mod json;
pub mod link;
pub mod message;
pub mod offload;
pub mod remap;
pub mod stage;
pub mod surfaces;
pub mod token;
pub mod vault;

pub use filter::{Filter, Flow};
pub use link::{BoxLink, Link, LinkError, LinkExt};
pub use message::{BadMessage, Kind, Message, Peer};
pub use stage::Stage;
