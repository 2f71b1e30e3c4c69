//! Stages that decorate a conversation of JSON-RPC messages.

mod detect;
