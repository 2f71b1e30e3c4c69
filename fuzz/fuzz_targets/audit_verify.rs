//! The verifier reads any bytes, and any note, without a panic; what it calls intact chains up.

#![no_main]

use cloak_stages::audit::{MAX_LINE_BYTES, Verifier, read_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &str, &[u8])| {
    let (log, note, tile) = input;
    let mut verifier = Verifier::new(&[], |_: &str| Some(tile.to_vec()));
    verifier.expect("checkpoint", note, true);
    verifier.read("audit_2026-12-01.jsonl", log).expect("memory can be read");
    let report = verifier.finish();
    if report.is_intact() {
        assert!(report.entries as usize <= log.split(|byte| *byte == b'\n').count());
    }
    for line in log.split(|byte| *byte == b'\n') {
        assert!(read_line(line).is_err() || line.len() <= MAX_LINE_BYTES);
    }
});
