//! Names of people, found by a model that runs in this process.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use cloak_names::{Label, Name, Names};
use cloak_stages::detect::{Category, Context, Finding, Recognizer};

use crate::config::{ConfigError, Detection, NameModel};

/// The model, as one more recognizer beside the rules.
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

/// The files of the model that is configured, and their names; none if there is no model, or a file
/// that cannot be read.
pub(crate) fn model_files(detection: &Detection) -> Vec<(&'static str, Cow<'static, [u8]>)> {
    const NAMES: [&str; 2] = ["model.json", "model.safetensors"];
    match &detection.names.model {
        NameModel::Off => Vec::new(),
        NameModel::BuiltIn => NAMES
            .into_iter()
            .zip(cloak_names::BUILTIN.map(Cow::Borrowed))
            .collect(),
        NameModel::Named(folder) => NAMES
            .into_iter()
            .filter_map(|name| Some((name, fs::read(Path::new(folder).join(name)).ok()?.into())))
            .collect(),
    }
}

/// The model that is configured; none if names are not looked for.
///
/// A model that cannot be used is an error if it is required, otherwise a warning.
///
/// # Errors
///
/// When a kind of name is asked for that nobody knows or the model does not find.
pub(crate) fn recognizer(
    detection: &Detection,
) -> Result<Option<Arc<dyn Recognizer>>, ConfigError> {
    let problem = |key: &str, what: String| {
        ConfigError::one("configuration", format!("detection.{key}: {what}"))
    };
    let loaded = match &detection.names.model {
        NameModel::Off => return Ok(None),
        NameModel::BuiltIn => Names::builtin(),
        NameModel::Named(folder) => Names::open(Path::new(folder)),
    };
    let names = match loaded {
        Ok(names) => names,
        Err(why) if detection.names.required => {
            return Err(problem("ner_model", why.to_string()));
        }
        Err(why) => {
            tracing::warn!("names are NOT protected, the model cannot be used: {why}");
            return Ok(None);
        }
    };
    let offered = names.labels();
    let mut labels = Vec::new();
    for word in &detection.names.entity_types {
        let label: Label = word
            .parse()
            .map_err(|why| problem("ner_entity_types", format!("{why}")))?;
        if !offered.contains(&label) {
            return Err(problem(
                "ner_entity_types",
                format!("the model does not find {word}"),
            ));
        }
        labels.push(label);
    }
    Ok(Some(Arc::new(Model { names, labels })))
}
