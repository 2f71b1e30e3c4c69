//! The starts of one server.

use cloak_stages::audit::{Entry, Event, Name};

use crate::audit::Handle;

/// Counts the starts of a server. The first is no news: its messages tell of it.
pub(crate) struct Starts {
    handle: Handle,
    upstream: Name,
    starts: u64,
}

impl Starts {
    pub(crate) fn new(upstream: &str, handle: Handle) -> Self {
        Self {
            handle,
            upstream: Name::parse(upstream).unwrap_or(Name::literal("unnamed")),
            starts: 0,
        }
    }

    /// Tells of one more start, and whether the server could be started.
    pub(crate) fn tell(&mut self, started: bool) {
        self.starts += 1;
        if started && self.starts == 1 {
            return;
        }
        let entry = match started {
            true => Entry::new(Event::Restart),
            false => Entry::new(Event::Error).fact(Name::literal("what"), Name::literal("start")),
        };
        let mut entry = entry.fact(Name::literal("starts"), self.starts);
        entry.upstream = Some(self.upstream.clone());
        // The calls that wait for the server are refused if they cannot be recorded.
        let _ = self.handle.record(entry);
    }
}
