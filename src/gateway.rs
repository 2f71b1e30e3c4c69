//! The gateway put together: pipes, stages, router, processes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};
use std::time::Duration;

use cloak_stages::audit::Name;
use cloak_stages::offload::{Offload, Work};
use cloak_stages::remap::Remap;
use cloak_stages::{Link, LinkError, LinkExt, Message, Peer};
use futures::future::BoxFuture;
use futures::{FutureExt, Sink, SinkExt, Stream, StreamExt};
use tokio_util::task::TaskTracker;

use crate::audit::Handle;
use crate::config::{self, Config};
use crate::names;
use crate::os;
use crate::pipe;
use crate::protection::Protection;
use crate::pump::pump;
use crate::recording::{Desk, Recorded, Starts};
use crate::router::{Connect, Connection, Options, Router, Upstream};
use crate::upstream;

/// How long servers may take to end, all together, once the session is over. Each of them is given
/// less than that.
const GRACE: Duration = Duration::from_secs(5);

/// Serves the client on standard input and output until it goes or the process is told to end.
/// Without a protection every byte is passed on as it came. What happens is told to `audit`.
///
/// # Errors
///
/// When the pipes to the client cannot be opened, or break.
pub fn serve(config: &Config, protection: Option<&Protection>, audit: &Handle) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(session(config, protection, audit));
    // A read of standard input may be stuck in a thread of its own; nobody waits for it.
    runtime.shutdown_background();
    served
}

async fn session(
    config: &Config,
    protection: Option<&Protection>,
    audit: &Handle,
) -> io::Result<()> {
    let stopping = TaskTracker::new();
    let upstreams = (0..)
        .zip(&config.upstreams)
        .map(|(index, upstream)| lane(config, index, upstream, (protection, audit)))
        .collect();
    let options = Options {
        prefix: config.prefix,
        allow_unknown_revision: config.allow_unknown_protocol_version,
        notes: match protection.map(Protection::names) {
            Some(names) if names.gap.is_some() => names::NOTE.to_owned(),
            _ => String::new(),
        },
    };
    let router = Router::new(upstreams, options, &stopping);
    let names = config.upstreams.iter().map(|upstream| &*upstream.name);
    let router = router.through(Desk::new(names, audit.clone()));
    let handle = audit.clone();
    let client =
        pipe::stdio(config.max_message)?.on_unreadable(move |code| Desk::unreadable(&handle, code));
    let ended = os::terminated().map(|signal| match signal {
        Ok(signal) => tracing::info!(signal, "told to end"),
        Err(why) => tracing::error!(%why, "signals cannot be heard"),
    });
    let pumped = pump(
        Until {
            link: client,
            end: Some(ended.boxed()),
        },
        router,
    )
    .await;
    stopping.close();
    if tokio::time::timeout(GRACE, stopping.wait()).await.is_err() {
        tracing::error!("some servers did not end in time and were killed");
    }
    match pumped {
        // A client that goes without reading its answers is no failure of ours.
        Err(LinkError {
            peer: Peer::Client,
            source,
        }) if is_hangup(&source) => Ok(()),
        Err(LinkError { source, .. }) => Err(source),
        Ok(()) => Ok(()),
    }
}

fn is_hangup(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

/// What the router needs to know of a server: above all how to connect to it.
fn lane(
    config: &Config,
    index: u16,
    upstream: &config::Upstream,
    (protection, audit): (Option<&Protection>, &Handle),
) -> Upstream {
    let name: Arc<str> = upstream.name.as_str().into();
    let work = work(index, upstream, protection, audit);
    let inline = protection.map_or(Recorded::INLINE, Protection::inline_below);
    let mut starts = Starts::new(&name, audit.clone());
    let clean = protection.map_or_else(upstream::unchanged, Protection::clean);
    let questions = Arc::new(AtomicU64::new(0));
    let (spec, max) = (upstream.clone(), config.max_message);
    let lane = Arc::clone(&name);
    let connect: Connect = Box::new(move || {
        let peer = Peer::Upstream(index);
        let started = upstream::start(&spec, peer, max, Arc::clone(&clean));
        starts.tell(started.is_ok());
        let (process, pipe) = started?;
        let strays = Arc::clone(&lane);
        let remap = Remap::new(Arc::clone(&lane), Arc::clone(&questions))
            .on_stray(move |what| tracing::debug!(upstream = &*strays, ?what, "dropped"));
        let link = pipe.through(remap);
        let link = match &work {
            Some(work) => {
                let offload = Offload::new(Arc::clone(work)).inline_below(inline);
                link.through(offload).erase()
            }
            None => link.erase(),
        };
        Ok(Connection {
            link,
            process: Some(process),
        })
    });
    Upstream {
        name,
        connect,
        startup: upstream.startup_timeout,
        patience: upstream.request_timeout,
    }
}

/// What is done with the messages to and from a server; none if they pass as they are, untold.
fn work(
    index: u16,
    upstream: &config::Upstream,
    protection: Option<&Protection>,
    audit: &Handle,
) -> Option<Arc<dyn Work>> {
    if !audit.is_on() {
        return protection.map(|protection| protection.work(index, upstream));
    }
    let names = [Name::literal("protect"), Name::literal("tripwire")];
    let stages = protection.map_or_else(Vec::new, |protection| {
        names
            .into_iter()
            .zip(protection.stages(index, upstream))
            .collect()
    });
    let recorded = Recorded::new(&upstream.name, stages, audit.clone());
    Some(Arc::new(recorded))
}

/// A link that ends when told to, as if its peer had gone.
struct Until<L> {
    link: L,
    end: Option<BoxFuture<'static, ()>>,
}

impl<L: Link> Stream for Until<L> {
    type Item = Result<Message, LinkError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self
            .end
            .as_mut()
            .is_none_or(|end| end.poll_unpin(cx).is_ready())
        {
            self.end = None;
            return Poll::Ready(None);
        }
        self.link.poll_next_unpin(cx)
    }
}

impl<L: Link> Sink<Message> for Until<L> {
    type Error = LinkError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_ready_unpin(cx)
    }

    fn start_send(mut self: Pin<&mut Self>, msg: Message) -> Result<(), LinkError> {
        self.link.start_send_unpin(msg)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_flush_unpin(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.link.poll_close_unpin(cx)
    }
}
