//! What a transformer computes between its dense layers.
//!
//! Exponentials and the error function are polynomials, because the compiler can compute eight of
//! them at once; they differ from the exact values by less than 1e-6.

use crate::kernel::{Kernel, dispatch};

/// `x·Φ(x)`, the Gaussian error linear unit, exact form.
pub(super) fn gelu(x: &mut [f32]) {
    dispatch(Gelu(x));
}

struct Gelu<'a>(&'a mut [f32]);

impl Kernel for Gelu<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for x in self.0 {
            *x = 0.5 * *x * (1.0 + erf::<FUSED>(*x * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// Turns the first `length` floats of each row of `stride` into chances that sum to 1.
pub(super) fn softmax(x: &mut [f32], stride: usize, length: usize) {
    dispatch(Softmax { x, stride, length });
}

struct Softmax<'a> {
    x: &'a mut [f32],
    stride: usize,
    length: usize,
}

impl Kernel for Softmax<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for row in self.x.chunks_exact_mut(self.stride) {
            let row = &mut row[..self.length];
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for x in row.iter_mut() {
                *x = exp::<FUSED>(*x - most);
            }
            let factor = 1.0 / sum(row, |x| x);
            row.iter_mut().for_each(|x| *x *= factor);
        }
    }
}

/// Adds `y`, whose rows lie `stride` apart, to `x`; then normalises each row to mean 0 and variance
/// 1, scales and shifts it.
pub(super) fn add_then_normalize(x: &mut [f32], y: &[f32], stride: usize, norm: &Norm) {
    dispatch(AddThenNormalize { x, y, stride, norm });
}

/// The parameters of a layer normalisation.
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) epsilon: f32,
}

struct AddThenNormalize<'a> {
    x: &'a mut [f32],
    y: &'a [f32],
    stride: usize,
    norm: &'a Norm,
}

impl Kernel for AddThenNormalize<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Norm {
            scale,
            shift,
            epsilon,
        } = self.norm;
        let width = scale.len();
        let rows = self.x.chunks_exact_mut(width);
        for (x, y) in rows.zip(self.y.chunks_exact(self.stride)) {
            x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
            let mean = sum(x, |v| v) / width as f32;
            let variance = sum(x, |v| (v - mean) * (v - mean)) / width as f32;
            let factor = 1.0 / (variance + epsilon).sqrt();
            for ((x, scale), shift) in x.iter_mut().zip(scale).zip(shift) {
                *x = (*x - mean) * factor * scale + shift;
            }
        }
    }
}

/// A sum in eight parts, which the compiler can add at once.
#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            sums[lane] += of(chunk[lane]);
        }
    }
    let rest: f32 = rest.iter().map(|x| of(*x)).sum();
    sums.iter().sum::<f32>() + rest
}

#[inline(always)]
fn polynomial<const FUSED: bool>(x: f32, coefficients: &[f32]) -> f32 {
    coefficients.iter().fold(0.0, |sum, c| {
        if FUSED {
            sum.mul_add(x, *c)
        } else {
            sum * x + c
        }
    })
}

/// The error function, as a quotient of polynomials fitted on [-4, 4].
#[inline(always)]
fn erf<const FUSED: bool>(x: f32) -> f32 {
    const ABOVE: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_5e-5,
        -7.349_906_5e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const BELOW: [f32; 5] = [
        -1.456_607_2e-5,
        -2.133_740_6e-4,
        -1.682_827e-3,
        -7.373_329e-3,
        -1.426_474e-2,
    ];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    x * polynomial::<FUSED>(square, &ABOVE) / polynomial::<FUSED>(square, &BELOW)
}

/// `e` to the power of `x`, which must not be above 0: two to a whole power, times the Taylor series
/// of the rest.
#[inline(always)]
fn exp<const FUSED: bool>(x: f32) -> f32 {
    const SERIES: [f32; 7] = [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    /// Added and taken off again, it leaves a whole number.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let whole = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    // ln 2 in two parts, so that the product is exact.
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let power = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    polynomial::<FUSED>(rest, &SERIES) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_exact_enough() {
        for i in 0..=8700 {
            let x = -(i as f32) / 100.0;
            let (found, exact) = (exp::<true>(x), f64::from(x).exp());
            let error = (f64::from(found) - exact).abs() / exact;
            assert!(error < 1e-6, "{x}: {found} {exact}");
            assert!((f64::from(exp::<false>(x)) - exact).abs() / exact < 1e-6);
        }
        assert!(exp::<true>(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn the_error_function_is_exact_enough() {
        // Its Taylor series, which converges everywhere.
        let series = |x: f64| {
            let (mut term, mut sum) = (x, x);
            for n in 1..200 {
                term *= -x * x / f64::from(n);
                sum += term / f64::from(2 * n + 1);
            }
            sum * std::f64::consts::FRAC_2_SQRT_PI
        };
        for i in -450..=450 {
            let x = i as f32 / 100.0;
            let exact = series(f64::from(x)) as f32;
            assert!((erf::<true>(x) - exact).abs() < 1e-6, "{x}");
            assert!((erf::<false>(x) - exact).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn a_softmax_sums_to_one() {
        let mut x = vec![1.0, 2.0, 3.0, 9.0, -100.0, 0.0, 100.0, 9.0];
        softmax(&mut x, 4, 3);
        assert!((x[0] + x[1] + x[2] - 1.0).abs() < 1e-6 && x[3] == 9.0);
        assert!((x[1] / x[0] - std::f32::consts::E).abs() < 1e-5);
        assert!((x[6] - 1.0).abs() < 1e-6 && x[4] >= 0.0);
    }
}
