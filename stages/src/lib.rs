//! Stages that decorate a conversation of JSON-RPC messages.

pub mod batch;
pub mod detect;
pub mod edits;
pub mod filter;
pub mod frame;
pub mod json;
mod layers;
pub mod link;
pub mod message;
pub mod note;
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
pub mod token;
pub mod vault;

pub use filter::{Filter, Flow};
pub use link::{BoxLink, Link, LinkError, LinkExt};
pub use message::{BadMessage, Kind, Message, Peer};
pub use stage::Stage;
