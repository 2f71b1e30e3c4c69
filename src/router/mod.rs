//! Many servers as one: who is asked, who is answered, and what is gathered.
//!
//! One task owns the router, so nothing here is locked. It is a [`Link`](cloak_stages::Link) whose
//! other end are all the servers; each of them has a lane, and what one server does never
//! stops another.

mod client;
mod hello;
mod lane;
mod lists;
mod names;
mod resources;
mod server;

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use cloak_stages::{Kind, LinkError, Message, Peer};
use futures::{Sink, Stream, StreamExt};
use tokio_util::task::TaskTracker;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

pub use lane::{Connect, Connection, Upstream};
pub(crate) use names::SEPARATOR;

use hello::Hello;
use lane::Lane;
use lists::Round;
use resources::Resources;

/// How long `initialize` waits for servers that are slow to start.
const GREETING: Duration = Duration::from_secs(3);

/// How long a list waits for servers that are not ready.
const LIST: Duration = Duration::from_secs(10);

/// How long a list then waits for servers that are ready and do not answer, unless the settings say
/// how long a request may take.
const SLOW_LIST: Duration = Duration::from_secs(120);

/// How long answers are waited for once the client is gone.
const DRAIN: Duration = Duration::from_secs(3);

/// Most messages owed to the client before no more are taken from it.
const MAX_OUT: usize = 1024;

/// Most messages kept for a client that is not ready for them.
const MAX_HELD: usize = 1024;

/// Most questions of servers that the client has not answered.
const MAX_QUESTIONS: usize = 10_000;

/// How the router behaves.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether tools and prompts get their server's name in front. Without it there must be one
    /// server, and lists pass through page by page.
    pub prefix: bool,
    /// What the gateway itself has to tell the model in `instructions`.
    pub notes: String,
    /// Whether servers may answer `initialize` with a revision nobody here knows.
    pub allow_unknown_revision: bool,
}

/// Routes between one client and its servers.
pub struct Router {
    options: Options,
    lanes: Vec<Lane>,
    /// What the client said in `initialize`.
    hello: Option<Hello>,
    /// The id of the client's `initialize` as long as it is unanswered.
    greeting: Option<(Bytes, Key)>,
    /// Whether the client has said that it is initialized.
    active: bool,
    instructions: Vec<Option<String>>,
    /// The client's requests that wait for an answer.
    open: HashMap<Bytes, Open>,
    rounds: HashMap<u64, Round>,
    asks: HashMap<u64, Ask>,
    serial: u64,
    resources: Resources,
    /// The last `logging/setLevel`, for servers that start later.
    level: Option<Bytes>,
    /// Subscriptions, for servers that start again.
    subscriptions: Vec<(u16, String)>,
    /// The methods of what servers ask the client, by the id the client sees.
    questions: HashMap<Bytes, Bytes>,
    /// What is kept for a client that is not ready to hear it.
    held: VecDeque<Message>,
    out: VecDeque<Message>,
    timers: DelayQueue<Timer>,
    /// The lane that is heard first next time.
    turn: usize,
    closing: Closing,
    reader: Option<Waker>,
    closer: Option<Waker>,
}

/// A request of the client's.
#[derive(Debug, Default)]
struct Open {
    /// The one server that has it.
    lane: Option<u16>,
    timer: Option<Key>,
    /// Its progress token, a JSON text, if its time starts again with each report.
    progress: Option<Bytes>,
}

/// A request about a resource whose server is not known: the servers are asked in turn.
#[derive(Debug)]
struct Ask {
    request: Message,
    uri: String,
    rest: VecDeque<u16>,
    /// Who is asked now, and when that has taken too long.
    asked: Option<(u16, Option<Key>)>,
    /// What the first server said that did not have it.
    refusal: Option<Message>,
}

#[derive(Clone, Debug)]
enum Timer {
    Ask(u64),
    Call(Bytes),
    Drain,
    Greeting,
    List(u64),
    SlowList(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    No,
    /// The client is gone; its last answers are waited for.
    Draining,
    Closed,
}

impl Router {
    /// Over `upstreams`, which are not started before the client greets. Processes that end are
    /// waited for in `stopping`.
    ///
    /// # Panics
    ///
    /// With more than 65,535 upstreams, or not exactly one when names get no prefix.
    #[must_use]
    pub fn new(upstreams: Vec<Upstream>, options: Options, stopping: &TaskTracker) -> Self {
        assert!(
            options.prefix || upstreams.len() == 1,
            "without prefixes there is one server"
        );
        let lanes: Vec<Lane> = (0_u16..)
            .zip(upstreams)
            .map(|(index, upstream)| Lane::new(upstream, index, stopping.clone()))
            .collect();
        Self {
            options,
            instructions: vec![None; lanes.len()],
            lanes,
            hello: None,
            greeting: None,
            active: false,
            open: HashMap::new(),
            rounds: HashMap::new(),
            asks: HashMap::new(),
            serial: 0,
            resources: Resources::default(),
            level: None,
            subscriptions: Vec::new(),
            questions: HashMap::new(),
            held: VecDeque::new(),
            out: VecDeque::new(),
            timers: DelayQueue::new(),
            turn: 0,
            closing: Closing::No,
            reader: None,
            closer: None,
        }
    }

