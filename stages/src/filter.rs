//! The easy way to write a stage: one plain method for each direction.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use futures::{Sink, SinkExt, Stream, StreamExt};

use crate::link::{Link, LinkError};
use crate::message::Message;
use crate::stage::Stage;

/// How many answers a filter may owe the client before it takes no more messages from it.
pub const MAX_OWED: usize = 64;

/// Looks at each message, both ways, edits it in place and says where it goes next.
///
/// A filter is owned by one task, so its state needs no lock. A method must not block: work that
/// takes longer than a few microseconds belongs in an [`Offload`](crate::offload::Offload).
pub trait Filter: Send {
    /// A message on its way to the model.
    fn to_model(&mut self, msg: &mut Message) -> Flow {
        let _ = msg;
        Flow::Forward
    }

    /// A message on its way to an upstream server.
    fn to_upstream(&mut self, msg: &mut Message) -> Flow {
        let _ = msg;
        Flow::Forward
    }

    /// The link inside is over: what is there left to say to the model?
    fn ended(&mut self) -> Vec<Message> {
        Vec::new()
    }
}

/// Where a message goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Back to whoever sent it, through the stages it already passed.
    Back,
    /// Nowhere.
    Drop,
    /// On, in the direction it was going.
    Forward,
}

impl<L: Link, F: Filter> Stage<L> for F {
    type Link = Filtered<L, F>;

    fn attach(self, link: L) -> Self::Link {
        Filtered {
            link,
            filter: self,
            answers: VecDeque::new(),
            rebound: None,
            over: None,
            reader: None,
            writer: None,
        }
    }
}

/// A filter that is not known until run time.
impl Filter for Box<dyn Filter> {
    fn to_model(&mut self, msg: &mut Message) -> Flow {
        (**self).to_model(msg)
    }

    fn to_upstream(&mut self, msg: &mut Message) -> Flow {
        (**self).to_upstream(msg)
    }

    fn ended(&mut self) -> Vec<Message> {
        (**self).ended()
    }
}

/// Filters chosen at run time, the first innermost.
impl Filter for Vec<Box<dyn Filter>> {
    fn to_model(&mut self, msg: &mut Message) -> Flow {
        outwards(self, msg, 0)
    }

    fn to_upstream(&mut self, msg: &mut Message) -> Flow {
        for at in (0..self.len()).rev() {
            match self[at].to_upstream(msg) {
                Flow::Forward => {}
                Flow::Drop => return Flow::Drop,
                // The answer passes the outer filters only; what they say to it is final.
                Flow::Back => {
                    return match outwards(self, msg, at + 1) {
                        Flow::Forward => Flow::Back,
                        Flow::Back | Flow::Drop => Flow::Drop,
                    };
                }
            }
        }
        Flow::Forward
    }

    fn ended(&mut self) -> Vec<Message> {
        let mut last: Vec<Message> = Vec::new();
        for filter in self {
            last.retain_mut(|msg| filter.to_model(msg) == Flow::Forward);
            last.append(&mut filter.ended());
        }
        last
    }
}

/// Takes `msg` from filter `from` to the outermost. What is sent back passes the inner ones again.
fn outwards(filters: &mut [Box<dyn Filter>], msg: &mut Message, from: usize) -> Flow {
    for at in from..filters.len() {
        match filters[at].to_model(msg) {
            Flow::Forward => {}
            Flow::Drop => return Flow::Drop,
            Flow::Back => {
                let through = filters[from..at]
                    .iter_mut()
                    .rev()
                    .all(|filter| filter.to_upstream(msg) == Flow::Forward);
                return if through { Flow::Back } else { Flow::Drop };
            }
        }
    }
    Flow::Forward
}

/// A link seen through a [`Filter`].
#[derive(Debug)]
pub struct Filtered<L, F> {
    link: L,
    filter: F,
    /// Answers to messages sent upstream, waiting to be read.
    answers: VecDeque<Message>,
    /// An answer to a message from upstream, waiting for room. Until it is gone nothing is read:
    /// a peer that does not take its answers is not listened to.
    rebound: Option<Message>,
    /// How the link inside ended, once it has.
    over: Option<Result<(), LinkError>>,
    /// Woken when there is an answer to read.
    reader: Option<Waker>,
    /// Woken when there is room for another answer.
    writer: Option<Waker>,
}

impl<L, F> Filtered<L, F> {
    fn end(&mut self) -> Option<Result<Message, LinkError>> {
        self.over
            .as_mut()
            .and_then(|over| std::mem::replace(over, Ok(())).err().map(Err))
    }
}

impl<L: Link, F: Filter + Unpin> Stream for Filtered<L, F> {
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
            if this.over.is_some() {
                return Poll::Ready(this.end());
            }
            // A link that cannot be written is over when it says so, after its last words.
            if this.rebound.is_some() {
                let room = ready!(this.link.poll_ready_unpin(cx));
                if let Some(msg) = this.rebound.take()
                    && room.is_ok()
                {
                    let _ = this.link.start_send_unpin(msg);
                }
            }
            // Whoever writes may not flush for a long time; a rebound cannot wait for it.
            let _ = this.link.poll_flush_unpin(cx);
            let Poll::Ready(next) = this.link.poll_next_unpin(cx) else {
                this.reader = Some(cx.waker().clone());
                return Poll::Pending;
            };
            match next {
                Some(Ok(mut msg)) => match this.filter.to_model(&mut msg) {
                    Flow::Forward => return Poll::Ready(Some(Ok(msg))),
                    Flow::Back => this.rebound = Some(msg),
                    Flow::Drop => {}
                },
                end => {
                    this.over = Some(end.map_or(Ok(()), |end| end.map(drop)));
                    this.answers.extend(this.filter.ended());
                }
            }
        }
    }
}

impl<L: Link, F: Filter + Unpin> Sink<Message> for Filtered<L, F> {
    type Error = LinkError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        if self.answers.len() >= MAX_OWED {
            self.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.link.poll_ready_unpin(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, mut msg: Message) -> Result<(), LinkError> {
        match self.filter.to_upstream(&mut msg) {
            Flow::Back => {
                self.answers.push_back(msg);
                if let Some(reader) = self.reader.take() {
                    reader.wake();
                }
                Ok(())
            }
            Flow::Drop => Ok(()),
            Flow::Forward => self.link.start_send_unpin(msg),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_flush_unpin(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_close_unpin(cx)
    }
}
