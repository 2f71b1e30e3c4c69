//! Names of people, found by a model that runs in this process, or the reason why they are not.

#[cfg(feature = "ner")]
mod command;
#[cfg(feature = "ner")]
mod installed;
#[cfg(feature = "ner")]
mod model;

#[cfg(feature = "ner")]
pub(crate) use command::ModelCommand;
#[cfg(feature = "ner")]
pub(crate) use model::model_files;

use std::sync::Arc;

use cloak_stages::detect::{Detectors, Recognizer};

use crate::config::{ConfigError, Detection, NameModel};

/// How names are looked for.
#[derive(Clone, Default)]
pub(crate) struct Recognition {
    /// What looks for them.
    pub(crate) recognizer: Option<Arc<dyn Recognizer>>,
    /// Texts in which it has to find something, else it does not work.
    pub(crate) known: Vec<Known>,
    /// Which model it is, for people.
    pub(crate) model: String,
    /// Why names of people are not protected; none if they are.
    pub(crate) gap: Option<String>,
}

/// Texts with names of one kind. Models differ, and a good one may miss some.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// The kind, as tokens carry it.
    pub(crate) category: &'static str,
    /// Texts, each with the name in it.
    pub(crate) names: &'static [(&'static str, &'static str)],
}

/// What the model is told when names of people reach it.
pub(crate) const NOTE: &str = "Names of people are not replaced in this session; only values that \
                               a rule can recognise are.";

impl Recognition {
    /// As configured. A model that cannot be used is an error if it is required, otherwise a gap.
    ///
    /// # Errors
    ///
    /// When a kind of name is asked for that the model does not find.
    pub(crate) fn new(detection: &Detection) -> Result<Self, ConfigError> {
        if detection.names.model == NameModel::Off {
            return Ok(Self::without("\"ner_model\" is \"none\""));
        }
        Self::by_model(detection)
    }

    /// These rules, and the model beside them.
    pub(crate) fn beside(&self, rules: Detectors) -> Detectors {
        match &self.recognizer {
            Some(model) => rules.with_recognizer(Arc::clone(model)),
            None => rules,
        }
    }

    #[cfg(not(feature = "ner"))]
    fn by_model(detection: &Detection) -> Result<Self, ConfigError> {
        const WHY: &str = "this program was built without the feature \"ner\"";
        if detection.names.required {
            let what = format!("detection.ner_required: a model is required, but {WHY}");
            return Err(ConfigError::one("configuration", what));
        }
        Ok(Self::without(WHY))
    }

    fn without(why: &str) -> Self {
        Self {
            gap: Some(format!("names of people are NOT protected: {why}")),
            ..Self::default()
        }
    }
}

/// The files of the model: none without one.
#[cfg(not(feature = "ner"))]
pub(crate) fn model_files(_: &Detection) -> Vec<(&'static str, std::borrow::Cow<'static, [u8]>)> {
    Vec::new()
}
