//! One upstream server as the router sees it: down, starting, or ready.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use cloak_stages::{BoxLink, Kind, Message, Peer};
use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::task::TaskTracker;

use crate::upstream::Process;

/// Most messages that wait for one server.
const MAX_QUEUE: usize = 1024;

/// Most bytes that wait for one server, unless it is a single message.
const MAX_QUEUED_BYTES: usize = 128 << 20;

/// A server that ran this long is well again: its next end is not counted with the earlier ones.
const WELL: Duration = Duration::from_secs(60);

/// The longest pause before a server that keeps ending is started again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// A link to a server, and what keeps the server alive.
pub struct Connection {
    /// Messages to and from it, with ids that were exchanged for our own: a
    /// [`Remap`](cloak_stages::remap::Remap) is part of it.
    pub link: BoxLink,
    /// Its process, if it has one of its own.
    pub process: Option<Process>,
}

/// Connects to a server, each time it is called.
pub type Connect = Box<dyn FnMut() -> io::Result<Connection> + Send>;

/// What there is to know of a server before it runs.
pub struct Upstream {
    /// Its name: letters, digits and hyphens.
    pub name: Arc<str>,
    /// How to start it.
    pub connect: Connect,
    /// How long it may take to answer `initialize`.
    pub startup: Duration,
    /// How long it may take to answer other requests; None is for ever.
    pub patience: Option<Duration>,
}

pub(super) struct Lane {
    pub(super) name: Arc<str>,
    pub(super) patience: Option<Duration>,
    peer: Peer,
    connect: Connect,
    startup: Duration,
    state: State,
    /// Waits until the server is ready, or takes more.
    queue: VecDeque<Message>,
    queued: usize,
    /// Answers to what could not be sent.
    refused: VecDeque<Message>,
    /// What it said it can do when it was last started.
    capabilities: Option<Value>,
    /// How often it ended since it was last well.
    ends: u32,
    not_before: Option<Instant>,
    stopping: TaskTracker,
}

enum State {
    Down,
    Starting {
        connection: Connection,
        deadline: Pin<Box<Sleep>>,
    },
    Ready {
        connection: Connection,
        since: Instant,
    },
}

/// What a lane has to tell.
pub(super) enum Event {
    /// The server is there; this is its answer to `initialize`.
    Up(Message),
    /// The server is gone, or was not to be had.
    Down,
    /// A message for the client, or the answer to one of the router's own requests.
    Message(Message),
}

impl Lane {
    pub(super) fn new(upstream: Upstream, index: u16, stopping: TaskTracker) -> Self {
        Self {
            name: upstream.name,
            patience: upstream.patience,
            peer: Peer::Upstream(index),
            connect: upstream.connect,
            startup: upstream.startup,
            state: State::Down,
            queue: VecDeque::new(),
            queued: 0,
            refused: VecDeque::new(),
            capabilities: None,
            ends: 0,
            not_before: None,
            stopping,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready { .. })
    }

    pub(super) fn is_starting(&self) -> bool {
        matches!(self.state, State::Starting { .. })
    }

    /// What is said when it did not answer in time.
    pub(super) fn impatience(&self) -> String {
        let seconds = self.patience.unwrap_or_default().as_secs_f32();
        format!("\"{}\" did not answer within {seconds} s", self.name)
    }

    /// Whether the server has the capability `name`; None before it was ever asked.
    pub(super) fn has(&self, name: &str) -> Option<bool> {
        self.capabilities
            .as_ref()
            .map(|all| all.get(name).is_some())
    }

    pub(super) fn capabilities(&self) -> Option<&Value> {
        self.capabilities.as_ref()
    }

    pub(super) fn learn(&mut self, capabilities: Value) {
        self.capabilities = Some(capabilities);
    }

    /// Starts the server unless it is there; `hello` is the `initialize` request to send it.
    pub(super) fn start(&mut self, hello: &Message) {
        if !matches!(self.state, State::Down) {
            return;
        }
        if let Some(pause) = self
            .not_before
            .and_then(|at| at.checked_duration_since(Instant::now()))
        {
            let seconds = pause.as_secs_f32().ceil();
            self.refuse_all(&format!("keeps ending; it is started again in {seconds} s"));
            return;
        }
        match (self.connect)() {
            Ok(mut connection) => {
                let mut hello = hello.clone();
                hello.to = self.peer;
                // A link that is over is noticed when it is read.
                let _ = connection.link.start_send_unpin(hello);
                let deadline = Box::pin(sleep(self.startup));
                self.state = State::Starting {
                    connection,
                    deadline,
                };
            }
            Err(why) => {
                tracing::error!(upstream = &*self.name, %why, "cannot be started");
                self.note_end(None);
                self.refuse_all(&format!("cannot be started: {why}"));
            }
        }
    }

