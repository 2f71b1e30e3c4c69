//! Edits of a text, and of a message.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::edits(input));