    /// Says `msg` to the client. Answers pass only once for each request.
    fn say(&mut self, msg: Message) {
        if matches!(msg.kind(), Kind::Result | Kind::Error)
            && let Some(id) = msg.id()
        {
            let Some(open) = self.open.remove(id) else {
                return;
            };
            if let Some(timer) = open.timer {
                self.timers.try_remove(&timer);
            }
            if self.open.is_empty()
                && let Some(closer) = self.closer.take()
            {
                closer.wake();
            }
        }
        self.push(msg);
    }

    fn push(&mut self, msg: Message) {
        self.out.push_back(msg);
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// Gives `msg` to a server, which is started for it if need be.
    fn pass(&mut self, lane: u16, msg: Message) {
        let Some(hello) = &self.hello else { return };
        let lane = &mut self.lanes[usize::from(lane)];
        lane.send(msg);
        lane.start(&hello.request);
    }

    fn lane_called(&self, name: &str) -> Option<u16> {
        (0_u16..)
            .zip(&self.lanes)
            .find(|(_, lane)| &*lane.name == name)
            .map(|(index, _)| index)
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    fn expired(&mut self, timer: Timer) {
        match timer {
            Timer::Ask(serial) => self.ask_expired(serial),
            Timer::Call(id) => self.call_expired(&id),
            Timer::Drain => self.close_lanes(),
            Timer::Greeting => self.answer_greeting(),
            Timer::List(serial) => {
                let ready: Vec<bool> = self.lanes.iter().map(Lane::is_ready).collect();
                if let Some(round) = self.rounds.get_mut(&serial) {
                    round.give_up(|lane| !ready[usize::from(lane)]);
                    let patience = |lane: &Lane| lane.patience.unwrap_or(SLOW_LIST);
                    let longest = self.lanes.iter().map(patience).max();
                    let timer = Timer::SlowList(serial);
                    self.timers.insert(timer, longest.unwrap_or(SLOW_LIST));
                    self.finish_round(serial);
                }
            }
            Timer::SlowList(serial) => {
                if let Some(round) = self.rounds.get_mut(&serial) {
                    round.give_up(|_| true);
                    self.finish_round(serial);
                }
            }
        }
    }

    /// A server did not answer in time: the client is told, and the server that nobody waits.
    fn call_expired(&mut self, id: &Bytes) {
        let Some(open) = self.open.get(id) else {
            return;
        };
        let Some(index) = open.lane else { return };
        let lane = &mut self.lanes[usize::from(index)];
        let why = lane.impatience();
        if !lane.recall(Peer::Client, id) && lane.is_ready() {
            let id = String::from_utf8_lossy(id);
            let text = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"timeout"}}}}"#
            );
            lane.send(Message::own(text, Peer::Client, Peer::Upstream(index)));
        }
        self.say(Message::error(
            id,
            -32001,
            &why,
            Peer::Gateway,
            Peer::Client,
        ));
    }

    fn close_lanes(&mut self) {
        for lane in &mut self.lanes {
            lane.close();
        }
        self.closing = Closing::Closed;
        for waker in [self.reader.take(), self.closer.take()]
            .into_iter()
            .flatten()
        {
            waker.wake();
        }
    }

    /// Hears each lane once, another one first each time. Whether any had something to say.
    fn poll_lanes(&mut self, cx: &mut Context<'_>) -> bool {
        let count = self.lanes.len();
        let mut any = false;
        for step in 0..count {
            let index = (self.turn + step) % count;
            let heard = u16::try_from(index).expect("lanes are counted in 16 bits");
            if let Poll::Ready(event) = self.lanes[index].poll_event(cx) {
                any = true;
                self.hear(heard, event);
            }
        }
        self.turn = (self.turn + 1) % count;
        any
    }

    fn flush_lanes(&mut self, cx: &mut Context<'_>) {
        for lane in &mut self.lanes {
            // One that takes nothing has its own queue, and holds up nobody.
            let _ = lane.poll_flush(cx);
        }
    }
}

impl Stream for Router {
    type Item = Result<Message, LinkError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(msg) = this.out.pop_front() {
                return Poll::Ready(Some(Ok(msg)));
            }
            if this.closing == Closing::Closed {
                return Poll::Ready(None);
            }
            while let Poll::Ready(Some(timer)) = this.timers.poll_next_unpin(cx) {
                this.expired(timer.into_inner());
            }
            if !this.poll_lanes(cx) && this.out.is_empty() && this.closing != Closing::Closed {
                this.flush_lanes(cx);
                this.reader = Some(cx.waker().clone());
                return Poll::Pending;
            }
        }
    }
}

impl Sink<Message> for Router {
    type Error = LinkError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if self.out.len() >= MAX_OUT {
            // The stream is polled by the same task, and makes room.
            self.closer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(mut self: Pin<&mut Self>, msg: Message) -> Result<(), LinkError> {
        self.hear_client(msg);
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.flush_lanes(cx);
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if self.closing == Closing::No {
            self.closing = Closing::Draining;
            self.timers.insert(Timer::Drain, DRAIN);
        }
        self.flush_lanes(cx);
        if self.closing == Closing::Draining && self.open.is_empty() {
            self.close_lanes();
        }
        if self.closing == Closing::Closed {
            return Poll::Ready(Ok(()));
        }
        self.closer = Some(cx.waker().clone());
        Poll::Pending
    }
}
