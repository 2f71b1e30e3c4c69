//! Plain text through what protects messages, by way of a message.

use std::borrow::Cow;
use std::sync::Arc;

use cloak_stages::offload::Work;
use cloak_stages::{Flow, Kind, Message, Peer};
use serde::Deserialize;
use serde_json::json;

use crate::config::Upstream;
use crate::protection::Protection;

/// Protects texts as if a tool had returned them.
pub(crate) struct Texts(Arc<dyn Work>);

/// The message that carries a text, as much of it as is read again.
#[derive(Deserialize)]
struct Carrier<'a> {
    #[serde(borrow)]
    result: Option<Content<'a>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: [Block<'a>; 1],
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Block<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Refusal {
    message: String,
}

impl Texts {
    pub(crate) fn new(protection: &Protection) -> Self {
        Self(protection.work(0, &Upstream::new("text".to_owned(), String::new())))
    }

    /// What the model would see of `text`.
    ///
    /// # Errors
    ///
    /// Why it would see nothing of it. Holds no value.
    pub(crate) fn to_model(&self, text: &str) -> Result<String, String> {
        let message = json!({
            "jsonrpc": "2.0",
            "id": 0,
            "result": { "content": [{ "type": "text", "text": text }] },
        });
        let mut msg = Message::own(message.to_string(), Peer::Upstream(0), Peer::Client);
        msg.set_answers("tools/call".into());
        let flow = self.0.to_model(&mut msg);
        self.read(msg, flow)
    }

    /// What a tool would get of `text`, which the model wrote.
    ///
    /// # Errors
    ///
    /// Why it would get nothing of it. Holds no value.
    pub(crate) fn to_upstream(&self, text: &str) -> Result<String, String> {
        let message = json!({
            "jsonrpc": "2.0",
            "id": 0,
            "method": "tools/call",
            "params": { "name": "tool", "arguments": { "text": text } },
        });
        let mut msg = Message::own(message.to_string(), Peer::Client, Peer::Upstream(0));
        let flow = self.0.to_upstream(&mut msg);
        self.read(msg, flow)
    }

    fn read(&self, mut msg: Message, flow: Flow) -> Result<String, String> {
        msg.settle().map_err(|fault| fault.to_string())?;
        let carrier: Carrier<'_> = serde_json::from_slice(msg.raw())
            .map_err(|_| "it was answered otherwise".to_owned())?;
        match (flow, msg.kind(), carrier) {
            (
                _,
                Kind::Error,
                Carrier {
                    error: Some(refusal),
                    ..
                },
            ) => Err(refusal.message),
            (
                Flow::Forward,
                _,
                Carrier {
                    result: Some(result),
                    ..
                },
            ) => {
                let [block] = result.content;
                Ok(block.text.into_owned())
            }
            (
                Flow::Forward,
                _,
                Carrier {
                    params: Some(params),
                    ..
                },
            ) => Ok(params.arguments.text.into_owned()),
            _ => Err("it was kept back".to_owned()),
        }
    }
}
