//! The program as a whole, between a client and servers that do whatever a test wants.

mod support;

mod audit;
mod batches;
mod chaos;
mod leaks;
mod limits;
mod lists;
mod processes;
mod protection;
mod questions;
mod router;
mod transparent;
