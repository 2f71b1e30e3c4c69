//! Any text as a configuration.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| cloak_checks::config(input));
