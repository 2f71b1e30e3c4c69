//! What differs between operating systems. Another system is one more file here.

#[cfg(unix)]
mod files;
#[cfg(unix)]
mod unix;

#[cfg(all(unix, feature = "ner"))]
pub(crate) use files::data_dir;
#[cfg(unix)]
pub(crate) use files::{cpu_nanoseconds, private_dir, private_file, state_dir};

#[cfg(unix)]
pub(crate) use unix::{Group, in_group_of_its_own, stdin, stdout, terminated, widen};
