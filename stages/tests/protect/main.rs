//! The protection as a whole, from bytes to bytes.

mod gate;
mod leaks;
mod policy;
mod roundtrip;
mod surfaces;
mod vouched;
