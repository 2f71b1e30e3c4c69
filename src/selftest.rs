//! Before it serves: does what is looked for get caught?

use std::collections::BTreeSet;

use cloak_stages::detect::{Context, Detectors};
use thiserror::Error;

use crate::config::Config;

/// A known value that would have reached the model.
#[derive(Debug, Error)]
#[error(
    "a known value of {} passes unprotected; nothing is served. Look at the patterns, the allow \
     list and min_confidence of \"detection\"",
    .0.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
)]
pub(crate) struct SelfTestError(BTreeSet<String>);

/// Sends a known value of each category that is looked for, through what protects messages, and
/// tells how many there were.
///
/// # Errors
///
/// Which categories' values came through.
pub(crate) fn run(_config: &Config, detectors: &Detectors) -> Result<usize, SelfTestError> {
    let mut found = Vec::new();
    let mut survivors = BTreeSet::new();
    let probes = detectors.probes();
    for probe in &probes {
        detectors.find(&probe.text, Context::default(), &mut found);
        let caught = found
            .iter()
            .any(|f| probe.text[f.start..f.end].contains(&probe.value));
        if !caught {
            survivors.insert(detectors.name(probe.category).to_owned());
        }
    }
    if survivors.is_empty() {
        Ok(probes.len())
    } else {
        Err(SelfTestError(survivors))
    }
}
