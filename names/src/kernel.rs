//! Dense layers, and the one place where arithmetic is fast.
//!
//! Every output is the sum of its products in the order of the inputs, whatever rows are computed
//! beside it: a row's result never depends on the batch it is in. General matrix libraries do not
//! promise that, because they choose another algorithm for another shape.

/// Outputs computed together: one 256-bit register.
const LANES: usize = 8;

/// A layer `y = max over pieces (W·x + b)`; with one piece, an ordinary linear layer.
#[derive(Debug)]
pub(crate) struct Dense {
    inputs: usize,
    outputs: usize,
    pieces: usize,
    /// Pieces are outputs of their own: none is the greatest.
    all: bool,
    /// For each group of eight outputs: for each input, for each piece, eight weights.
    weights: Vec<[f32; LANES]>,
    /// For each group of eight outputs, for each piece, eight biases.
    biases: Vec<[f32; LANES]>,
}

/// Outputs of a wide layer that are computed together.
const WIDE: usize = 3 * LANES;

impl Dense {
    /// `weight` is `[outputs * pieces][inputs]`, a row's index being `output * pieces + piece`.
    pub(crate) fn new(inputs: usize, pieces: usize, weight: &[f32], bias: &[f32]) -> Self {
        assert!((1..=3).contains(&pieces) && weight.len() == bias.len() * inputs);
        let outputs = bias.len() / pieces;
        let groups = outputs.div_ceil(LANES);
        let mut weights = vec![[0.0; LANES]; groups * inputs * pieces];
        let mut biases = vec![[0.0; LANES]; groups * pieces];
        for row in 0..bias.len() {
            let (output, piece) = (row / pieces, row % pieces);
            let (group, lane) = (output / LANES, output % LANES);
            biases[group * pieces + piece][lane] = bias[row];
            for input in 0..inputs {
                weights[(group * inputs + input) * pieces + piece][lane] =
                    weight[row * inputs + input];
            }
        }
        Self {
            inputs,
            outputs,
            pieces,
            all: false,
            weights,
            biases,
        }
    }

    /// A linear layer of many outputs, which takes a third of the time that [`new`](Self::new)'s
    /// with one piece would.
    pub(crate) fn wide(
        inputs: usize,
        outputs: usize,
        weight: impl Fn(usize, usize) -> f32,
        bias: impl Fn(usize) -> f32,
    ) -> Self {
        let groups = outputs.div_ceil(WIDE);
        let mut weights = vec![[0.0; LANES]; groups * inputs * 3];
        let mut biases = vec![[0.0; LANES]; groups * 3];
        for output in 0..outputs {
            let (group, piece, lane) = (output / WIDE, output % WIDE / LANES, output % LANES);
            biases[group * 3 + piece][lane] = bias(output);
            let group = &mut weights[group * inputs * 3..][..inputs * 3];
            for (input, column) in group.chunks_exact_mut(3).enumerate() {
                column[piece][lane] = weight(output, input);
            }
        }
        Self {
            inputs,
            outputs,
            pieces: 3,
            all: true,
            weights,
            biases,
        }
    }

    /// Floats from one row of results to the next: `outputs` rounded up to a multiple of eight, or
    /// of 24 in a wide layer.
    pub(crate) fn stride(&self) -> usize {
        let together = if self.all { WIDE } else { LANES };
        self.outputs.next_multiple_of(together)
    }

    /// Computes `rows` rows. Row `r` reads `x[r * step ..][.. inputs]`, so rows may overlap, and is
    /// written to `y[r * self.stride() ..]`.
    ///
    /// # Panics
    ///
    /// If `x` or `y` is too short for so many rows.
    pub(crate) fn apply(&self, x: &[f32], step: usize, rows: usize, y: &mut [f32]) {
        assert!(rows == 0 || x.len() >= (rows - 1) * step + self.inputs);
        assert!(y.len() >= rows * self.stride());
        dispatch(Apply {
            layer: self,
            x,
            step,
            rows,
            y,
        });
    }
}

/// Work for the widest instructions that the processor has.
pub(crate) trait Kernel {
    /// `FUSED`: the processor multiplies and adds in one instruction; else `mul_add` would be a
    /// call.
    fn run<const FUSED: bool>(self);
}

pub(crate) fn dispatch(kernel: impl Kernel) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        #[expect(
            unsafe_code,
            reason = "several times faster than the baseline instruction set"
        )]
        // SAFETY: the processor has just been asked for both features.
        unsafe {
            run_avx2(kernel);
        }
        return;
    }
    kernel.run::<{ cfg!(target_arch = "aarch64") }>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(kernel: impl Kernel) {
    kernel.run::<true>();
}

struct Apply<'a> {
    layer: &'a Dense,
    x: &'a [f32],
    step: usize,
    rows: usize,
    y: &'a mut [f32],
}

