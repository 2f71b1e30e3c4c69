//! Before it serves: does what is looked for get caught, and does it come back?

use std::collections::BTreeSet;

use thiserror::Error;

use crate::config::{Config, ConfigError, Mode};
use crate::names::Known;
use crate::protection::Protection;
use crate::text::Texts;

/// Why nothing is served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum SelfTestError {
    /// A known value would have reached the model.
    #[error(
        "nothing is served: a known value of {} reaches the model. Look at the patterns, at \
         min_confidence and at ner_model in \"detection\"", list(.0)
    )]
    Survived(BTreeSet<String>),
    /// A token would not have become its value again.
    #[error("nothing is served: a token of {} is not turned back into its value", list(.0))]
    Lost(BTreeSet<String>),
    /// A message with a known value was kept back.
    #[error("nothing is served: a known value of {category} cannot be looked at: {why}")]
    Refused {
        /// The category of the value.
        category: String,
        /// What was said.
        why: String,
    },
    /// The protection could not be made once more, without the user's own exceptions.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// What was tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// How many known values were protected.
    pub(crate) values: usize,
    /// The categories whose known value reaches the model because the allow list says so.
    pub(crate) allowed: BTreeSet<String>,
}

/// Sends a known value of each category that is looked for through the protection of messages, to
/// the model and back, in a session that is thrown away. Of known names the model has to find one
/// of each kind.
///
/// # Errors
///
/// What is wrong. Then nothing must be served.
pub(crate) fn run(config: &Config, protection: &Protection) -> Result<Passed, SelfTestError> {
    let texts = Texts::new(&protection.rehearsal());
    let detectors = protection.detectors();
    let (mut survived, mut lost) = (BTreeSet::new(), BTreeSet::new());
    let mut values = 0;
    let mut send = |category: &str, text: &str, value: &str| -> Result<bool, SelfTestError> {
        let refused = |why| SelfTestError::Refused {
            category: category.to_owned(),
            why,
        };
        let seen = texts.to_model(text).map_err(refused)?;
        if survives(value, &seen) {
            return Ok(false);
        }
        values += 1;
        if config.detection.mode == Mode::Tokenize
            && texts.to_upstream(&seen).map_err(refused)? != text
        {
            lost.insert(category.to_owned());
        }
        Ok(true)
    };
    for probe in &detectors.probes() {
        let category = detectors.name(probe.category);
        if !send(category, &probe.text, &probe.value)? {
            survived.insert(category.to_owned());
        }
    }
    for Known { category, names } in &protection.names().known {
        let mut found = false;
        for (text, name) in *names {
            found |= send(category, text, name)?;
        }
        if !found {
            survived.insert((*category).to_owned());
        }
    }
    if !lost.is_empty() {
        return Err(SelfTestError::Lost(lost));
    }
    if !survived.is_empty() && !config.detection.settings.allow.is_empty() {
        // What the user allows, known values among it, is no fault of the detection.
        let mut strict = config.clone();
        strict.detection.settings.allow.clear();
        let numbers = Box::new(cloak_stages::vault::InMemory::default());
        run(&strict, &Protection::new(&strict, numbers)?)?;
        return Ok(Passed {
            values,
            allowed: survived,
        });
    }
    if survived.is_empty() {
        Ok(Passed {
            values,
            allowed: survived,
        })
    } else {
        Err(SelfTestError::Survived(survived))
    }
}

/// Whether the value is still there, as it was or only in its letters and digits.
fn survives(value: &str, seen: &str) -> bool {
    let bare = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .collect::<String>()
    };
    let letters = bare(value);
    seen.contains(value) || (letters.len() >= 6 && bare(seen).contains(&letters))
}

fn list(categories: &BTreeSet<String>) -> String {
    categories
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use cloak_stages::vault::InMemory;

    use super::*;

    /// The self-test of a configuration with this section `detection`.
    fn test(detection: &str) -> Result<Passed, SelfTestError> {
        let text = format!(r#"{{"detection": {detection}}}"#);
        let config = Config::parse(&text, "test", &|_| None).unwrap();
        let protection = Protection::new(&config, Box::new(InMemory::default())).unwrap();
        run(&config, &protection)
    }

    #[test]
    fn what_is_looked_for_is_caught_and_comes_back() {
        let passed = test("{}").unwrap();
        assert!(
            passed.values >= 6 && passed.allowed.is_empty(),
            "{passed:?}"
        );
        assert!(test(r#"{"mode": "redact"}"#).is_ok());
        let more = r#"{"custom_patterns": [["STAFF_ID", "S-[0-9]{6}"]], "detect_il_id": true}"#;
        assert!(test(more).unwrap().values > passed.values);
        let fewer = r#"{"detect_emails": false}"#;
        assert!(test(fewer).unwrap().values < passed.values);
    }

    #[test]
    fn what_is_not_caught_is_refused() {
        let error = test(r#"{"min_confidence": 100}"#).unwrap_err();
        assert!(matches!(error, SelfTestError::Survived(_)), "{error}");
        assert!(error.to_string().contains("EMAIL"), "{error}");
    }

    #[cfg(feature = "ner")]
    #[test]
    fn names_go_the_same_way() {
        let names = test("{}").unwrap().values;
        let none = test(r#"{"ner_model": "none"}"#).unwrap().values;
        assert!(names >= none + 3, "{names} {none}");
        let more = r#"{"ner_entity_types": ["PERSON", "ORG", "GPE", "FAC", "NORP"]}"#;
        assert!(test(more).unwrap().values > names);
        assert!(test(r#"{"mode": "redact"}"#).unwrap().values == names);
        // Names that the user allows are told, as other values are.
        let allowed = test(r#"{"allow": "/[A-Z].*/"}"#).unwrap().allowed;
        assert!(allowed.contains("PERSON"), "{allowed:?}");
    }

    #[test]
    fn what_the_user_allows_is_no_fault() {
        let passed = test(r#"{"allow": "/.*@.*/"}"#).unwrap();
        assert_eq!(passed.allowed.iter().collect::<Vec<_>>(), ["EMAIL"]);
        // But an allow list does not excuse what would not be caught without it.
        assert!(test(r#"{"allow": "/.*@.*/", "min_confidence": 100}"#).is_err());
    }
}
