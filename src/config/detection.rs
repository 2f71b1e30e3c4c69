//! What is looked for, and what becomes of it.

use std::path::{Path, PathBuf};

use cloak_stages::detect::{Detectors, Settings};
use cloak_stages::protect::Mode;
use serde_json::Value;

use super::parse::{ConfigError, Fields, Problems, Read};
use super::values::{Count, Filled, OneOrMore};

/// The section `detection`.
#[derive(Clone, Debug)]
pub struct Detection {
    /// The patterns, lists and switches.
    pub settings: Settings,
    /// What a value becomes.
    pub mode: Mode,
    /// The recognition of names.
    pub names: Names,
    /// Longest text that is looked through, in characters; a longer one is refused. 0 is no limit.
    pub max_input_length: usize,
    /// Files with one allowed value a line, as written in the configuration.
    pub allow_files: Vec<PathBuf>,
    /// Files with one denied value a line, as written in the configuration.
    pub deny_files: Vec<PathBuf>,
}

/// The recognition of names by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Which model.
    pub model: NameModel,
    /// Whether the gateway refuses to start without it.
    pub required: bool,
    /// Which of its labels count, in the words of the model; the labels of persons are all written
    /// `PERSON`.
    pub entity_types: Vec<String>,
}

/// Which model recognises names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NameModel {
    /// The one built into this program.
    #[default]
    BuiltIn,
    /// None: names are not looked for.
    Off,
    /// An installed one, by its name or its folder.
    Named(String),
}

/// What the labels of persons are called in spaCy's models of various languages.
const PERSON_LABELS: [&str; 4] = ["PERSON", "PER", "persName", "PS"];

impl Default for Detection {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            mode: Mode::Tokenize,
            names: Names::default(),
            max_input_length: 0,
            allow_files: Vec::new(),
            deny_files: Vec::new(),
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        Self {
            model: NameModel::default(),
            required: false,
            entity_types: vec![PERSON_LABELS[0].to_owned()],
        }
    }
}

impl Detection {
    pub(super) fn read(fields: &mut Fields<'_>, warnings: &mut Vec<String>) -> Self {
        let mut detection = Self::default();
        let settings = &mut detection.settings;
        for (key, switch) in [
            ("detect_emails", &mut settings.detect_emails),
            ("detect_phones", &mut settings.detect_phones),
            ("detect_ssns", &mut settings.detect_ssns),
            ("detect_credit_cards", &mut settings.detect_credit_cards),
            ("detect_api_keys", &mut settings.detect_api_keys),
            ("detect_ip_addresses", &mut settings.detect_ip_addresses),
            ("detect_iban", &mut settings.detect_iban),
            ("detect_il_id", &mut settings.detect_il_id),
            ("detect_mac", &mut settings.detect_mac),
            ("detect_crypto", &mut settings.detect_crypto),
            ("detect_fields", &mut settings.detect_fields),
        ] {
            fields.set(key, switch);
        }
        for (key, list) in [
            ("locale", &mut settings.locale),
            ("phone_regions", &mut settings.phone_regions),
            ("allow", &mut settings.allow),
            ("deny", &mut settings.deny),
        ] {
            if let Some(OneOrMore(entries)) = fields.take(key) {
                *list = entries;
            }
        }
        if let Some(Patterns(patterns)) = fields.take("custom_patterns") {
            settings.custom_patterns = patterns;
        }
        if let Some(Percent(confidence)) = fields.take("min_confidence") {
            settings.min_confidence = confidence;
        }
        fields.set("mode", &mut detection.mode);
        if let Some(Count(longest)) = fields.take("max_input_length") {
            detection.max_input_length = longest as usize;
        }
        for (key, files) in [
            ("allow_file", &mut detection.allow_files),
            ("deny_file", &mut detection.deny_files),
        ] {
            if let Some(OneOrMore(paths)) = fields.take(key) {
                *files = paths.into_iter().map(PathBuf::from).collect();
            }
        }
        detection.names = Names::read(fields);
        if fields.take::<String>("spacy_model").is_some() {
            warnings.push(
                "detection.spacy_model has no effect: names are found by a model of this program; \
                 detection.ner_model chooses another"
                    .to_owned(),
            );
        }
        if fields.take::<bool>("descriptive_tokens").is_some() {
            warnings.push("detection.descriptive_tokens has no effect".to_owned());
        }
        detection
    }

