//! What is found in any text, in one go and in shards.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::detect(input));
