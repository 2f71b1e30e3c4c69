//! One kind, size and mode: the calls that are made, and what they came to.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::Serialize;

use crate::bench::session::Session;
use crate::bench::size::Size;
use crate::bench::stats::{Summary, Times};
use crate::bench::subject::Mode;
use crate::bench::workload::Kind;

/// Below this, waiting for a time is done by looking at the clock: a sleep ends too late.
const SPIN: Duration = Duration::from_micros(100);

/// One kind, size and mode.
#[derive(Debug, Serialize)]
pub(super) struct Cell {
    pub(super) kind: Kind,
    /// Bytes of the text.
    pub(super) size: Size,
    pub(super) mode: Mode,
    /// Bytes of the answer, as a line.
    pub(super) answer: usize,
    /// Microseconds of a round trip.
    pub(super) times: Summary,
    /// Answers' bytes in each second of measuring.
    pub(super) bytes_per_second: f64,
    /// Microseconds of processor time of the process called, without the server behind it.
    pub(super) cpu_per_call: Option<f64>,
    /// Most bytes of memory that process held.
    pub(super) peak_memory: Option<u64>,
    /// The error with which such a call is answered; then nothing was measured.
    pub(super) refused: Option<String>,
}

/// A cell while it is measured.
pub(super) struct Cellar {
    pub(super) times: Times,
    pub(super) spent: Duration,
    pub(super) bytes: u64,
    pub(super) answer: usize,
    pub(super) cpu: Option<Duration>,
    pub(super) refused: Option<String>,
}

impl Cellar {
    pub(super) fn new() -> Self {
        Self {
            times: Times::new(),
            spent: Duration::ZERO,
            bytes: 0,
            answer: 0,
            cpu: Some(Duration::ZERO),
            refused: None,
        }
    }

    /// Call after call, each when the one before was answered, for `turn` or `most` calls; `least`
    /// calls in any case.
    pub(super) fn closed(
        &mut self,
        session: &mut Session,
        params: &str,
        turn: Duration,
        most: u64,
        least: u64,
    ) -> anyhow::Result<()> {
        let before = session.meter.cpu();
        let begun = Instant::now();
        let mut calls = 0;
        while calls < most && (calls < least || begun.elapsed() < turn) {
            let trip = session.trip("tools/call", params)?;
            self.add(trip.took, trip.bytes);
            self.spent += trip.took;
            calls += 1;
        }
        self.count_cpu(before, session);
        Ok(())
    }

    /// `calls` calls at a steady `rate`. Each is due at its time, and its time counts from then.
    pub(super) fn open(
        &mut self,
        session: &mut Session,
        params: &str,
        rate: f64,
        calls: u64,
    ) -> anyhow::Result<()> {
        let before = session.meter.cpu();
        let (mut asker, mut reader) = session.split();
        let first = asker.next_id();
        let begun = Instant::now();
        let due = |call: u64| begun + Duration::from_secs_f64(call as f64 / rate);
        std::thread::scope(|scope| {
            let asked = scope.spawn(move || -> anyhow::Result<()> {
                for call in 0..calls {
                    wait_until(due(call));
                    asker.ask("tools/call", params)?;
                }
                Ok(())
            });
            for _ in 0..calls {
                let (id, bytes, at) = reader.answer()?;
                let call = id.checked_sub(first).filter(|call| *call < calls);
                ensure!(call.is_some(), "an answer came to a call that was not made");
                self.add(at - due(call.unwrap_or_default()), bytes);
            }
            asked.join().expect("asking does not panic")
        })?;
        self.spent += begun.elapsed();
        self.count_cpu(before, session);
        Ok(())
    }

    fn add(&mut self, took: Duration, bytes: usize) {
        self.times.add(took);
        self.bytes += bytes as u64;
        self.answer = bytes;
    }

    fn count_cpu(&mut self, before: Option<Duration>, session: &Session) {
        let used = before.and_then(|before| session.meter.cpu()?.checked_sub(before));
        self.cpu = self.cpu.zip(used).map(|(sum, used)| sum + used);
    }

    pub(super) fn close(self, kind: Kind, size: Size, mode: Mode, session: &Session) -> Cell {
        let times = self.times.summary();
        Cell {
            kind,
            size,
            mode,
            answer: self.answer,
            bytes_per_second: self.bytes as f64 / self.spent.as_secs_f64().max(1e-9),
            cpu_per_call: self
                .cpu
                .filter(|_| times.samples > 0)
                .map(|cpu| cpu.as_secs_f64() * 1e6 / times.samples as f64),
            peak_memory: session.meter.peak(),
            refused: self.refused,
            times,
        }
    }
}

fn wait_until(time: Instant) {
    if let Some(rest) = time.checked_duration_since(Instant::now() + SPIN) {
        std::thread::sleep(rest);
    }
    while Instant::now() < time {
        std::hint::spin_loop();
    }
}
