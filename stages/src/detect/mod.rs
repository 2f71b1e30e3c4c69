//! Recognizers of national identifiers and of secrets.

pub(crate) mod national;
pub(crate) mod secret;
