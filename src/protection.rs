//! The protection the configuration asks for, ready to be put between the pipes.

use std::sync::Arc;

use cloak_stages::detect::{Context, Detectors};
use cloak_stages::note::{Note, Observer, Silent};
use cloak_stages::offload::{INLINE, Work};
use cloak_stages::protect::{Mode, Policy, Protect};
use cloak_stages::tripwire::Tripwire;
use cloak_stages::vault::{InMemory, Numbers, Vault};

use crate::config::{Config, ConfigError, Trust, Upstream};
use crate::names::Recognition;
use crate::recording::Ears;
use crate::upstream::Clean;

/// What looks into the messages of a session.
pub struct Protection {
    /// The rules, and the model that finds names.
    detectors: Arc<Detectors>,
    /// The rules alone, for the second look.
    rules: Arc<Detectors>,
    vault: Vault,
    mode: Mode,
    observer: Arc<dyn Observer>,
    /// The longest text that is looked through, in characters; 0 is no limit.
    longest: usize,
    names: Recognition,
}

impl Protection {
    /// As `config` says, with tokens numbered by `numbers`.
    ///
    /// # Errors
    ///
    /// When a setting of the detection cannot be used.
    pub fn new(config: &Config, numbers: Box<dyn Numbers>) -> Result<Self, ConfigError> {
        let rules = Arc::new(config.detection.detectors()?);
        let names = Recognition::new(&config.detection)?;
        let detectors = match &names.recognizer {
            Some(_) => Arc::new(names.beside(config.detection.detectors()?)),
            None => Arc::clone(&rules),
        };
        let vault = Vault::new(&detectors, Arc::<dyn Numbers>::from(numbers));
        Ok(Self {
            detectors,
            rules,
            vault,
            mode: config.detection.mode,
            observer: Arc::new(Ears(Log)),
            longest: config.detection.max_input_length,
            names,
        })
    }

    /// The same with an empty vault and numbers of its own: what is done with it leaves no trace,
    /// in the log neither.
    #[must_use]
    pub fn rehearsal(&self) -> Self {
        Self {
            detectors: Arc::clone(&self.detectors),
            rules: Arc::clone(&self.rules),
            vault: Vault::new(&self.detectors, InMemory::default()),
            mode: self.mode,
            observer: Arc::new(Silent),
            longest: self.longest,
            names: self.names.clone(),
        }
    }

    /// Below how many bytes a message is worked on at once, not on the pool: the model takes about
    /// a hundred times as long for a text as the rules.
    #[must_use]
    pub fn inline_below(&self) -> usize {
        if Arc::ptr_eq(&self.detectors, &self.rules) {
            INLINE
        } else {
            INLINE / 64
        }
    }

    /// How names are looked for.
    pub(crate) fn names(&self) -> &Recognition {
        &self.names
    }

    /// What is looked for.
    #[must_use]
    pub fn detectors(&self) -> &Detectors {
        &self.detectors
    }

    /// The work on the messages to and from `upstream`, which stands at place `index`.
    #[must_use]
    pub fn work(&self, index: u16, upstream: &Upstream) -> Arc<dyn Work> {
        let [protect, tripwire] = self.stages(index, upstream);
        Arc::new((protect, tripwire))
    }

    /// The two halves of that work: the protection, and behind it the tripwire.
    pub(crate) fn stages(&self, index: u16, upstream: &Upstream) -> [Arc<dyn Work>; 2] {
        let policy = Policy {
            upstream: index,
            name: upstream.name.clone(),
            scope: upstream.token_scope,
            third_party: upstream.trust == Trust::ThirdParty,
            fresh_values: upstream.fresh_values,
            mode: self.mode,
        };
        let tripwire = Tripwire::new(
            Arc::clone(&self.rules),
            self.vault.clone(),
            &policy,
            Arc::clone(&self.observer),
        );
        let protect = Protect::new(
            Arc::clone(&self.detectors),
            self.vault.clone(),
            policy,
            Arc::clone(&self.observer),
        )
        .longest_text(self.longest);
        [Arc::new(protect), Arc::new(tripwire)]
    }

    /// Takes personal data out of text that is shown to people, such as a server's error output.
    #[must_use]
    pub fn clean(&self) -> Clean {
        let detectors = Arc::clone(&self.detectors);
        Arc::new(move |text| {
            let mut found = Vec::new();
            detectors.find(text, Context::default(), &mut found);
            let mut clean = String::with_capacity(text.len());
            let mut done = 0;
            for finding in found {
                clean.push_str(&text[done..finding.start]);
                clean.push_str(&format!("[{}]", detectors.name(finding.category)));
                done = finding.end;
            }
            clean + &text[done..]
        })
    }
}

/// Says in the log what the protection does. No note holds a value.
struct Log;

impl Observer for Log {
    fn note(&self, upstream: &str, method: &str, note: &Note<'_>) {
        match note {
            Note::Sanitized(found) => {
                let found = counts(found);
                tracing::info!(upstream, method, found, "protected");
            }
            Note::Restored(found) => {
                let found = counts(found);
                tracing::debug!(upstream, method, found, "restored");
            }
            Note::Muted(count) => {
                tracing::warn!(
                    upstream,
                    method,
                    count,
                    "text that looked like tokens was muted"
                );
            }
            Note::Binary(count) => tracing::debug!(upstream, method, count, "binary data passed"),
            Note::CrossUpstream { tokens, refused } => {
                let tokens = tokens.join(" ");
                tracing::warn!(
                    upstream,
                    method,
                    tokens,
                    refused,
                    "tokens of another server"
                );
            }
            Note::FreshValues { found, refused } => {
                let found = counts(found);
                tracing::warn!(
                    upstream,
                    method,
                    found,
                    refused,
                    "the model wrote personal data of its own for a third party",
                );
            }
            Note::StaleTokens(tokens) => {
                let tokens = tokens.join(" ");
                tracing::warn!(
                    upstream,
                    method,
                    tokens,
                    "refused tokens of another session"
                );
            }
            Note::SchemaRelaxed { tool, keywords } => tracing::info!(
                upstream,
                tool,
                keywords,
                "constraints that a token would violate were taken out of the outputSchema",
            ),
            Note::UnknownMethod => tracing::warn!(upstream, method, "unknown, turned away"),
            Note::Failed(why) => tracing::error!(upstream, method, why, "kept a message back"),
            Note::Looked { .. } | Note::Tripped { first: false, .. } => {}
            Note::Tripped {
                category,
                place,
                count,
                ..
            } => tracing::warn!(
                upstream,
                method,
                category,
                ?place,
                count,
                "the tripwire caught what got past everything else",
            ),
            Note::TripwireFailed(why) => {
                tracing::error!(
                    upstream,
                    method,
                    why,
                    "the tripwire failed; the message passed"
                );
            }
            _ => tracing::info!(upstream, method, "something was done"),
        }
    }
}

/// `EMAIL 3, PHONE 1`
fn counts(found: &[(&str, usize)]) -> String {
    let one = |(category, count): &(&str, usize)| format!("{category} {count}");
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}