impl Kernel for Apply<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Apply {
            layer,
            x,
            step,
            rows,
            y,
        } = self;
        match layer.pieces {
            1 => apply_tiles::<1, false, FUSED>(layer, x, step, rows, y),
            2 => apply_tiles::<2, false, FUSED>(layer, x, step, rows, y),
            _ if layer.all => apply_tiles::<3, true, FUSED>(layer, x, step, rows, y),
            _ => apply_tiles::<3, false, FUSED>(layer, x, step, rows, y),
        }
    }
}

/// Rows computed together: with three pieces nine sums, three weights and one input,
/// which leaves the compiler a few of the sixteen vector registers. Four rows were half as fast.
const ROWS: usize = 3;

#[inline(always)]
fn apply_tiles<const P: usize, const ALL: bool, const FUSED: bool>(
    d: &Dense,
    x: &[f32],
    step: usize,
    rows: usize,
    y: &mut [f32],
) {
    let stride = d.stride();
    let (all_weights, _) = d.weights.as_chunks::<P>();
    let (biases, _) = d.biases.as_chunks::<P>();
    for (group, bias) in biases.iter().enumerate() {
        let weights = &all_weights[group * d.inputs..][..d.inputs];
        let mut write = |row: usize, sums: [[f32; LANES]; P]| {
            let y = &mut y[row * stride..];
            if ALL {
                y[group * P * LANES..][..P * LANES].copy_from_slice(sums.as_flattened());
            } else {
                y[group * LANES..][..LANES].copy_from_slice(&max(sums));
            }
        };
        let mut row = 0;
        while row + ROWS <= rows {
            let input = |r: usize| &x[(row + r) * step..][..d.inputs];
            let inputs = [input(0), input(1), input(2)];
            let sums = tile::<P, FUSED>(weights, bias, inputs);
            for (r, sums) in sums.into_iter().enumerate() {
                write(row + r, sums);
            }
            row += ROWS;
        }
        while row < rows {
            let mut sums = *bias;
            for (weight, x) in weights.iter().zip(&x[row * step..]) {
                multiply_add::<P, FUSED>(&mut sums, *x, weight);
            }
            write(row, sums);
            row += 1;
        }
    }
}

/// Eight outputs of three rows. Spelt out row by row, because the compiler keeps the sums in
/// registers only when nothing indexes them.
#[inline(always)]
fn tile<const P: usize, const FUSED: bool>(
    weights: &[[[f32; LANES]; P]],
    bias: &[[f32; LANES]; P],
    [x0, x1, x2]: [&[f32]; ROWS],
) -> [[[f32; LANES]; P]; ROWS] {
    let [mut s0, mut s1, mut s2] = [*bias; ROWS];
    for (((weight, x0), x1), x2) in weights.iter().zip(x0).zip(x1).zip(x2) {
        multiply_add::<P, FUSED>(&mut s0, *x0, weight);
        multiply_add::<P, FUSED>(&mut s1, *x1, weight);
        multiply_add::<P, FUSED>(&mut s2, *x2, weight);
    }
    [s0, s1, s2]
}

#[inline(always)]
fn multiply_add<const P: usize, const FUSED: bool>(
    sums: &mut [[f32; LANES]; P],
    x: f32,
    weight: &[[f32; LANES]; P],
) {
    for p in 0..P {
        for lane in 0..LANES {
            let sum = &mut sums[p][lane];
            *sum = if FUSED {
                x.mul_add(weight[p][lane], *sum)
            } else {
                x * weight[p][lane] + *sum
            };
        }
    }
}

#[inline(always)]
fn max<const P: usize>(pieces: [[f32; LANES]; P]) -> [f32; LANES] {
    let mut best = pieces[0];
    for piece in &pieces[1..] {
        for lane in 0..LANES {
            best[lane] = if piece[lane] > best[lane] {
                piece[lane]
            } else {
                best[lane]
            };
        }
    }
    best
}

/// Adds the parts up and keeps, of the pieces of `out`'s length that a part has one after another,
/// the greatest sum.
pub(crate) fn max_of_sums(parts: [&[f32]; 3], out: &mut [f32]) {
    assert!(parts.iter().all(|part| part.len() == parts[0].len()));
    assert!(!out.is_empty() && parts[0].len().is_multiple_of(out.len()));
    dispatch(MaxOfSums { parts, out });
}

struct MaxOfSums<'a> {
    parts: [&'a [f32]; 3],
    out: &'a mut [f32],
}

impl Kernel for MaxOfSums<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let width = self.out.len();
        let [a, b, c] = self.parts.map(|part| part.chunks_exact(width));
        self.out.fill(f32::NEG_INFINITY);
        for ((a, b), c) in a.zip(b).zip(c) {
            for (((best, a), b), c) in self.out.iter_mut().zip(a).zip(b).zip(c) {
                let sum = a + b + c;
                *best = if sum > *best { sum } else { *best };
            }
        }
    }
}

