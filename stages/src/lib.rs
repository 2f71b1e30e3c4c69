//! Stages that decorate a conversation of JSON-RPC messages.

pub mod audit;
