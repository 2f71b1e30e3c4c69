//! Speed of the detection on a file, in MB/s of one thread and of all:
//!
//! ```text
//! cargo run --release -p cloak-stages --example detect_speed -- FILE [PIECE_BYTES]
//! ```

use std::time::{Duration, Instant};

use cloak_stages::detect::{Context, Detectors, Settings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    let piece = arguments
        .next()
        .map_or(Ok(text.len()), |size| size.parse())?;
    let pieces: Vec<&str> = cut(&text, piece).collect();
    let detectors = Detectors::new(&Settings::default())?;
    let mut found = Vec::new();
    for (name, sharded) in [("one thread", false), ("all threads", true)] {
        let (mut best, mut count) = (Duration::MAX, 0);
        for _ in 0..5 {
            count = 0;
            let start = Instant::now();
            for text in &pieces {
                match sharded {
                    true => detectors.find_sharded(text, Context::default(), &mut found),
                    false => detectors.find(text, Context::default(), &mut found),
                }
                count += found.len();
            }
            best = best.min(start.elapsed());
        }
        let speed = text.len() as f64 / best.as_secs_f64() / 1e6;
        eprintln!(
            "{name}: {speed:.0} MB/s, {count} findings in {} bytes",
            text.len()
        );
    }
    Ok(())
}

/// Pieces of about `size` bytes, on character boundaries.
fn cut(mut text: &str, size: usize) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = (size.max(1)..text.len()).find(|&i| text.is_char_boundary(i));
        let (piece, rest) = text.split_at(end.unwrap_or(text.len()));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}
