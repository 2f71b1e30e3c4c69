//! What was found in a text and what was not taken for personal data, with the reasons.

use std::fmt;

use super::bytes::{DIGIT, before, is, run};
use super::rules::{card, email, ip};
use super::{Category, Context, Detectors, Finding, rank, resolve, scan, secret, views};

/// The answer of [`Detectors::explain`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// What [`Detectors::find`] finds.
    pub findings: Vec<Finding>,
    /// What looks like personal data and is none, in reading order.
    pub rejected: Vec<Rejected>,
}

/// Something that looks like personal data and was not taken for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rejected {
    /// First byte.
    pub start: usize,
    /// Byte behind the last.
    pub end: usize,
    /// What it looks like.
    pub category: Category,
    /// Why it is none.
    pub reason: Reason,
}

/// Why something was not taken for personal data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A finding of this rule overlaps it and is preferred.
    GaveWay(&'static str),
    /// It is less sure than the setting `min_confidence` asks for.
    Confidence {
        /// How sure it is.
        found: u8,
        /// How sure it must be.
        asked: u8,
    },
    /// The list `allow` names it.
    Allowed,
    /// Its only evidence is a check digit that every tenth number has.
    Unnamed,
    /// A rule looked at it and says why not.
    Verdict(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveWay(rule) => write!(f, "gave way to \"{rule}\""),
            Self::Confidence { found, asked } => {
                write!(f, "{found} % sure, `min_confidence` asks for {asked}")
            }
            Self::Allowed => f.write_str("the list `allow` names it"),
            Self::Unnamed => f.write_str("a check digit fits, but no word names the number"),
            Self::Verdict(reason) => f.write_str(reason),
        }
    }
}

impl Detectors {
    /// Finds what [`find`](Self::find) finds, and tells of what looks like personal data why it
    /// was not taken. For people; it takes several times as long.
    pub fn explain(&self, text: &str, cx: Context<'_>) -> Explanation {
        let mut findings = Vec::new();
        self.find(text, cx, &mut findings);
        let mut rejected = self.dropped(text, cx, &findings);
        let spans = findings.iter().map(|f| (f.start, f.end));
        let known = Spans::of(spans.chain(rejected.iter().map(|r| (r.start, r.end))));
        let misses = self.misses(text.as_bytes());
        rejected.extend(misses.filter(|miss| !known.meet(miss.start, miss.end)));
        rejected.sort_by_key(|rejected| (rejected.start, rejected.end));
        rejected.dedup_by_key(|rejected| (rejected.start, rejected.end, rejected.category));
        Explanation { findings, rejected }
    }

    /// What a rule found and the settings or another rule dropped.
    fn dropped(&self, text: &str, cx: Context<'_>, kept: &[Finding]) -> Vec<Rejected> {
        let mut rules = self.rules.clone();
        rules.packs = rules.packs.with_suspects();
        let (mut all, mut odd) = (Vec::new(), Vec::new());
        scan::scan(text.as_bytes(), 0, text.len(), &rules, &mut all, &mut odd);
        views::find(text, &odd, &rules, &mut all);
        self.find_beside(text, cx, &mut all);
        // What was kept is sorted and apart, so the first that ends behind a place is found at once.
        let kept_from = |start: usize| &kept[kept.partition_point(|f| f.end <= start)..];
        all.retain(|finding| kept_from(finding.start).first() != Some(finding));
        // Of what does not stand beside another, one reason is enough.
        let mut alone: Vec<_> = all.clone();
        resolve::resolve(&mut alone, rank);
        let is_alone = |finding: &Finding| {
            let at = alone.partition_point(|f| f.start < finding.start);
            alone.get(at) == Some(finding)
        };
        let reason = |finding: &Finding| {
            let next = kept_from(finding.start).first();
            let winner = next.filter(|f| f.start < finding.end);
            if finding.confidence < self.min_confidence {
                let (found, asked) = (finding.confidence, self.min_confidence);
                Some(Reason::Confidence { found, asked })
            } else if self.allow.allows(&text[finding.start..finding.end]) {
                Some(Reason::Allowed)
            } else if let Some(winner) = winner {
                let same = (winner.start, winner.end, winner.category)
                    == (finding.start, finding.end, finding.category);
                (!same).then_some(Reason::GaveWay(winner.rule))
            } else {
                is_alone(finding).then_some(Reason::Unnamed)
            }
        };
        let rejected = |finding: &Finding| {
            Some(Rejected {
                start: finding.start,
                end: finding.end,
                category: finding.category,
                reason: reason(finding)?,
            })
        };
        all.iter().filter_map(rejected).collect()
    }

