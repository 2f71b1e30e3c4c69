//! Reads lines `{"id", "text"}` and writes lines `{"id", "spans": [{"start", "end", "label", "score"}], "ns"}`;
//! offsets count code points.
//!
//! ```text
//! cargo run --release -p cloak-names --example detect -- --labels PERSON <texts.jsonl
//! ```
use std::io::{BufRead, Write};
use cloak_names::{Label, Names};

fn main() {
    let plain = std::env::args().any(|a| a == "--plain");
    let names = Names::builtin().unwrap();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let row: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = row["text"].as_str().unwrap();
        let t = std::time::Instant::now();
        let mut found = Vec::new();
        names.find_plain(text, &mut found);
        let ns = t.elapsed().as_nanos() as u64;
        let mut at = 0; let mut chars = 0;
        let mut point = |byte: usize| { chars += text[at..byte].chars().count(); at = byte; chars };
        let spans: Vec<_> = found.iter().map(|n| serde_json::json!({"start": point(n.start), "end": point(n.end), "label": n.label.as_str(), "score": n.score})).collect();
        writeln!(out, "{}", serde_json::json!({"id": row["id"], "spans": spans, "ns": ns})).unwrap();
    }
}
