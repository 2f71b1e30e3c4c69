//! Lines of any bytes, however they arrive.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::frame(input));
