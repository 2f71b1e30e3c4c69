//! What stands on one line: a message, a batch of them, or neither.

use std::time::Instant;

use bytes::Bytes;
use cloak_stages::frame::Skipped;
use cloak_stages::remap::salvage_id;
use cloak_stages::{BadMessage, Message, Peer, batch};

/// How much of a line's start and end is looked at for an id.
const SALVAGED: usize = 1 << 10;

/// What one line holds.
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, and taken apart at once"
)]
pub(super) enum Line {
    One(Result<Message, Bad>),
    Batch(Vec<Result<Message, Bad>>),
}

/// What is no message.
pub(super) struct Bad {
    pub(super) why: String,
    pub(super) code: i32,
    pub(super) id: Option<Bytes>,
    /// Whether it was meant as a message at all.
    pub(super) json: bool,
}

impl Line {
    /// Reads what `peer` sent.
    pub(super) fn read(line: Bytes, peer: Peer) -> Self {
        match batch::split(&line) {
            Ok(None) => Self::One(message(line, peer)),
            Ok(Some(parts)) => {
                Self::Batch(parts.into_iter().map(|part| message(part, peer)).collect())
            }
            Err(why) => Self::One(Err(Bad::new(&line, &why.into()))),
        }
    }
}

fn message(text: Bytes, peer: Peer) -> Result<Message, Bad> {
    let to = if peer == Peer::Client {
        Peer::Gateway
    } else {
        Peer::Client
    };
    let since = Instant::now();
    let mut message =
        Message::parse(text.clone(), peer, to).map_err(|why| Bad::new(&text, &why))?;
    message.read_in = since.elapsed();
    Ok(message)
}

impl Bad {
    fn new(text: &Bytes, why: &BadMessage) -> Self {
        let (head, tail) = (
            &text[..text.len().min(SALVAGED)],
            &text[text.len().saturating_sub(SALVAGED)..],
        );
        Self {
            why: why.to_string(),
            code: why.code(),
            id: salvage_id(head, tail),
            json: matches!(text.trim_ascii_start().first(), Some(b'{' | b'[')),
        }
    }

    pub(super) fn too_long(line: &Skipped) -> Self {
        Self {
            why: format!("a message of {} bytes is over the limit", line.length),
            code: -32600,
            id: salvage_id(&line.head, &line.tail),
            json: line.head.trim_ascii_start().starts_with(b"{"),
        }
    }

    /// The checking itself failed.
    pub(super) fn unchecked() -> Self {
        Self {
            why: "the message could not be checked".to_owned(),
            code: -32603,
            id: None,
            json: true,
        }
    }

    /// What a client is told.
    pub(super) fn answer(&self) -> Message {
        let id = self.id.as_deref().unwrap_or(b"null");
        Message::error(id, self.code, &self.why, Peer::Gateway, Peer::Client)
    }
}
