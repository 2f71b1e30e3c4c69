//! Spans over JSON beside a common parser.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::json(input));
