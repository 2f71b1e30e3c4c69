//! Lines on their way out.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncWrite;

/// Above this many bytes waiting, no further message is taken.
const FULL: usize = 1 << 20;

/// Up to this size lines are copied together, so that many small ones leave in one write.
const SMALL: usize = 16 << 10;

/// Most pieces handed to one write.
const PIECES: usize = 32;

/// Writes lines in as few system calls as it can, and large ones without copying them.
pub(super) struct Outbox<W> {
    /// None once it is closed.
    to: Option<W>,
    pieces: VecDeque<Bytes>,
    /// Small lines that are not in `pieces` yet.
    tail: BytesMut,
    waiting: usize,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    pub(super) fn new(to: W) -> Self {
        Self {
            to: Some(to),
            pieces: VecDeque::new(),
            tail: BytesMut::new(),
            waiting: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting >= FULL
    }

    /// Appends a line made of `pieces`, and its end.
    pub(super) fn push(&mut self, pieces: Vec<Bytes>) {
        let length: usize = pieces.iter().map(Bytes::len).sum();
        self.waiting += length + 1;
        if length <= SMALL {
            for piece in pieces {
                self.tail.extend_from_slice(&piece);
            }
        } else {
            self.cut();
            self.pieces.extend(pieces);
        }
        self.tail.extend_from_slice(b"\n");
    }

    /// Appends those lines.
    pub(super) fn extend(&mut self, lines: impl IntoIterator<Item = Bytes>) {
        for line in lines {
            self.push(vec![line]);
        }
    }

    /// Moves the tail among the pieces.
    fn cut(&mut self) {
        if !self.tail.is_empty() {
            self.pieces.push_back(self.tail.split().freeze());
        }
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.cut();
        while self.waiting > 0 {
            let mut slices = [IoSlice::new(&[]); PIECES];
            let count = self.pieces.len().min(PIECES);
            for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
                *slice = IoSlice::new(piece);
            }
            let Some(to) = &mut self.to else {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            };
            let written = ready!(Pin::new(to).poll_write_vectored(cx, &slices[..count]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written(written);
        }
        match &mut self.to {
            Some(to) => Pin::new(to).poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn written(&mut self, mut bytes: usize) {
        self.waiting -= bytes;
        while bytes > 0 {
            let front = &mut self.pieces[0];
            let step = bytes.min(front.len());
            front.advance(step);
            bytes -= step;
            if front.is_empty() {
                self.pieces.pop_front();
            }
        }
    }

    /// Writes what is left and closes the stream. A pipe is closed by nothing but being dropped.
    pub(super) fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_flush(cx))?;
        if let Some(to) = &mut self.to {
            ready!(Pin::new(to).poll_shutdown(cx))?;
            self.to = None;
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn lines_leave_whole_and_in_order() {
        let (here, mut there) = tokio::io::duplex(1000);
        let mut outbox = Outbox::new(here);
        let long = Bytes::from(vec![b'x'; SMALL + 1]);
        outbox.push(vec!["a".into(), "b".into()]);
        outbox.push(vec!["c".into()]);
        outbox.push(vec![long.clone(), "d".into()]);
        outbox.push(vec!["e".into()]);
        let read = tokio::spawn(async move {
            let mut all = Vec::new();
            there.read_to_end(&mut all).await.unwrap();
            all
        });
        poll_fn(|cx| outbox.poll_close(cx)).await.unwrap();
        let wanted = [b"ab\nc\n", &long[..], b"d\ne\n"].concat();
        assert!(read.await.unwrap() == wanted);
    }
}
