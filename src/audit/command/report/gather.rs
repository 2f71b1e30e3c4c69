//! What a report tells, summed over entries.

use std::collections::BTreeMap;

use cloak_stages::audit::{Direction, Event, Outcome, StoredEntry};

/// Counts by name; see [`Counts::add`].
#[derive(Debug, Default)]
pub(super) struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// The most different names that are counted one by one; a forged log may hold any number.
    const MAX: usize = 10_000;

    fn add(&mut self, name: &str, count: u64) {
        if let Some(sum) = self.0.get_mut(name) {
            *sum += count;
        } else {
            let name = if self.0.len() < Self::MAX {
                name
            } else {
                "(others)"
            };
            *self.0.entry(name.to_owned()).or_default() += count;
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// In the order of names.
    pub(super) fn by_name(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// The largest first, and the rest as one.
    pub(super) fn largest(&self, most: usize) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self
            .0
            .iter()
            .map(|(name, count)| (name.clone(), *count))
            .collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        if all.len() > most {
            let rest = all.split_off(most - 1);
            all.push((
                format!("{} others", rest.len()),
                rest.iter().map(|(_, count)| count).sum(),
            ));
        }
        all
    }
}

/// Times, kept to two significant digits, so that a percentile is within five per cent.
#[derive(Debug, Default)]
pub(super) struct Times(BTreeMap<u64, u64>);

impl Times {
    fn add(&mut self, millis: f64) {
        let micros = (millis * 1000.0).clamp(0.0, 1e15) as u64;
        let scale = 10u64.pow(micros.checked_ilog10().unwrap_or(0).saturating_sub(1));
        *self.0.entry(micros / scale * scale).or_default() += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The time, in milliseconds, that this share of all is not above.
    pub(super) fn percentile(&self, share: f64) -> f64 {
        let rank = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        let at = self.0.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        at.or_else(|| self.0.last_key_value())
            .map_or(0.0, |(micros, _)| *micros as f64 / 1000.0)
    }
}

/// All a report tells.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Time of the first and the last entry.
    pub(super) span: Option<(String, String)>,
    pub(super) entries: u64,
    pub(super) sessions: Counts,
    /// Values kept from the model, by day and category.
    pub(super) days: BTreeMap<String, Counts>,
    /// Values kept from the model.
    pub(super) categories: Counts,
    pub(super) upstreams: Counts,
    pub(super) tools: Counts,
    /// Values given back to tools.
    pub(super) restored: u64,
    /// By reason.
    pub(super) refusals: Counts,
    /// Everything an auditor looks at twice: tripwire hits, foreign tokens, gaps and the like.
    pub(super) incidents: Counts,
    pub(super) events: Counts,
    /// By event.
    pub(super) latency: BTreeMap<String, Times>,
}

impl Totals {
    const MAX_DAYS: usize = 3660;

    pub(super) fn add(&mut self, entry: &StoredEntry<'_>) {
        self.entries += 1;
        match &mut self.span {
            Some((first, last)) => {
                first.clone_from(&entry.timestamp.min(first).to_owned());
                last.clone_from(&entry.timestamp.max(last).to_owned());
            }
            None => self.span = Some((entry.timestamp.to_owned(), entry.timestamp.to_owned())),
        }
        let metadata = &entry.metadata;
        self.events.add(entry.event_type, 1);
        let event = Event::parse(entry.event_type);
        if event.is_some_and(|event| !is_internal(event)) {
            self.sessions.add(metadata.session, 1);
        }
        // The first key of a log takes no other's place.
        let first_key = event == Some(Event::KeyChange) && entry.text("previous").is_none();
        let incident = event.is_some_and(is_incident) && !first_key;
        // What the tripwire found in a schema was told, not replaced.
        let replaced = match event {
            Some(Event::TripwireHit) => entry.text("place") != Some("schema"),
            _ => !incident,
        };
        let found = match replaced {
            true => entry.categories.values().sum(),
            false => 0,
        };
        if metadata.direction.and_then(Direction::parse) == Some(Direction::ToUpstream) {
            self.restored += found;
        } else if found > 0 {
            self.protect(entry, found);
        }
        // An incident stands beside the message that was refused for it.
        if !incident && metadata.outcome.and_then(Outcome::parse) == Some(Outcome::Refused) {
            self.refusals
                .add(entry.text("reason").unwrap_or("(no reason given)"), 1);
        }
        if incident {
            self.incidents
                .add(entry.event_type, entry.number("missed").unwrap_or(1));
        }
        if entry.latency_ms > 0.0 && event.is_some() {
            self.latency
                .entry(entry.event_type.to_owned())
                .or_default()
                .add(entry.latency_ms);
        }
    }

    fn protect(&mut self, entry: &StoredEntry<'_>, found: u64) {
        let day = entry.timestamp.get(..10).unwrap_or("");
        let day = if self.days.len() < Self::MAX_DAYS {
            day
        } else {
            "later"
        };
        let day = self.days.entry(day.to_owned()).or_default();
        for (category, count) in &entry.categories {
            day.add(category, *count);
            self.categories.add(category, *count);
        }
        self.upstreams
            .add(entry.metadata.upstream.unwrap_or("(none)"), found);
        self.tools.add(
            entry
                .metadata
                .tool
                .or(entry.metadata.method)
                .unwrap_or("(none)"),
            found,
        );
    }
}

/// Entries that the log writes about itself.
fn is_internal(event: Event) -> bool {
    matches!(
        event,
        Event::KeyChange
            | Event::LogOpened
            | Event::LogClosed
            | Event::LogRepaired
            | Event::Gap
            | Event::Checkpoint
            | Event::Pruned
    )
}

fn is_incident(event: Event) -> bool {
    matches!(
        event,
        Event::TripwireHit
            | Event::ForeignToken
            | Event::StaleToken
            | Event::FreshValue
            | Event::Restart
            | Event::Error
            | Event::Gap
            | Event::LogRepaired
            | Event::KeyChange
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_five_per_cent() {
        let mut times = Times::default();
        (1..=1000).for_each(|micros| times.add(f64::from(micros) / 1000.0));
        for (share, want) in [(0.5, 0.5), (0.9, 0.9), (0.99, 0.99), (1.0, 1.0)] {
            let have = times.percentile(share);
            assert!((have - want).abs() <= 0.05 * want, "{share}: {have}");
        }
        assert_eq!(Times::default().percentile(0.5), 0.0);
    }

    #[test]
    fn the_rest_is_one() {
        let mut counts = Counts::default();
        for (name, count) in [("a", 1), ("b", 5), ("c", 3), ("d", 1), ("b", 1)] {
            counts.add(name, count);
        }
        assert_eq!(
            counts.largest(3),
            [("b".into(), 6), ("c".into(), 3), ("2 others".into(), 2)]
        );
        assert_eq!(counts.total(), 11);
    }
}
