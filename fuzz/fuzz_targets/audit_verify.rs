//! The verifier reads any bytes, and any note, without a panic; what it calls intact chains up.
//!
//! An input is a day of a log, a checkpoint and a tile, with a byte 1 on a line of its own between
//! them.

#![no_main]

use cloak_stages::audit::{Digest, MAX_LINE_BYTES, Proof, Verifier, read_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(3, |byte| *byte == 1);
    let mut part = || parts.next().unwrap_or_default();
    let (log, note, tile) = (part(), String::from_utf8_lossy(part()), part());

    let mut verifier = Verifier::new(&[], |_: &str| Some(tile.to_vec()));
    verifier.expect("checkpoint", &note, true);
    verifier.read("audit_2026-12-01.jsonl", log).expect("memory can be read");
    let report = verifier.finish();

    let (mut entries, mut head) = (0, Digest::GENESIS);
    for text in log.split(|byte| *byte == b'\n') {
        let Ok(line) = read_line(text) else { continue };
        assert!(text.len() <= MAX_LINE_BYTES);
        entries += 1;
        if report.is_intact() {
            assert_eq!(line.hash, line.stated);
            let first = entries == 1 && line.entry.seq > 0;
            assert!(first || line.entry.prev_hash == head.to_string());
        }
        head = line.hash;
    }
    assert_eq!(report.entries, entries);

    if let Ok(proof) = serde_json::from_slice::<Proof>(log) {
        // Nobody is trusted, so nothing is proven.
        assert!(proof.check(&[]).is_err());
    }
});
