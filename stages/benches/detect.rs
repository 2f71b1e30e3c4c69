//! Speed of the detection by kind of text and by size, on one thread unless said otherwise:
//! `cargo bench -p cloak-stages --bench detect`.

use cloak_stages::detect::{Context, Detectors, Settings};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

mod texts;

fn main() {
    divan::main();
}

const SIZES: &[usize] = &[500, 5_000, 50_000, 500_000, 5_000_000];

fn detectors() -> Detectors {
    Detectors::new(&Settings::default()).unwrap()
}

#[divan::bench(args = texts::KINDS, consts = SIZES, min_time = 0.1)]
fn find<const SIZE: usize>(bencher: Bencher<'_, '_>, kind: &texts::Kind) {
    let text = kind.text(SIZE);
    let detectors = detectors();
    let mut found = Vec::new();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| detectors.find(black_box(&text), Context::default(), &mut found));
}

#[divan::bench(args = texts::KINDS, consts = [100_000, 5_000_000], min_time = 0.1)]
fn find_sharded<const SIZE: usize>(bencher: Bencher<'_, '_>, kind: &texts::Kind) {
    let text = kind.text(SIZE);
    let detectors = detectors();
    let mut found = Vec::new();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| detectors.find_sharded(black_box(&text), Context::default(), &mut found));
}

#[divan::bench(args = texts::HARD, consts = [10_000, 1_000_000], min_time = 0.05)]
fn hard<const SIZE: usize>(bencher: Bencher<'_, '_>, hard: &texts::Hard) {
    let text = hard.1.repeat(SIZE / hard.1.len() + 1);
    let detectors = detectors();
    let mut found = Vec::new();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| detectors.find(black_box(&text), Context::default(), &mut found));
}

#[divan::bench]
fn start() -> Detectors {
    detectors()
}

/// The fastest detector of this kind besides ours, on the same texts.
#[divan::bench(args = texts::KINDS, consts = [50_000], min_time = 0.1)]
fn datafog<const SIZE: usize>(bencher: Bencher<'_, '_>, kind: &texts::Kind) {
    let text = kind.text(SIZE);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| datafog_core::scan(black_box(&text)));
}
