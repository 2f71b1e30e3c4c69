//! Which entries a command is about.

use cloak_stages::audit::StoredEntry;
use jiff::{SignedDuration, Timestamp, civil::Date};

use super::CommandError;
use crate::audit::clock::Clock;

#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Filter {
    /// Only from this time on: a day, a time in UTC, or how long ago (90m, 2h, 7d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only of this server
    #[arg(long)]
    upstream: Option<String>,
    /// Only of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only with findings of this category
    #[arg(long)]
    category: Option<String>,
    /// Only of this kind, such as tools_call or refusal
    #[arg(long)]
    event: Option<String>,
    /// Only of the session whose id begins so
    #[arg(long)]
    session: Option<String>,
}

/// A filter whose times are in the form of the entries, where texts compare as times do.
#[derive(Clone, Debug, Default)]
pub(super) struct Ready<'a> {
    filter: Option<&'a Filter>,
    since: Option<String>,
    until: Option<String>,
}

impl Filter {
    pub(super) fn ready(&self, clock: &dyn Clock) -> Result<Ready<'_>, CommandError> {
        let time =
            |text: &Option<String>| text.as_deref().map(|text| time(text, clock)).transpose();
        Ok(Ready {
            filter: Some(self),
            since: time(&self.since)?,
            until: time(&self.until)?,
        })
    }
}

impl Ready<'_> {
    pub(super) fn admits(&self, entry: &StoredEntry<'_>) -> bool {
        let Some(filter) = self.filter else {
            return true;
        };
        let same = |wanted: &Option<String>, have: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == have)
        };
        self.since
            .as_deref()
            .is_none_or(|since| entry.timestamp >= since)
            && self
                .until
                .as_deref()
                .is_none_or(|until| entry.timestamp < until)
            && same(&filter.upstream, entry.metadata.upstream)
            && same(&filter.tool, entry.metadata.tool)
            && same(&filter.event, Some(entry.event_type))
            && filter
                .category
                .as_deref()
                .is_none_or(|category| entry.categories.contains_key(category))
            && filter
                .session
                .as_deref()
                .is_none_or(|session| entry.metadata.session.starts_with(session))
    }
}

fn time(text: &str, clock: &dyn Clock) -> Result<String, CommandError> {
    let wrong = || CommandError::Time(text.to_owned());
    let moment = if let Ok(moment) = text.parse::<Timestamp>() {
        moment
    } else if let Ok(day) = text.parse::<Date>() {
        format!("{day}T00:00:00Z").parse().map_err(|_| wrong())?
    } else {
        let now = Timestamp::from_microsecond(clock.now().utc_micros).map_err(|_| wrong())?;
        now.checked_sub(ago(text).ok_or_else(wrong)?)
            .map_err(|_| wrong())?
    };
    Ok(moment.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string())
}

/// `90m`, `2h`, `7d` and the like; a day has 24 hours.
fn ago(text: &str) -> Option<SignedDuration> {
    match text.strip_suffix('d') {
        Some(days) => SignedDuration::try_from_hours(days.parse::<i64>().ok()?.checked_mul(24)?),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::clock::Now;

    struct At(i64);

    impl Clock for At {
        fn now(&self) -> Now {
            Now {
                utc_micros: self.0,
                mono_micros: 0,
            }
        }
    }

    #[test]
    fn times_are_read_in_every_form() {
        let clock = At(1_796_110_200_000_000);
        for (text, want) in [
            ("2026-12-01", "2026-12-01T00:00:00.000000+00:00"),
            ("2026-12-01T07:30:00.5Z", "2026-12-01T07:30:00.500000+00:00"),
            (
                "2026-12-01T08:30:00+01:00",
                "2026-12-01T07:30:00.000000+00:00",
            ),
            ("2h", "2026-12-01T05:30:00.000000+00:00"),
            ("90m", "2026-12-01T06:00:00.000000+00:00"),
            ("7d", "2026-11-24T07:30:00.000000+00:00"),
        ] {
            assert_eq!(time(text, &clock).unwrap(), want, "{text}");
        }
        for text in ["", "yesterday", "2026-13-01", "999999999999d", "d"] {
            assert!(
                matches!(time(text, &clock), Err(CommandError::Time(_))),
                "{text}"
            );
        }
    }
}