    /// What a rule looks at more closely and refuses.
    fn misses(&self, text: &[u8]) -> impl Iterator<Item = Rejected> {
        let rules = &self.rules;
        (0..text.len()).filter_map(move |at| {
            let (category, miss) = match text[at] {
                b'0'..=b'9' if !is(before(text, at), DIGIT) => {
                    let length = run(text, at, DIGIT, 20) - at;
                    let card = rules.card.then(|| card::miss(text, at, length)).flatten();
                    match card {
                        Some(miss) => (Category::CREDIT_CARD, Some(miss)),
                        None => (
                            Category::IP_ADDRESS,
                            rules.ip.then(|| ip::miss(text, at)).flatten(),
                        ),
                    }
                }
                b'@' => (
                    Category::EMAIL,
                    rules.email.then(|| email::miss(text, at)).flatten(),
                ),
                b':' | b'=' => (
                    Category::PASSWORD,
                    rules.secret.then(|| secret::miss(text, at)).flatten(),
                ),
                _ => return None,
            };
            let miss = miss?;
            Some(Rejected {
                start: miss.start,
                end: miss.end,
                category,
                reason: Reason::Verdict(miss.reason),
            })
        })
    }
}

/// Places of a text, to be asked what they overlap.
struct Spans {
    /// In rising order, each with the farthest end of all up to it.
    spans: Vec<(usize, usize)>,
}

impl Spans {
    fn of(spans: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut spans: Vec<_> = spans.collect();
        spans.sort_unstable();
        let mut farthest = 0;
        for (_, end) in &mut spans {
            farthest = farthest.max(*end);
            *end = farthest;
        }
        Self { spans }
    }

    /// Whether one of them overlaps `start..end`.
    fn meet(&self, start: usize, end: usize) -> bool {
        let before = self.spans.partition_point(|(from, _)| *from < end);
        before > 0 && self.spans[before - 1].1 > start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Settings;

    fn explained(text: &str, settings: &Settings) -> Vec<(String, String)> {
        let detectors = Detectors::new(settings).unwrap();
        let explanation = detectors.explain(text, Context::default());
        let rejected = explanation.rejected.iter();
        rejected
            .map(|r| (text[r.start..r.end].to_owned(), r.reason.to_string()))
            .collect()
    }

    #[test]
    fn what_is_none_and_why() {
        let settings = Settings {
            locale: vec!["nl".into()],
            allow: vec!["help@example.eu".into()],
            ..Settings::default()
        };
        for (text, value, part) in [
            ("pay 4111 1111 1111 1112", "4111 1111 1111 1112", "Luhn"),
            ("at 127.0.0.1 now", "127.0.0.1", "nobody"),
            ("version 13.84.11.20", "13.84.11.20", "version"),
            ("see icon@2x.png", "icon@2x.png", "domain"),
            ("clone git@github.com:acme/x", "git@github.com", "machine"),
            ("password: changeme", "changeme", "placeholder"),
            ("mail help@example.eu", "help@example.eu", "allow"),
            ("42,402431431,ok", "402431431", "no word"),
        ] {
            let rejected = explained(text, &settings);
            assert!(
                rejected
                    .iter()
                    .any(|(v, why)| v == value && why.contains(part)),
                "{text}: {rejected:?}"
            );
        }
    }

    #[test]
    fn places_that_overlap() {
        let spans = Spans::of([(5, 9), (1, 20), (30, 31)].into_iter());
        for (start, end, meet) in [
            (0, 1, false),
            (0, 2, true),
            (12, 13, true),
            (20, 30, false),
            (30, 40, true),
            (31, 40, false),
        ] {
            assert_eq!(spans.meet(start, end), meet, "{start}..{end}");
        }
    }

    #[test]
    fn what_was_found_is_not_rejected_too() {
        let text = "marie@example.eu 4111 1111 1111 1111 10.1.2.33 password: tR7!kv9Qz";
        assert_eq!(explained(text, &Settings::default()), []);
        let sure = Settings {
            min_confidence: 99,
            ..Settings::default()
        };
        let rejected = explained("marie@example.eu", &sure);
        assert!(rejected[0].1.contains("min_confidence"), "{rejected:?}");
    }
}