    /// Puts `msg` among what is to be sent, or answers it with an error.
    pub(super) fn send(&mut self, mut msg: Message) {
        msg.to = self.peer;
        let size = msg.raw().len();
        let full = self.queue.len() >= MAX_QUEUE
            || (self.queued > 0 && self.queued + size > MAX_QUEUED_BYTES);
        if full {
            self.refuse(msg, "does not keep up: too many messages wait for it");
        } else {
            self.queued += size;
            self.queue.push_back(msg);
        }
    }

    /// Takes back a request that was not sent yet.
    pub(super) fn recall(&mut self, from: Peer, id: &[u8]) -> bool {
        let place = self.queue.iter().position(|msg| {
            msg.kind() == Kind::Request && msg.from == from && msg.id().is_some_and(|own| own == id)
        });
        let recalled = place.and_then(|place| self.queue.remove(place));
        if let Some(msg) = &recalled {
            self.queued -= msg.raw().len();
        }
        recalled.is_some()
    }

    /// The handshake is over: what waits may be sent, `initialized` first.
    pub(super) fn open(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Down);
        let State::Starting { mut connection, .. } = state else {
            self.state = state;
            return;
        };
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let _ =
            connection
                .link
                .start_send_unpin(Message::own(initialized, Peer::Gateway, self.peer));
        self.state = State::Ready {
            connection,
            since: Instant::now(),
        };
    }

    /// Ends the server, for a reason that those who wait for it are told.
    pub(super) fn fail(&mut self, why: &str) {
        let since = match std::mem::replace(&mut self.state, State::Down) {
            State::Down => return,
            State::Starting { connection, .. } => {
                self.stop(connection);
                None
            }
            State::Ready { connection, since } => {
                self.stop(connection);
                Some(since)
            }
        };
        tracing::warn!(upstream = &*self.name, why, "is down");
        self.note_end(since);
        self.refuse_all(why);
    }

    /// Closes the server's input and lets it end.
    pub(super) fn close(&mut self) {
        match std::mem::replace(&mut self.state, State::Down) {
            State::Down => {}
            State::Starting { connection, .. } | State::Ready { connection, .. } => {
                self.stop(connection);
            }
        }
    }

    fn stop(&self, connection: Connection) {
        let Connection { link, process } = connection;
        drop(link);
        if let Some(process) = process {
            self.stopping.spawn(process.stop());
        }
    }

    fn note_end(&mut self, since: Option<Instant>) {
        if since.is_some_and(|since| since.elapsed() >= WELL) {
            self.ends = 0;
        }
        // The first restart is immediate; then 1, 2, 4 … seconds.
        let pause = Duration::from_secs(1 << self.ends.min(10)) / 2;
        self.not_before = (self.ends > 0).then(|| Instant::now() + pause.min(MAX_PAUSE));
        self.ends += 1;
    }

    fn refuse_all(&mut self, why: &str) {
        self.queued = 0;
        for msg in std::mem::take(&mut self.queue) {
            self.refuse(msg, why);
        }
    }

    fn refuse(&mut self, mut msg: Message, why: &str) {
        if msg.kind() == Kind::Request {
            msg.refuse(-32000, &format!("\"{}\" {why}", self.name));
            self.refused.push_back(msg);
        }
    }

    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        if let Some(refused) = self.refused.pop_front() {
            return Poll::Ready(Event::Message(refused));
        }
        let connection = match &mut self.state {
            State::Down => return Poll::Pending,
            State::Starting {
                connection,
                deadline,
            } => {
                if deadline.as_mut().poll(cx).is_ready() {
                    let seconds = self.startup.as_secs_f32();
                    self.fail(&format!("did not answer initialize within {seconds} s"));
                    return Poll::Ready(Event::Down);
                }
                connection
            }
            State::Ready { connection, .. } => connection,
        };
        match connection.link.poll_next_unpin(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(msg))) => {
                let hello = msg.to == Peer::Gateway && msg.about() == Some("initialize");
                Poll::Ready(if hello {
                    Event::Up(msg)
                } else {
                    Event::Message(msg)
                })
            }
            Poll::Ready(Some(Err(_)) | None) => {
                self.fail("ended");
                Poll::Ready(Event::Down)
            }
        }
    }

    /// Hands the link what waits, as far as it takes it.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let connection = match &mut self.state {
            State::Down => return Poll::Ready(()),
            State::Starting { connection, .. } => {
                let _ = connection.link.poll_flush_unpin(cx);
                return Poll::Ready(());
            }
            State::Ready { connection, .. } => connection,
        };
        let link = &mut connection.link;
        // When the link fails, its stream ends, and that is noticed there.
        while !self.queue.is_empty() {
            match link.poll_ready_unpin(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => {
                    let _ = link.poll_flush_unpin(cx);
                    return Poll::Pending;
                }
            }
            if let Some(msg) = self.queue.pop_front() {
                self.queued -= msg.raw().len();
                let _ = link.start_send_unpin(msg);
            }
        }
        link.poll_flush_unpin(cx).map(drop)
    }
}