    /// What looks for all this.
    ///
    /// # Errors
    ///
    /// When a setting cannot be used: a pattern that does not compile, a locale nobody knows.
    pub fn detectors(&self) -> Result<Detectors, ConfigError> {
        Detectors::new(&self.settings)
            .map_err(|error| ConfigError::one("configuration", format!("detection.{error}")))
    }

    /// Adds what stands in the files of allowed and denied values, which `read` reads.
    pub(super) fn read_lists(
        &mut self,
        problems: &Problems,
        read: impl Fn(&Path) -> Result<String, String>,
    ) {
        for (key, files, list) in [
            (
                "detection.allow_file",
                &self.allow_files,
                &mut self.settings.allow,
            ),
            (
                "detection.deny_file",
                &self.deny_files,
                &mut self.settings.deny,
            ),
        ] {
            for file in files {
                match read(file) {
                    Ok(text) => list.extend(entries(&text).map(str::to_owned)),
                    Err(what) => problems.add(key, format!("{} {what}", file.display())),
                }
            }
        }
    }
}

/// The entries of a list: one a line, without empty lines and those that begin with `#`.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Names {
    fn read(fields: &mut Fields<'_>) -> Self {
        let mut names = Self::default();
        if let Some(Filled(model)) = fields.optional("ner_model") {
            names.model = match &*model {
                "none" => NameModel::Off,
                _ => NameModel::Named(model),
            };
        }
        fields.set("ner_required", &mut names.required);
        if names.required && names.model == NameModel::Off {
            fields.problems.add(
                fields.path_of("ner_required"),
                "a model is required, but \"ner_model\" is \"none\"; change one of them",
            );
        }
        if let Some(labels) = fields.take::<Vec<Filled>>("ner_entity_types") {
            names.entity_types.clear();
            for Filled(label) in labels {
                let person = PERSON_LABELS.contains(&label.as_str());
                let label = if person {
                    PERSON_LABELS[0].to_owned()
                } else {
                    label
                };
                if !names.entity_types.contains(&label) {
                    names.entity_types.push(label);
                }
            }
        }
        names
    }
}

/// Patterns of the user's own: `[["NAME", "pattern"], …]`, `{"NAME": "pattern", …}` or a list of
/// `{"name": …, "pattern": …}`.
struct Patterns(Vec<(String, String)>);

impl Read for Patterns {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        if let Value::Object(_) = value {
            let fields = Fields::of(value, path, problems)?;
            let read = |(name, value): (&String, &Value)| {
                Filled::read(value, &fields.path_of(name), problems)
                    .map(|pattern| (name.clone(), pattern.0))
            };
            return Some(Self(fields.entries().filter_map(read).collect()));
        }
        let patterns = Vec::<Pattern>::read(value, path, problems)?;
        Some(Self(
            patterns.into_iter().map(|pattern| pattern.0).collect(),
        ))
    }
}

struct Pattern((String, String));

impl Read for Pattern {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        if let Value::Object(_) = value {
            let mut fields = Fields::of(value, path, problems)?;
            let name = fields.require::<Filled>("name");
            let pattern = fields.require::<Filled>("pattern");
            fields.finish();
            return Some(Self((name?.0, pattern?.0)));
        }
        let pair: Vec<Filled> = Vec::read(value, path, problems)?;
        let Ok([name, pattern]) = <[Filled; 2]>::try_from(pair) else {
            problems.add(
                path,
                "expected a category and a pattern, as in [\"STAFF_ID\", \"S-[0-9]{6}\"]",
            );
            return None;
        };
        Some(Self((name.0, pattern.0)))
    }
}

/// From 0 to 100; a fraction up to 1 is taken for one.
struct Percent(u8);

impl Read for Percent {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        match value.as_f64() {
            Some(share) if (0.0..=1.0).contains(&share) && value.is_f64() => {
                Some(Self((share * 100.0).round() as u8))
            }
            Some(percent) if (0.0..=100.0).contains(&percent) => Some(Self(percent.round() as u8)),
            _ => {
                problems.add(path, "expected a confidence: a number from 0 to 100");
                None
            }
        }
    }
}
