//! Writes what the head is trained on. Reads lines `{"text"}`; for each writes, little-endian, the
//! number of tokens (u32), the first and last byte of each (u32, u32) and their vectors (f16).
//!
//! ```text
//! cargo run --release -p cloak-names --example vectors <lines.jsonl >vectors.bin
//! ```

use std::error::Error;
use std::io::{BufRead, BufWriter, Write};

use cloak_names::Names;
use half::f16;

fn main() -> Result<(), Box<dyn Error>> {
    let names = Names::builtin()?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: serde_json::Value = serde_json::from_str(&line?)?;
        let (tokens, vectors) = names
            .vectors(row["text"].as_str().ok_or("a line has no \"text\"")?)
            .ok_or("the model has no head")?;
        out.write_all(&u32::try_from(tokens.len())?.to_le_bytes())?;
        for token in tokens {
            out.write_all(&u32::try_from(token.start)?.to_le_bytes())?;
            out.write_all(&u32::try_from(token.end)?.to_le_bytes())?;
        }
        for x in vectors {
            out.write_all(&f16::from_f32(x).to_le_bytes())?;
        }
    }
    Ok(())
}
