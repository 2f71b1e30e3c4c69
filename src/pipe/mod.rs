//! A link over a pair of byte streams: newline-delimited JSON to and from one peer.

mod line;
mod outbox;

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use cloak_stages::batch::{Batches, MAX_BATCH};
use cloak_stages::frame::{Frame, JsonLines};
use cloak_stages::{Kind, LinkError, Message, Peer};
use futures::channel::oneshot;
use futures::{FutureExt, Sink, Stream, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::FramedRead;

use crate::os;
use line::{Bad, Line};
use outbox::Outbox;

/// Bytes asked for in one read.
const READ: usize = 64 << 10;

/// Lines from this size on are checked on the rayon pool: 128 KiB take some 50 µs.
const LARGE: usize = 128 << 10;

/// Invalid request; JSON-RPC 2.0 section 5.1.
const INVALID: i32 = -32600;

/// Newline-delimited JSON to and from one peer.
///
/// A line that is no message never ends the link. A client is answered with the JSON-RPC error; in
/// place of an upstream's message the request that it seems to answer is failed, and other output,
/// such as a banner, is skipped and counted. A peer that cannot be written any more is gone, and its
/// stream tells so after all that it had said.
pub struct Pipe<R, W> {
    peer: Peer,
    name: Arc<str>,
    read: FramedRead<R, JsonLines>,
    /// A large line that is being checked.
    checking: Option<oneshot::Receiver<Line>>,
    inbox: VecDeque<Message>,
    write: Outbox<W>,
    batches: Batches,
    skipped: u64,
    unreadable: Box<dyn Fn(i32) + Send + Sync>,
    /// Who reads, and learns that the peer cannot be written any more.
    reader: Option<Waker>,
}

/// A link to the client on standard input and output.
pub type Stdio = Pipe<Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>>;

/// The client on our own standard input and output. Lines longer than `max` bytes are refused.
///
/// # Errors
///
/// When they cannot be read and written without blocking. Must be called within a tokio runtime.
pub fn stdio(max: usize) -> io::Result<Stdio> {
    Ok(Pipe::new(
        Peer::Client,
        "client",
        os::stdin()?,
        os::stdout()?,
        max,
    ))
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Pipe<R, W> {
    /// Reads `peer`, called `name` in logs, from `read` and writes to it through `write`. Lines
    /// longer than `max` bytes are refused.
    pub fn new(peer: Peer, name: impl Into<Arc<str>>, read: R, write: W, max: usize) -> Self {
        Self {
            peer,
            name: name.into(),
            read: FramedRead::with_capacity(read, JsonLines::new(max), READ),
            checking: None,
            inbox: VecDeque::new(),
            write: Outbox::new(write),
            batches: Batches::default(),
            skipped: 0,
            unreadable: Box::new(|_| {}),
            reader: None,
        }
    }

    /// Tells `tell` the JSON-RPC error code of whatever the client sends that is no message.
    #[must_use]
    pub fn on_unreadable(self, tell: impl Fn(i32) + Send + Sync + 'static) -> Self {
        Self {
            unreadable: Box::new(tell),
            ..self
        }
    }

    fn is_client(&self) -> bool {
        self.peer == Peer::Client
    }

    fn gone(&self, source: io::Error) -> LinkError {
        LinkError {
            peer: self.peer,
            source,
        }
    }

    fn take(&mut self, frame: Frame) {
        let peer = self.peer;
        match frame {
            Frame::Line(line) if line.len() >= LARGE => {
                let (tell, done) = oneshot::channel();
                self.checking = Some(done);
                rayon::spawn(move || {
                    // Nobody waits any more when the link is gone.
                    let _ = tell.send(Line::read(line, peer));
                });
            }
            Frame::Line(line) => self.accept(Line::read(line, peer)),
            Frame::TooLong(line) => self.accept(Line::One(Err(Bad::too_long(&line)))),
        }
    }

    fn accept(&mut self, line: Line) {
        match line {
            Line::One(Ok(msg)) => self.admit(msg),
            Line::One(Err(bad)) if self.is_client() => {
                tracing::warn!(why = bad.why, "the client sent a line that is no message");
                (self.unreadable)(bad.code);
                self.push(bad.answer());
            }
            Line::One(Err(bad)) => self.miss(bad),
            Line::Batch(parts) if self.is_client() => self.accept_batch(parts),
            Line::Batch(parts) => {
                for part in parts {
                    self.accept(Line::One(part));
                }
            }
        }
    }

    fn admit(&mut self, msg: Message) {
        if self.is_client() {
            self.notice(&msg);
        }
        self.inbox.push_back(msg);
    }

    /// An upstream wrote a line that is no message.
    fn miss(&mut self, bad: Bad) {
        self.skipped += 1;
        let upstream = &*self.name;
        if !bad.json {
            if self.skipped.is_power_of_two() {
                tracing::warn!(
                    upstream,
                    lines = self.skipped,
                    "skipped output that is no JSON-RPC"
                );
            }
            return;
        }
        tracing::warn!(
            upstream,
            why = bad.why,
            "sent a message that cannot be read"
        );
        if let Some(id) = bad.id {
            let why = format!(
                "\"{upstream}\" sent an answer that cannot be read: {}",
                bad.why
            );
            self.inbox
                .push_back(Message::error(&id, -32603, &why, self.peer, Peer::Client));
        }
    }

    /// A client may send batches when the revision has them, but never `initialize` in one.
    fn accept_batch(&mut self, parts: Vec<Result<Message, Bad>>) {
        let why = if !self.batches.allowed() {
            Some("batches are part of MCP 2025-03-26 only, which was not agreed on".to_owned())
        } else if parts.is_empty() {
            Some("a batch must not be empty".to_owned())
        } else if parts.len() > MAX_BATCH {
            Some(format!(
                "a batch must not hold more than {MAX_BATCH} messages"
            ))
        } else {
            None
        };
        if let Some(why) = why {
            (self.unreadable)(INVALID);
            let refusal = Message::error(b"null", INVALID, &why, Peer::Gateway, Peer::Client);
            return self.push(refusal);
        }
        let (mut messages, mut waiting, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            match part {
                Ok(mut msg) if msg.method() == Some("initialize") => {
                    (self.unreadable)(INVALID);
                    msg.refuse(INVALID, "initialize must not be part of a batch");
                    refused.push(msg.raw().clone());
                }
                Ok(msg) => {
                    waiting.extend(msg.id().filter(|_| msg.kind() == Kind::Request).cloned());
                    messages.push(msg);
                }
                Err(bad) => {
                    (self.unreadable)(bad.code);
                    refused.push(bad.answer().raw().clone());
                }
            }
        }
        self.write.extend(self.batches.opened(waiting, refused));
        for msg in messages {
            self.admit(msg);
        }
    }

    /// A cancelled call gets no answer, so a batch must not wait for it.
    fn notice(&mut self, msg: &Message) {
        if msg.method() == Some("notifications/cancelled")
            && let Some(id) = msg.field(&["requestId"])
        {
            self.write.extend(self.batches.cancelled(id.of(msg.raw())));
        }
    }

    fn push(&mut self, mut msg: Message) {
        if self.is_client() {
            self.batches.notice(&msg);
            if msg.id().is_some_and(|id| self.batches.waits_for(id)) && msg.settle().is_ok() {
                let bytes = msg.raw().clone();
                self.write.extend(self.batches.answer(&msg, bytes));
                return;
            }
        }
        let (kind, id, from, to) = (msg.kind(), msg.id().cloned(), msg.from, msg.to);
        match (msg.into_pieces(), id) {
            (Ok(pieces), _) => self.write.push(pieces),
            (Err(overlap), Some(id)) if matches!(kind, Kind::Result | Kind::Error) => {
                tracing::error!(%overlap, "an answer is held back");
                let why = "the gateway failed on this message and holds it back";
                let error = Message::error(&id, -32603, why, from, to);
                self.write.push(vec![error.raw().clone()]);
            }
            (Err(overlap), _) => tracing::error!(%overlap, "a message is held back"),
        }
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Stream for Pipe<R, W> {
    type Item = Result<Message, LinkError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(msg) = this.inbox.pop_front() {
                return Poll::Ready(Some(Ok(msg)));
            }
            if let Some(checking) = &mut this.checking {
                let line = ready!(checking.poll_unpin(cx));
                this.checking = None;
                this.accept(line.unwrap_or_else(|_| Line::One(Err(Bad::unchecked()))));
            } else {
                match this.read.poll_next_unpin(cx) {
                    Poll::Ready(Some(Ok(frame))) => this.take(frame),
                    Poll::Ready(Some(Err(source))) => {
                        return Poll::Ready(Some(Err(this.gone(source))));
                    }
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => {
                        this.reader = Some(cx.waker().clone());
                        // An error that a bad line was answered with must not wait for a message.
                        // A peer that takes no more is gone, once all that it said is read.
                        return match this.write.poll_flush(cx) {
                            Poll::Ready(Err(source)) => Poll::Ready(Some(Err(this.gone(source)))),
                            _ => Poll::Pending,
                        };
                    }
                }
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Sink<Message> for Pipe<R, W> {
    type Error = LinkError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if self.write.is_full() {
            return self.poll_flush(cx);
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(mut self: Pin<&mut Self>, msg: Message) -> Result<(), LinkError> {
        self.push(msg);
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let flushed = self.write.poll_flush(cx);
        if let Poll::Ready(Err(_)) = flushed
            && let Some(reader) = self.reader.take()
        {
            reader.wake();
        }
        flushed.map_err(|source| self.gone(source))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.write
            .poll_close(cx)
            .map_err(|source| self.gone(source))
    }
}
