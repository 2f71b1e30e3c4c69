//! Links without pipes, for tests and for pipelines within one process.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{Sink, Stream, StreamExt};

use crate::link::LinkError;
use crate::message::Message;

/// One end of a link in memory. What is sent into it comes out of the other end.
///
/// It takes any number of messages, so whoever needs back-pressure bounds what is sent.
#[derive(Debug)]
pub struct Memory {
    sent: UnboundedSender<Message>,
    heard: UnboundedReceiver<Message>,
}

/// Two ends of one link.
///
/// ```
/// use cloak_stages::{LinkExt, Message, Peer, memory};
/// use futures::{SinkExt, StreamExt, executor::block_on};
///
/// let (mut client, mut server) = memory::link();
/// block_on(async {
///     let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
///     client.send(Message::own(ping, Peer::Client, Peer::Upstream(0))).await?;
///     assert_eq!(server.next().await.unwrap()?.method(), Some("ping"));
///     Ok::<(), cloak_stages::LinkError>(())
/// })?;
/// # Ok::<(), cloak_stages::LinkError>(())
/// ```
#[must_use]
pub fn link() -> (Memory, Memory) {
    let (to_there, there) = unbounded();
    let (to_here, here) = unbounded();
    let one = Memory {
        sent: to_there,
        heard: here,
    };
    let other = Memory {
        sent: to_here,
        heard: there,
    };
    (one, other)
}

impl Stream for Memory {
    type Item = Result<Message, LinkError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.heard.poll_next_unpin(cx).map(|next| next.map(Ok))
    }
}

impl Sink<Message> for Memory {
    type Error = LinkError;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, msg: Message) -> Result<(), LinkError> {
        // An end that is gone is noticed when this one is read.
        let _ = self.sent.unbounded_send(msg);
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.sent.close_channel();
        Poll::Ready(Ok(()))
    }
}
