//! Reads lines `{"id", "text"}` and writes lines `{"id", "spans": [{"start", "end", "label",
//! "score"}], "ns"}`. Offsets count code points; `ns` is the time that finding took.
//!
//! ```text
//! cargo run --release -p cloak-names --example detect -- [--model FOLDER] [--plain] [LABEL...] <texts.jsonl
//! ```

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use cloak_names::{Label, Names};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut names = Names::builtin()?;
    let (mut plain, mut sharded, mut labels) = (false, false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--plain" => plain = true,
            "--sharded" => sharded = true,
            "--model" => {
                names = Names::open(Path::new(
                    &arguments.next().ok_or("--model needs a folder")?,
                ))?;
            }
            label => labels.push(label.parse::<Label>()?),
        }
    }
    if labels.is_empty() {
        labels = names.labels();
    }
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let text = row["text"].as_str().ok_or("a line has no \"text\"")?;
        let start = Instant::now();
        let mut found = Vec::new();
        match (plain, sharded) {
            (true, _) => names.find_plain(text, &mut found),
            (_, true) => names.find_sharded(text, &labels, &mut found),
            _ => names.find(text, &labels, &mut found),
        }
        let ns = start.elapsed().as_nanos() as u64;
        let (mut byte, mut points) = (0, 0);
        let mut to_points = |to: usize| {
            points += text[byte..to].chars().count();
            byte = to;
            points
        };
        let spans: Vec<_> = found
            .iter()
            .map(|name| {
                let (start, end) = (to_points(name.start), to_points(name.end));
                json!({"start": start, "end": end, "label": name.label.as_str(), "score": name.score})
            })
            .collect();
        writeln!(
            out,
            "{}",
            json!({"id": row["id"], "spans": spans, "ns": ns})
        )?;
    }
    Ok(())
}
