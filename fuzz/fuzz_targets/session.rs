//! A whole gateway between a client and servers that say anything.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::session(input));
