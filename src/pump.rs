//! Moves messages between two links until both have said all they had to say.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use cloak_stages::{Link, LinkError};
use futures::{SinkExt, StreamExt};

/// Joins `client` and `upstream`.
///
/// Each direction waits for its own sink alone, so one that is full never stops the other. Nothing
/// is held in between: there is room first, then a message is read. Dropping the future cancels it.
///
/// # Errors
///
/// When either link fails. What goes wrong with one message is never such an error.
pub async fn pump(mut client: impl Link, mut upstream: impl Link) -> Result<(), LinkError> {
    let (mut up, mut down) = (Half::Open, Half::Open);
    poll_fn(|cx| {
        let up = up.poll(&mut client, &mut upstream, cx)?;
        let down = down.poll(&mut upstream, &mut client, cx)?;
        if up.is_ready() && down.is_ready() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await
}

enum Half {
    Open,
    Closing,
    Closed,
}

impl Half {
    fn poll(
        &mut self,
        from: &mut impl Link,
        to: &mut impl Link,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), LinkError>> {
        loop {
            match self {
                Self::Open => {
                    ready!(to.poll_ready_unpin(cx))?;
                    match from.poll_next_unpin(cx)? {
                        Poll::Ready(Some(msg)) => to.start_send_unpin(msg)?,
                        Poll::Ready(None) => *self = Self::Closing,
                        Poll::Pending => {
                            ready!(to.poll_flush_unpin(cx))?;
                            return Poll::Pending;
                        }
                    }
                }
                Self::Closing => {
                    ready!(to.poll_close_unpin(cx))?;
                    *self = Self::Closed;
                }
                Self::Closed => return Poll::Ready(Ok(())),
            }
        }
    }
}
