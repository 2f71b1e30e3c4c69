//! Numbers made of many measurements.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Times, to three digits (an HDR histogram of nanoseconds).
#[derive(Clone, Debug)]
pub(super) struct Times(Histogram<u64>);

/// What a set of times comes to, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Summary {
    pub(super) samples: u64,
    pub(super) min: f64,
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
    pub(super) mean: f64,
}

impl Times {
    pub(super) fn new() -> Self {
        Self(Histogram::new(3).expect("three digits are allowed"))
    }

    pub(super) fn add(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0 += nanoseconds;
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len()
    }

    pub(super) fn summary(&self) -> Summary {
        let micro = |nanoseconds: u64| nanoseconds as f64 / 1e3;
        Summary {
            samples: self.0.len(),
            min: micro(self.0.min()),
            p50: micro(self.0.value_at_quantile(0.5)),
            p90: micro(self.0.value_at_quantile(0.9)),
            p99: micro(self.0.value_at_quantile(0.99)),
            max: micro(self.0.max()),
            mean: self.0.mean() / 1e3,
        }
    }
}

/// The middle of some numbers. Zero of none.
pub(super) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_of_what_was_added() {
        let mut times = Times::new();
        for micros in 1..=1000 {
            times.add(Duration::from_micros(micros));
        }
        let all = times.summary();
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.002;
        assert_eq!((all.samples, times.count()), (1000, 1000));
        assert!(near(all.min, 1.0) && near(all.p50, 500.0) && near(all.p90, 900.0));
        assert!(near(all.p99, 990.0) && near(all.max, 1000.0) && near(all.mean, 500.5));
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
    }
}
