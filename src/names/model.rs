//! The model, as one more recognizer beside the rules.

use std::borrow::Cow;
use std::fs;
use std::sync::Arc;

use cloak_names::{Label, Name, Names};
use cloak_stages::detect::{Category, Context, Finding, Recognizer};

use super::installed::{self, InstallError};
use super::{Known, Recognition};
use crate::config::{ConfigError, Detection, NameModel};

struct Model {
    names: Names,
    labels: Vec<Label>,
}

impl Recognizer for Model {
    fn categories(&self) -> Vec<String> {
        self.labels.iter().map(Label::to_string).collect()
    }

    fn reach(&self) -> usize {
        self.names.reach()
    }

    fn find(&self, text: &str, _: Context<'_>, categories: &[Category], out: &mut Vec<Finding>) {
        let mut found: Vec<Name> = Vec::new();
        self.names.find_sharded(text, &self.labels, &mut found);
        for Name {
            start,
            end,
            label,
            score,
        } in found
        {
            let place = self.labels.iter().position(|one| *one == label);
            if let Some(category) = place.and_then(|place| categories.get(place)) {
                // A score lies between 0 and 1, so its hundredths fit.
                let confidence = (score.clamp(0.0, 1.0) * 100.0) as u8;
                out.push(Finding {
                    start,
                    end,
                    category: *category,
                    confidence,
                    rule: "name",
                });
            }
        }
    }
}

impl Recognition {
    pub(super) fn by_model(detection: &Detection) -> Result<Self, ConfigError> {
        let (model, loaded) = match &detection.names.model {
            NameModel::Named(model) => (model.clone(), installed::open(model)),
            _ => (
                "the built-in model".to_owned(),
                Names::builtin().map_err(InstallError::from),
            ),
        };
        let names = match loaded {
            Ok(names) => names,
            Err(why) if detection.names.required => {
                return Err(problem("ner_model", why.to_string()));
            }
            Err(why) => return Ok(Self::without(&format!("the model cannot be used: {why}"))),
        };
        let labels = labels(&detection.names.entity_types, &names.labels())?;
        if labels.is_empty() {
            return Ok(Self::without("\"ner_entity_types\" is empty"));
        }
        let gap = match labels.contains(&Label::Person) {
            true => None,
            false => Self::without("\"ner_entity_types\" has no \"PERSON\"").gap,
        };
        let known = KNOWN.iter().filter(|(label, _)| labels.contains(label));
        Ok(Self {
            known: known
                .map(|(label, names)| Known {
                    category: label.as_str(),
                    names,
                })
                .collect(),
            model,
            gap,
            recognizer: Some(Arc::new(Model { names, labels })),
        })
    }
}

/// The files of the model that is configured, and their names; none if there is no model, or a file
/// that cannot be read.
pub(crate) fn model_files(detection: &Detection) -> Vec<(&'static str, Cow<'static, [u8]>)> {
    match &detection.names.model {
        NameModel::Off => Vec::new(),
        NameModel::BuiltIn => ["model.json", "model.safetensors"]
            .into_iter()
            .zip(cloak_names::BUILTIN.map(Cow::Borrowed))
            .collect(),
        NameModel::Named(which) => {
            let Ok(folder) = installed::folder(which) else {
                return Vec::new();
            };
            installed::MODEL
                .into_iter()
                .filter_map(|name| Some((name, fs::read(folder.join(name)).ok()?.into())))
                .collect()
        }
    }
}

/// The kinds that are asked for, which the model has to offer.
fn labels(asked: &[String], offered: &[Label]) -> Result<Vec<Label>, ConfigError> {
    let find = |word: &String| {
        let label = offered.iter().find(|label| label.as_str() == word);
        label.copied().ok_or_else(|| {
            let offered: Vec<_> = offered.iter().map(|label| label.as_str()).collect();
            let what = format!(
                "the model has no kind {word:?}; it has {}",
                offered.join(", ")
            );
            problem("ner_entity_types", what)
        })
    };
    asked.iter().map(find).collect()
}

fn problem(key: &str, what: String) -> ConfigError {
    ConfigError::one("configuration", format!("detection.{key}: {what}"))
}

