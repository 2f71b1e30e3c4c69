//! How a cost grows: the exponent of a power law, and how sure it is.

use serde::Serialize;

/// `cost ∝ size^exponent`, fitted to measurements on logarithmic axes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Growth {
    pub(super) exponent: f64,
    /// The exponent lies between these two with a confidence of 95 %.
    pub(super) low: f64,
    pub(super) high: f64,
    /// How many measurements it is made of.
    pub(super) points: usize,
}

impl Growth {
    /// Fits by least squares. `None` with fewer than three points, or points that are not above 0.
    pub(super) fn of(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len();
        if count < 3 || points.iter().any(|&(x, y)| x <= 0.0 || y <= 0.0) {
            return None;
        }
        let logs: Vec<_> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count as f64;
        let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
        let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
        if spread == 0.0 {
            return None;
        }
        let exponent = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / spread;
        let miss = |p: &(f64, f64)| (p.1 - my - exponent * (p.0 - mx)).powi(2);
        let free = count - 2;
        let error = (logs.iter().map(miss).sum::<f64>() / free as f64 / spread).sqrt();
        let reach = t_95(free) * error;
        Some(Self {
            exponent,
            low: exponent - reach,
            high: exponent + reach,
            points: count,
        })
    }

    /// `0.98 (0.95 to 1.01)`
    pub(super) fn describe(&self) -> String {
        format!("{:.3} ({:.3} to {:.3})", self.exponent, self.low, self.high)
    }
}

/// A ratio of two things that were measured in pairs, one right after the other.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Ratio {
    /// The median of the pairs' ratios.
    pub(super) median: f64,
    /// The median lies between these two with a confidence of 95 %, whatever the distribution.
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) pairs: usize,
}

impl Ratio {
    /// Of the pairs' ratios. `None` of none. With fewer than six pairs no interval is that sure,
    /// and the least and the greatest ratio stand for it.
    pub(super) fn of(mut ratios: Vec<f64>) -> Option<Self> {
        ratios.sort_by(f64::total_cmp);
        let count = ratios.len();
        let (first, last) = (*ratios.first()?, *ratios.last()?);
        // How many pairs lie below the median is binomial, with p = 1/2.
        let half = 1.96 * (count as f64).sqrt() / 2.0;
        let below = (count as f64 / 2.0 - half).floor();
        let (low, high) = if below < 1.0 {
            (first, last)
        } else {
            let below = below as usize;
            (ratios[below - 1], ratios[count - below])
        };
        Some(Self {
            median: super::stats::median(&ratios),
            low,
            high,
            pairs: count,
        })
    }

    /// `1.23 (1.20 to 1.27)`
    pub(super) fn describe(&self) -> String {
        format!("{:.3} ({:.3} to {:.3})", self.median, self.low, self.high)
    }
}

/// The two-sided 95 % point of Student's t distribution.
fn t_95(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    // Beyond the table, the leading term of the expansion about the normal distribution.
    TABLE
        .get(freedom.saturating_sub(1))
        .copied()
        .unwrap_or_else(|| 1.96 + 2.37 / freedom as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::Dice;

    #[test]
    fn finds_the_exponent_of_a_power_law() {
        for exponent in [0.0, 0.5, 1.0, 2.0] {
            let points: Vec<_> = (1..=6)
                .map(|n| 10f64.powi(n))
                .map(|x| (x, 3.0 * x.powf(exponent)))
                .collect();
            let growth = Growth::of(&points).unwrap();
            assert!((growth.exponent - exponent).abs() < 1e-9);
            assert!(growth.high - growth.low < 1e-6);
        }
        assert!(Growth::of(&[(1.0, 1.0), (2.0, 2.0)]).is_none());
        assert!(Growth::of(&[(1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]).is_none());
        assert!(Growth::of(&[(1.0, 1.0); 5]).is_none());
    }

    /// Over many noisy sets of points the interval holds the truth about 95 times in 100.
    #[test]
    fn the_interval_is_as_sure_as_it_says() {
        let mut dice = Dice::new(3);
        let mut noise = || {
            let sum: u64 = (0..12).map(|_| dice.below(1 << 20)).sum();
            sum as f64 / f64::from(1 << 20) - 6.0
        };
        let mut held = 0;
        for _ in 0..1000 {
            let points: Vec<_> = (1..=8)
                .map(f64::from)
                .map(|n| (n.exp(), (n + 0.1 * noise()).exp()))
                .collect();
            let growth = Growth::of(&points).unwrap();
            held += u32::from(growth.low <= 1.0 && 1.0 <= growth.high);
        }
        assert!((920..=980).contains(&held), "{held} of 1000");
    }

    #[test]
    fn the_interval_of_a_ratio_is_one_of_ranks() {
        let ratio = Ratio::of((1..=100).map(f64::from).collect()).unwrap();
        assert_eq!(
            (ratio.median, ratio.low, ratio.high, ratio.pairs),
            (50.5, 40.0, 61.0, 100)
        );
        let few = Ratio::of(vec![2.0, 1.0, 3.0]).unwrap();
        assert_eq!((few.median, few.low, few.high), (2.0, 1.0, 3.0));
        assert!(Ratio::of(Vec::new()).is_none());
    }
}
