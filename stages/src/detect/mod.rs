//! Recognizers of national identifiers and of secrets.

#[allow(dead_code, reason = "the engine calls it")]
pub(crate) mod national;
#[allow(dead_code, unused_imports, reason = "the engine calls it")]
pub(crate) mod secret;
