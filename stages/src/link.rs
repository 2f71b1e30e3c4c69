//! One side of the gateway, as seen from the other.

use std::io;
use std::pin::Pin;

use futures::{Sink, Stream};

use crate::message::{Message, Peer};
use crate::stage::Stage;

/// A stream of messages going to the model and a sink for messages going upstream.
///
/// Implemented for every type with the right halves; never by hand. A link that cannot be written
/// any more tells so in its stream too, after all that it had still to say: there it is noticed, so
/// that every call in flight gets its answer.
pub trait Link:
    Stream<Item = Result<Message, LinkError>> + Sink<Message, Error = LinkError> + Send + Unpin
{
}

impl<L> Link for L where
    L: Stream<Item = Result<Message, LinkError>> + Sink<Message, Error = LinkError> + Send + Unpin
{
}

/// A link whose stages were chosen at run time.
pub type BoxLink = Pin<Box<dyn Link>>;

/// Why a link is over. What goes wrong with one message is never a `LinkError`.
#[derive(Debug, thiserror::Error)]
#[error("{peer} is gone")]
pub struct LinkError {
    /// Who went away.
    pub peer: Peer,
    /// How it was noticed.
    pub source: io::Error,
}

/// Ways to put a link together. No name here is one of `StreamExt` or `SinkExt`.
pub trait LinkExt: Link + Sized {
    /// Wraps this link in one more stage, which becomes the outermost.
    fn through<S: Stage<Self>>(self, stage: S) -> S::Link {
        stage.attach(self)
    }

    /// Forgets what the link is made of.
    fn erase(self) -> BoxLink
    where
        Self: 'static,
    {
        Box::pin(self)
    }
}

impl<L: Link> LinkExt for L {}
