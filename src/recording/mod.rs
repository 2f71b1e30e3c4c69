//! What the gateway does, told to the audit log.
//!
//! ```text
//! client ⇄ Desk ⇄ router ⇄ Recorded( protection ) ⇄ server
//! ```
//!
//! [`Recorded`] tells of each message to and from a server, and of each thing about it that somebody
//! should know. [`Desk`] tells of what is refused before it gets that far. [`Record`] tells of the
//! session as a whole.

mod desk;
mod messages;
mod names;
mod notes;
mod servers;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cloak_stages::audit::{Digest, Entry, Event, Name, Session};
use cloak_stages::detect::Detectors;

use crate::audit::{CloseError, Handle, KeyFile, Log, Options};
use crate::config::{AuditConfig, Config};
use crate::names::model_files;

pub(crate) use desk::Desk;
pub(crate) use messages::Recorded;
pub(crate) use notes::Ears;
pub(crate) use servers::Starts;

/// The audit log of one session.
pub(crate) struct Record {
    log: Log,
    handle: Handle,
}

impl Record {
    /// Opens the log that is configured.
    ///
    /// # Errors
    ///
    /// When the log or the key cannot be used.
    pub(crate) fn open(config: &AuditConfig) -> anyhow::Result<Self> {
        let options = Options {
            fsync: config.fsync,
            required: config.required,
            retention_days: config.retention_days,
            key: config.key.as_deref().map(KeyFile::load).transpose()?,
            warnings: Arc::new(|warning| tracing::warn!("audit: {warning}")),
            ..Options::default()
        };
        let (log, handle) = Log::open(&config.dir, options)?;
        let mut session = [0; 16];
        getrandom::fill(&mut session)?;
        let handle = handle.for_session(Session(u128::from_be_bytes(session)));
        Ok(Self { log, handle })
    }

    /// The way into the log for this session.
    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Tells of a session that starts: how it is configured, and what it looks for, if it protects
    /// anything.
    pub(crate) fn started(&self, config: &Config, detectors: Option<&Detectors>) {
        let mut entry = Entry::new(Event::SessionStart).fact(
            Name::literal("settings"),
            Digest::of(format!("{config:?}").as_bytes()),
        );
        if let Some(digest) = config.source.as_deref().and_then(digest_of) {
            entry = entry.fact(Name::literal("config"), digest);
        }
        if let Some(version) = Name::parse(concat!("v", env!("CARGO_PKG_VERSION"))) {
            entry = entry.fact(Name::literal("version"), version);
        }
        if let Some(detectors) = detectors {
            let categories: Vec<_> = detectors
                .categories()
                .filter_map(|category| Name::parse(detectors.name(category)))
                .take(Entry::MAX_FACTS)
                .collect();
            entry = entry.fact(Name::literal("detectors"), categories);
            for (file, bytes) in model_files(&config.detection) {
                entry = entry.fact(Name::literal(file), Digest::of(&bytes));
            }
        } else {
            entry = entry.fact(Name::literal("mode"), Name::literal("transparent"));
        }
        // Whoever refuses to go on unrecorded does so at the first call.
        let _ = self.handle.record(entry);
    }

    /// Tells of the session's end, and closes the log.
    ///
    /// # Errors
    ///
    /// When the last entries could not be written.
    pub(crate) fn ended(self) -> Result<(), CloseError> {
        let _ = self.handle.record(Entry::new(Event::SessionEnd));
        drop(self.handle);
        self.log.close()
    }
}

/// The SHA-256 of a file, as `sha256sum` prints it; none if it is there no more.
fn digest_of(file: &Path) -> Option<Digest> {
    fs::read(file).ok().map(|bytes| Digest::of(&bytes))
}
