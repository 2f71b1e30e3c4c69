//! Values in disguise.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::views(input));
