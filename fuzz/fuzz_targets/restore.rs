//! Through the protection to the model, and back.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::restore(input));
