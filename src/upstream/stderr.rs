//! What a server writes to its standard error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::ChildStderr;

/// Most bytes that are kept of what a server wrote last.
const KEPT: usize = 16 << 10;

/// Longest line that is kept whole.
const LINE: usize = 4 << 10;

/// Makes text fit to be shown to people: without personal data.
pub type Clean = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Leaves the text as it is: for servers whose output may be shown.
#[must_use]
pub fn unchanged() -> Clean {
    Arc::new(str::to_owned)
}

/// The last lines a server wrote to its standard error.
#[derive(Clone, Default)]
pub(super) struct Ring(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Ring {
    fn push(&self, line: String) {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.bytes += line.len();
        ring.lines.push_back(line);
        while ring.bytes > KEPT
            && let Some(oldest) = ring.lines.pop_front()
        {
            ring.bytes -= oldest.len();
        }
    }

    /// The last `count` lines, cleaned when they were written.
    pub(super) fn last(&self, count: usize) -> Vec<String> {
        let ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ring.lines
            .iter()
            .skip(ring.lines.len().saturating_sub(count))
            .cloned()
            .collect()
    }
}

/// Reads until the end, whatever comes: a server whose standard error is full stops.
pub(super) async fn drain(name: Arc<str>, from: ChildStderr, ring: Ring, clean: Clean) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    let mut chunk = [0; 8 << 10];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        for &byte in &chunk[..read] {
            if byte == b'\n' {
                keep(&name, &mut line, &ring, &clean);
            } else if line.len() < LINE {
                line.push(byte);
            }
        }
    }
    keep(&name, &mut line, &ring, &clean);
}

fn keep(name: &str, line: &mut Vec<u8>, ring: &Ring, clean: &Clean) {
    if !line.trim_ascii().is_empty() {
        let line = clean(String::from_utf8_lossy(line).trim_end());
        tracing::debug!(upstream = name, line, "standard error");
        ring.push(line);
    }
    line.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let ring = Ring::default();
        for number in 0..10_000 {
            ring.push(format!("line {number}"));
        }
        assert_eq!(ring.last(2), ["line 9998", "line 9999"]);
        assert!(ring.0.lock().unwrap().bytes <= KEPT);
    }
}
