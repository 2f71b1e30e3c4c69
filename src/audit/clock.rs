//! The two clocks an entry is stamped with.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Microseconds since 1970-01-01T00:00:00Z, from the clock that people set.
    pub utc_micros: i64,
    /// Microseconds since the process started, from the clock that nobody sets.
    pub mono_micros: u64,
}

/// Whoever tells the time; a test brings its own.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Now;
}

/// The clocks of the machine.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// The clocks of the machine; the monotonic one starts now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Now {
        let utc_micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros)
            }
        };
        let mono_micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        Now {
            utc_micros,
            mono_micros,
        }
    }
}
