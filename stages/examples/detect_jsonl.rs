//! Detection line by line:
//!
//! ```text
//! echo '{"id": 1, "text": "write to marie@example.eu"}' |
//!     cargo run --release -p cloak-stages --example detect_jsonl -- --locale all
//! ```

use std::io::{self, BufRead, Write};
use std::time::Instant;

use cloak_stages::detect::{Detectors, Settings, jsonl};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = Settings::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.next()) {
            ("--locale", Some(locale)) => settings.locale.push(locale),
            ("--phone-region", Some(region)) => settings.phone_regions.push(region),
            _ => return Err(format!("unknown option {argument}").into()),
        }
    }
    let detectors = Detectors::new(&settings)?;
    let start = Instant::now();
    let clock = || start.elapsed().as_nanos() as u64;
    let mut found = Vec::new();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        writeln!(
            out,
            "{}",
            jsonl::answer(&detectors, &line?, &mut found, clock)?
        )?;
    }
    Ok(out.flush()?)
}
