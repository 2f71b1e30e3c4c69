//! Secrets: what opens something for whoever holds it.
//!
//! A secret is known by its *form* (the prefix and alphabet its issuer gave it, a token that
//! decodes, an armoured block), or by its *place* (what stands behind `password =`, in the middle
//! of `scheme://user:…@host`, beside an issuer's name) together with its *texture*: passwords and
//! keys are neither words nor placeholders nor expressions of a program. A hash, a UUID, a commit
//! or an integrity string is none of it.
//!
//! Except for [`blocks`], which looks at a whole document, a verdict reads at most [`REACH_LEFT`]
//! bytes before and [`REACH_RIGHT`] bytes after the place it is asked about.

mod assignment;
mod behind;
mod blocks;
mod charset;
mod checks;
mod formats;
mod generic;
mod issuers;
mod jwt;
mod keywords;
mod name;
mod pattern;
mod texture;
mod url;
mod verdict;

pub(crate) use assignment::{assignment, miss, option};
pub(crate) use blocks::blocks;
pub(crate) use url::url_credentials;

/// Bytes before the place asked about that a verdict may read.
pub(crate) const REACH_LEFT: usize = 160;
/// Bytes after the place asked about that a verdict may read.
pub(crate) const REACH_RIGHT: usize = jwt::LONGEST + 64;

/// The categories that are reported.
pub(crate) const NAMES: &[&str] = &[
    "API_KEY",
    "AWS_KEY",
    "JWT",
    "PASSWORD",
    "PRIVATE_KEY",
    "SECRET",
];

/// A secret in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Its first byte, which may lie before the place asked about.
    pub(crate) start: usize,
    /// The byte after its last one.
    pub(crate) end: usize,
    /// The category, such as `API_KEY`.
    pub(crate) name: &'static str,
    /// 0 to 100.
    pub(crate) confidence: u8,
    /// The rule that found it, such as `github.pat`.
    pub(crate) rule: &'static str,
}

/// The secret that stands in, begins at or ends with the run of `[A-Za-z0-9_-]` from `start` to
/// `run_end`, where a word begins.
pub(crate) fn at(text: &[u8], start: usize, run_end: usize) -> Option<Hit> {
    formats::at(text, start)
        .or_else(|| jwt::at(text, start, run_end))
        .or_else(|| behind::at(text, start, run_end))
        .or_else(|| issuers::at(text, start, run_end))
        .or_else(|| generic::at(text, start, run_end))
}

#[cfg(test)]
mod tests;
