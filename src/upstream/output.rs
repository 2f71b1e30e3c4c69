//! What a server writes to its standard output.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::ChildStdout;

/// A server's standard output. It ends with the server, also when something that the server started
/// keeps the pipe open.
pub struct Output {
    pipe: ChildStdout,
    /// Resolves when the server has ended; None once it has.
    ended: Option<BoxFuture<'static, ()>>,
}

impl Output {
    pub(super) fn new(pipe: ChildStdout, ended: BoxFuture<'static, ()>) -> Self {
        let ended = Some(ended);
        Self { pipe, ended }
    }
}

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self
            .ended
            .as_mut()
            .is_some_and(|ended| ended.poll_unpin(cx).is_ready())
        {
            self.ended = None;
        }
        // Whatever the server wrote is in the pipe when it ends, so once that is empty there is no
        // more to come.
        match Pin::new(&mut self.pipe).poll_read(cx, buffer) {
            Poll::Pending if self.ended.is_none() => Poll::Ready(Ok(())),
            read => read,
        }
    }
}