/// Adds to each row of `x` the same row of `y`, normalised to mean 0 and variance 1, then scaled
/// and shifted.
pub(crate) fn add_normalized(x: &mut [f32], y: &[f32], scale: &[f32], shift: &[f32]) {
    assert!(scale.len() == shift.len() && scale.len().is_multiple_of(LANES));
    assert_eq!(x.len(), y.len());
    dispatch(AddNormalized { x, y, scale, shift });
}

struct AddNormalized<'a> {
    x: &'a mut [f32],
    y: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
}

impl Kernel for AddNormalized<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        const EPSILON: f32 = 1e-8;
        let width = self.scale.len();
        for (x, y) in self
            .x
            .chunks_exact_mut(width)
            .zip(self.y.chunks_exact(width))
        {
            let mean = sum(y, |v| v) / width as f32;
            let variance = sum(y, |v| (v - mean) * (v - mean)) / width as f32 + EPSILON;
            let factor = 1.0 / variance.sqrt();
            for (((x, y), scale), shift) in x.iter_mut().zip(y).zip(self.scale).zip(self.shift) {
                *x += (y - mean) * factor * scale + shift;
            }
        }
    }
}

#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    let (chunks, _) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += of(chunk[lane]);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern, the same each time.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn naive(weight: &[f32], bias: &[f32], pieces: usize, x: &[f32]) -> Vec<f32> {
        let dot = |row: usize| -> f32 {
            let weights = &weight[row * x.len()..][..x.len()];
            weights.iter().zip(x).map(|(w, x)| w * x).sum::<f32>() + bias[row]
        };
        let outputs = bias.len() / pieces;
        (0..outputs)
            .map(|o| {
                (0..pieces)
                    .map(|p| dot(o * pieces + p))
                    .fold(f32::MIN, f32::max)
            })
            .collect()
    }

    #[test]
    fn dense_layers_are_what_they_should_be() {
        let layers = [
            (5, 3, 1),
            (6, 9, 2),
            (7, 16, 3),
            (96, 64, 1),
            (64, 74, 1),
            (64, 64, 2),
            (288, 96, 3),
        ];
        // An interpreter takes minutes for the large ones.
        let few = if cfg!(miri) { 3 } else { layers.len() };
        for (inputs, outputs, pieces) in layers.into_iter().take(few) {
            let weight = numbers(outputs * pieces * inputs, 1);
            let bias = numbers(outputs * pieces, 2);
            let layer = Dense::new(inputs, pieces, &weight, &bias);
            let (rows, step) = (7, inputs.div_ceil(3));
            let x = numbers((rows - 1) * step + inputs, 3);
            let mut y = vec![0.0; rows * layer.stride()];
            layer.apply(&x, step, rows, &mut y);
            for row in 0..rows {
                let expected = naive(&weight, &bias, pieces, &x[row * step..][..inputs]);
                for (found, expected) in y[row * layer.stride()..].iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-4, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn wide_layers_are_the_same() {
        for (inputs, outputs) in [(5, 3), (32, 25), (384, 48)] {
            let (weight, bias) = (numbers(outputs * inputs, 1), numbers(outputs, 2));
            let narrow = Dense::new(inputs, 1, &weight, &bias);
            let wide = Dense::wide(inputs, outputs, |o, i| weight[o * inputs + i], |o| bias[o]);
            let x = numbers(7 * inputs, 3);
            let mut expected = vec![0.0; 7 * narrow.stride()];
            let mut found = vec![0.0; 7 * wide.stride()];
            narrow.apply(&x, inputs, 7, &mut expected);
            wide.apply(&x, inputs, 7, &mut found);
            for row in 0..7 {
                assert_eq!(
                    expected[row * narrow.stride()..][..outputs],
                    found[row * wide.stride()..][..outputs]
                );
            }
        }
    }

    /// To the last bit: else the batch that a window is in could change its verdict.
    #[test]
    #[cfg_attr(miri, ignore = "too many sums for an interpreter")]
    fn a_row_does_not_depend_on_those_beside_it() {
        let layer = Dense::new(288, 3, &numbers(288 * 288, 4), &numbers(288, 5));
        let x = numbers(20 * 96 + 288, 6);
        let mut all = vec![0.0; 20 * 96];
        layer.apply(&x, 96, 20, &mut all);
        for rows in 1..7 {
            for first in 0..20 - rows {
                let mut some = vec![0.0; rows * 96];
                layer.apply(&x[first * 96..], 96, rows, &mut some);
                assert_eq!(some, all[first * 96..][..rows * 96]);
            }
        }
    }

    #[test]
    fn normalised_rows_have_mean_0_and_variance_1() {
        let (mut x, y) = (vec![0.0; 96], numbers(96, 7));
        add_normalized(&mut x, &y, &[1.0; 96], &[0.0; 96]);
        let mean = x.iter().sum::<f32>() / 96.0;
        let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / 96.0;
        assert!(mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-4);
    }
}