/// Names that a model should find, in plain sentences, where no rule does. Nobody in particular is
/// called so.
pub(super) const KNOWN: &[(Label, &[(&str, &str)])] = &[
    (
        Label::Person,
        &[
            (
                "My colleague Marie Lindqvist lives in Lyon.",
                "Marie Lindqvist",
            ),
            ("Yesterday Jonas Wagner wrote to us again.", "Jonas Wagner"),
            ("The report was signed by Sarah Thompson.", "Sarah Thompson"),
            ("Вчера нам снова написала Анна Иванова.", "Анна Иванова"),
            ("昨天 王小明 给我们写了信。", "王小明"),
        ],
    ),
    (
        Label::Org,
        &[
            ("She left Microsoft for a bank last year.", "Microsoft"),
            ("The United Nations published the report.", "United Nations"),
        ],
    ),
    (
        Label::Gpe,
        &[
            ("They flew from Berlin to the north.", "Berlin"),
            ("He has lived in France since then.", "France"),
        ],
    ),
    (
        Label::Fac,
        &[
            ("He landed at Heathrow Airport on Monday.", "Heathrow"),
            (
                "The train stops at Heathrow Airport every hour.",
                "Heathrow",
            ),
        ],
    ),
    (
        Label::Norp,
        &[
            ("The German delegation left early.", "German"),
            ("Many Republicans voted against it.", "Republicans"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Detection};

    fn detection(section: &str) -> Detection {
        let text = format!(r#"{{"detection": {section}}}"#);
        Config::parse(&text, "test", &|_| None).unwrap().detection
    }

    fn error(section: &str) -> String {
        let error = Recognition::new(&detection(section)).err().unwrap();
        error.to_string()
    }

    fn gap(section: &str) -> Option<String> {
        Recognition::new(&detection(section)).unwrap().gap
    }

    #[test]
    fn kinds_are_those_of_the_model() {
        let text = error(r#"{"ner_entity_types": ["PERSON", "PERSONS"]}"#);
        let expected = r#"detection.ner_entity_types: the model has no kind "PERSONS"; it has "#;
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("PERSON, ") && text.contains("NORP"), "{text}");
    }

    #[test]
    fn a_gap_is_told() {
        assert_eq!(gap("{}"), None);
        assert_eq!(gap(r#"{"ner_entity_types": ["PER", "ORG"]}"#), None);
        for (section, why) in [
            (r#"{"ner_model": "none"}"#, "\"ner_model\" is \"none\""),
            (r#"{"ner_entity_types": ["ORG"]}"#, "has no \"PERSON\""),
            (r#"{"ner_entity_types": []}"#, "is empty"),
            (
                r#"{"ner_model": "/nonexistent"}"#,
                "/nonexistent/model.json: cannot be read",
            ),
        ] {
            let gap = gap(section).unwrap();
            assert!(gap.starts_with("names of people are NOT protected: "));
            assert!(gap.contains(why), "{gap}");
        }
    }

    #[test]
    fn a_required_model_has_to_be_there() {
        let text = error(r#"{"ner_model": "/nonexistent", "ner_required": true}"#);
        let expected = "detection.ner_model: /nonexistent/model.json: cannot be read";
        assert!(text.contains(expected), "{text}");
    }

    /// Only then do they prove that the model works.
    #[test]
    fn known_names_are_found_by_the_model_and_not_by_rules() {
        let detection = detection(r#"{"ner_entity_types": ["PERSON","ORG","GPE","FAC","NORP"]}"#);
        let recognition = Recognition::new(&detection).unwrap();
        let rules = detection.detectors().unwrap();
        let model = detection.detectors().unwrap();
        let model = model.with_recognizer(recognition.recognizer.unwrap());
        for Known { category, names } in recognition.known {
            let mut found = Vec::new();
            for (text, name) in names {
                assert!(text.contains(name));
                rules.find(text, Context::default(), &mut found);
                assert_eq!(found, [], "{text}");
                model.find(text, Context::default(), &mut found);
                let hit = found.drain(..).any(|one| {
                    model.name(one.category) == category && text[one.start..one.end].contains(name)
                });
                // The built-in model was trained on English.
                assert!(hit || !text.is_ascii(), "{text}");
            }
        }
    }
}
