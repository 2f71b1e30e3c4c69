//! Work that takes too long for the task that moves messages, done on the rayon pool.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use futures::channel::oneshot;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, Sink, SinkExt, Stream, StreamExt};

use crate::filter::{Flow, MAX_OWED};
use crate::link::{Link, LinkError};
use crate::message::{Kind, Message};
use crate::stage::Stage;
use crate::sync;

/// Messages below this many bytes are worked on at once when nothing holds them up.
///
/// Handing a message to the pool and back costs about 40 µs when the pool sleeps; detection takes
/// about as long for this much text.
pub const INLINE: usize = 32 << 10;

/// Most messages of one link that are worked on or wait for it, in each direction.
pub const MAX_JOBS: usize = 32;

/// Like a [`Filter`](crate::Filter), but called from several threads at a time, with messages of
/// any size.
pub trait Work: Send + Sync + 'static {
    /// A message on its way to the model.
    fn to_model(&self, msg: &mut Message) -> Flow;

    /// A message on its way to an upstream server.
    fn to_upstream(&self, msg: &mut Message) -> Flow;

    /// Whether a call now would not have to wait for another thread.
    fn is_free(&self) -> bool {
        true
    }
}

/// Two kinds of work, the first innermost.
impl<A: Work, B: Work> Work for (A, B) {
    fn to_model(&self, msg: &mut Message) -> Flow {
        match self.0.to_model(msg) {
            Flow::Forward => self.1.to_model(msg),
            stop => stop,
        }
    }

    fn to_upstream(&self, msg: &mut Message) -> Flow {
        match self.1.to_upstream(msg) {
            Flow::Forward => self.0.to_upstream(msg),
            stop => stop,
        }
    }

    fn is_free(&self) -> bool {
        self.0.is_free() && self.1.is_free()
    }
}

impl<W: Work + ?Sized> Work for Arc<W> {
    fn to_model(&self, msg: &mut Message) -> Flow {
        (**self).to_model(msg)
    }

    fn to_upstream(&self, msg: &mut Message) -> Flow {
        (**self).to_upstream(msg)
    }

    fn is_free(&self) -> bool {
        (**self).is_free()
    }
}

/// A stage that does [`Work`]: small messages at once, large ones on the rayon pool.
///
/// To the model, messages of one [call](Message::call) keep their order, and so do those of no
/// call; otherwise a small answer overtakes a large one that is still worked on. To the upstream
/// all keep their order. A panic in the work answers the request with an error.
pub struct Offload<W> {
    work: Arc<W>,
    inline: usize,
}

impl<W: Work> Offload<W> {
    /// Does `work`.
    #[must_use]
    pub fn new(work: W) -> Self {
        Self {
            work: Arc::new(work),
            inline: INLINE,
        }
    }

    /// Works at once on messages below `bytes`, not [`INLINE`].
    #[must_use]
    pub fn inline_below(self, bytes: usize) -> Self {
        Self {
            inline: bytes,
            ..self
        }
    }
}

impl<W> fmt::Debug for Offload<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offload")
            .field("inline", &self.inline)
            .finish_non_exhaustive()
    }
}

impl<L: Link, W: Work> Stage<L> for Offload<W> {
    type Link = Offloaded<L, W>;

    fn attach(self, link: L) -> Offloaded<L, W> {
        Offloaded {
            link,
            offload: self,
            down: Down::default(),
            up: VecDeque::new(),
            answers: VecDeque::new(),
            rebound: VecDeque::new(),
            reader: None,
            writer: None,
        }
    }
}

/// A link seen through an [`Offload`].
pub struct Offloaded<L, W> {
    link: L,
    offload: Offload<W>,
    down: Down,
    /// Messages to the upstream, in order.
    up: VecDeque<Job>,
    /// Answers to messages sent upstream, waiting to be read.
    answers: VecDeque<Message>,
    /// Answers to messages from upstream, waiting for room.
    rebound: VecDeque<Message>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// What is on its way to the model.
#[derive(Default)]
struct Down {
    jobs: FuturesUnordered<Job>,
    /// Calls with a message on the pool, and what waits behind it. No call counts as one, too.
    busy: HashMap<Option<u64>, VecDeque<Message>>,
    waiting: usize,
    over: Option<Result<(), LinkError>>,
}

/// A message on the pool.
struct Job {
    done: oneshot::Receiver<(Message, Flow)>,
    call: Option<u64>,
}

/// One direction of [`Work`].
type Run<W> = fn(&W, &mut Message) -> Flow;

impl Job {
    fn start<W: Work>(mut msg: Message, work: &Arc<W>, run: Run<W>) -> Self {
        let (tell, done) = oneshot::channel();
        let call = msg.call;
        let work = Arc::clone(work);
        sync::on_pool(move || {
            let flow = guarded(&*work, &mut msg, run);
            // Nobody waits any more when the link is gone.
            let _ = tell.send((msg, flow));
        });
        Self { done, call }
    }
}

impl Future for Job {
    type Output = (Option<u64>, Message, Flow);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (msg, flow) =
            ready!(self.done.poll_unpin(cx)).expect("a job is never dropped before it has told");
        Poll::Ready((self.call, msg, flow))
    }
}

/// Runs the work; should it panic, the message does not pass.
fn guarded<W: Work>(work: &W, msg: &mut Message, run: Run<W>) -> Flow {
    let run = std::panic::AssertUnwindSafe(|| run(work, msg));
    match std::panic::catch_unwind(run) {
        Ok(flow) => flow,
        Err(_) => {
            let kind = msg.kind();
            msg.refuse(
                -32603,
                "the gateway failed on this message and holds it back",
            );
            match kind {
                Kind::Request => Flow::Back,
                Kind::Notification => Flow::Drop,
                Kind::Result | Kind::Error => Flow::Forward,
            }
        }
    }
}

impl<L: Link, W: Work> Offloaded<L, W> {
    /// Takes a message that came from inside. Returns it if it can be passed on now.
    fn receive(&mut self, mut msg: Message) -> Option<Message> {
        if let Some(queue) = self.down.busy.get_mut(&msg.call) {
            queue.push_back(msg);
            self.down.waiting += 1;
            return None;
        }
        if msg.raw().len() < self.offload.inline && self.offload.work.is_free() {
            let flow = guarded(&*self.offload.work, &mut msg, W::to_model);
            return self.deliver(msg, flow);
        }
        self.down.busy.insert(msg.call, VecDeque::new());
        self.down
            .jobs
            .push(Job::start(msg, &self.offload.work, W::to_model));
        None
    }

    fn deliver(&mut self, msg: Message, flow: Flow) -> Option<Message> {
        match flow {
            Flow::Forward => Some(msg),
            Flow::Back => {
                self.rebound.push_back(msg);
                None
            }
            Flow::Drop => None,
        }
    }

    /// A job of `call` is done: the next message of that call may start.
    fn release(&mut self, call: Option<u64>) {
        let next = self.down.busy.get_mut(&call).and_then(VecDeque::pop_front);
        if let Some(msg) = next {
            self.down.waiting -= 1;
            self.down
                .jobs
                .push(Job::start(msg, &self.offload.work, W::to_model));
        } else {
            self.down.busy.remove(&call);
        }
    }

    /// Sends answers back to the upstream, as far as it takes them. A link that cannot be written is
    /// over when it says so, after its last words.
    fn poll_rebound(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.rebound.is_empty() {
            let room = ready!(self.link.poll_ready_unpin(cx));
            if let Some(msg) = self.rebound.pop_front()
                && room.is_ok()
            {
                let _ = self.link.start_send_unpin(msg);
            }
        }
        Poll::Ready(())
    }

    /// Sends on what the pool has done, in order.
    fn poll_up(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        while let Some(job) = self.up.front_mut() {
            ready!(self.link.poll_ready_unpin(cx))?;
            let (_, msg, flow) = ready!(job.poll_unpin(cx));
            self.up.pop_front();
            self.dispatch(msg, flow)?;
        }
        Poll::Ready(Ok(()))
    }

    fn dispatch(&mut self, msg: Message, flow: Flow) -> Result<(), LinkError> {
        match flow {
            Flow::Forward => return self.link.start_send_unpin(msg),
            Flow::Back => {
                self.answers.push_back(msg);
                if let Some(reader) = self.reader.take() {
                    reader.wake();
                }
            }
            Flow::Drop => {}
        }
        Ok(())
    }
}

impl<L: Link, W: Work> Stream for Offloaded<L, W> {
    type Item = Result<Message, LinkError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(answer) = this.answers.pop_front() {
                if let Some(writer) = this.writer.take() {
                    writer.wake();
                }
                return Poll::Ready(Some(Ok(answer)));
            }
            if let Poll::Ready(Some((call, msg, flow))) = this.down.jobs.poll_next_unpin(cx) {
                this.release(call);
                if let Some(msg) = this.deliver(msg, flow) {
                    return Poll::Ready(Some(Ok(msg)));
                }
                continue;
            }
            if this.down.over.is_some() {
                if this.down.jobs.is_empty() {
                    let over = this
                        .down
                        .over
                        .as_mut()
                        .map(|over| std::mem::replace(over, Ok(())));
                    return Poll::Ready(over.and_then(Result::err).map(Err));
                }
                return Poll::Pending;
            }
            let stuck = this.poll_rebound(cx).is_pending();
            let _ = this.link.poll_flush_unpin(cx);
            this.reader = Some(cx.waker().clone());
            if stuck || this.down.jobs.len() + this.down.waiting >= MAX_JOBS {
                return Poll::Pending;
            }
            match ready!(this.link.poll_next_unpin(cx)) {
                Some(Ok(msg)) => {
                    if let Some(msg) = this.receive(msg) {
                        return Poll::Ready(Some(Ok(msg)));
                    }
                }
                end => this.down.over = Some(end.map_or(Ok(()), |end| end.map(drop))),
            }
        }
    }
}

impl<L: Link, W: Work> Sink<Message> for Offloaded<L, W> {
    type Error = LinkError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let _ = self.poll_up(cx)?;
        if self.answers.len() >= MAX_OWED {
            self.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        match self.up.len() {
            0 => self.link.poll_ready_unpin(cx),
            MAX_JOBS.. => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    }

    fn start_send(mut self: Pin<&mut Self>, mut msg: Message) -> Result<(), LinkError> {
        let offload = &self.offload;
        if self.up.is_empty() && msg.raw().len() < offload.inline && offload.work.is_free() {
            let flow = guarded(&*offload.work, &mut msg, W::to_upstream);
            return self.dispatch(msg, flow);
        }
        let job = Job::start(msg, &offload.work, W::to_upstream);
        self.up.push_back(job);
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        let worked = self.poll_up(cx)?;
        ready!(self.link.poll_flush_unpin(cx))?;
        worked.map(Ok)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        ready!(self.poll_up(cx))?;
        self.link.poll_close_unpin(cx)
    }
}

impl<L, W> fmt::Debug for Offloaded<L, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offloaded")
            .field("to_model", &self.down.jobs.len())
            .field("to_upstream", &self.up.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::executor::block_on;

    use super::*;
    use crate::memory;
    use crate::message::Peer;

    /// Sleeps over long messages, and panics when told to.
    struct Slow;

    impl Work for Slow {
        fn to_model(&self, msg: &mut Message) -> Flow {
            assert!(!msg.raw().ends_with(br#""panic"}"#), "told to");
            if msg.raw().len() > 100 {
                std::thread::sleep(Duration::from_millis(50));
            }
            Flow::Forward
        }

        fn to_upstream(&self, msg: &mut Message) -> Flow {
            self.to_model(msg)
        }
    }

    fn message(id: u32, long: bool) -> Message {
        let text = if long { "x".repeat(200) } else { String::new() };
        Message::result(
            id.to_string().as_bytes(),
            &crate::json::quote(&text),
            Peer::Upstream(0),
            Peer::Client,
        )
    }

    fn ids(sent: Vec<Message>) -> Vec<String> {
        let (inside, mut outside) = memory::link();
        let link = Offload::new(Slow).inline_below(100).attach(inside);
        let all: Vec<_> = block_on(async {
            for msg in sent {
                outside.send(msg).await.unwrap();
            }
            drop(outside);
            link.collect().await
        });
        let id = |msg: Result<Message, LinkError>| {
            String::from_utf8(msg.unwrap().id().unwrap().to_vec()).unwrap()
        };
        all.into_iter().map(id).collect()
    }

    #[test]
    fn small_answers_overtake_large_ones_of_other_calls_only() {
        let of = |id, long, call| {
            let mut msg = message(id, long);
            msg.call = Some(call);
            msg
        };
        let sent = vec![
            of(1, true, 1),
            of(2, false, 1),
            of(3, false, 2),
            of(4, true, 3),
        ];
        let got = ids(sent);
        assert_eq!(got[0], "3");
        let place = |id: &str| got.iter().position(|one| one == id).unwrap();
        assert!(place("1") < place("2"), "one call keeps its order: {got:?}");
        assert_eq!(got.len(), 4);
    }

    #[test]
    fn messages_of_no_call_keep_their_order() {
        assert_eq!(
            ids(vec![message(1, true), message(2, false), message(3, true)]),
            ["1", "2", "3"]
        );
    }

    #[test]
    fn what_makes_the_work_panic_is_held_back() {
        for inline in [0, 1000] {
            let (inside, mut outside) = memory::link();
            let mut link = Offload::new(Slow).inline_below(inline).attach(inside);
            let secret = br#"{"id":1,"result":"panic"}"#;
            let secret = Message::own(&secret[..], Peer::Upstream(0), Peer::Client);
            block_on(outside.send(secret)).unwrap();
            let answer = block_on(link.next()).unwrap().unwrap();
            assert_eq!(answer.kind(), Kind::Error);
            assert!(!answer.raw().windows(5).any(|part| part == b"panic"));

            let ask = br#"{"id":2,"method":"x","params":"panic"}"#;
            let ask = Message::own(&ask[..], Peer::Client, Peer::Upstream(0));
            block_on(link.send(ask)).unwrap();
            let refused = block_on(link.next()).unwrap().unwrap();
            assert_eq!((refused.kind(), refused.to), (Kind::Error, Peer::Client));
            assert!(
                outside.next().now_or_never().is_none(),
                "nothing went upstream"
            );
        }
    }
}
