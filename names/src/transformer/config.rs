//! `config.json`, as Hugging Face's `transformers` writes it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::{Label, ModelError};

/// The families whose token classifiers are run, as errors tell them.
const FAMILIES: &str = "bert, roberta, xlm-roberta, camembert, distilbert";

/// What the architecture is, and which label each of its classes is.
pub(super) struct Config {
    pub(super) family: Family,
    pub(super) vocabulary: usize,
    pub(super) width: usize,
    pub(super) inner: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) positions: usize,
    /// The position of a sequence's first token.
    pub(super) first_position: usize,
    pub(super) types: usize,
    pub(super) epsilon: f32,
    /// For each class the label it stands for; none for those that are not looked for.
    pub(super) classes: Vec<Option<Label>>,
}

/// How the tensors are called, which is all that tells the families apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Bert,
    Roberta,
    Distilbert,
}

#[derive(Deserialize)]
struct File {
    model_type: String,
    vocab_size: usize,
    #[serde(alias = "dim")]
    hidden_size: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(default = "usual_epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    pad_token_id: usize,
    #[serde(alias = "activation", default = "gelu")]
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    #[serde(default)]
    id2label: BTreeMap<usize, String>,
}

fn usual_epsilon() -> f32 {
    1e-12
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

/// The largest sizes that are believed; the largest known models stay far below.
const MOST: usize = 1 << 20;

impl Config {
    pub(super) fn parse(file: &Path, bytes: &[u8]) -> Result<Self, ModelError> {
        let malformed = |reason: String| ModelError::Malformed {
            file: file.to_owned(),
            format: "model configuration",
            reason,
        };
        let config: File =
            serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
        let architecture = |found: String, supported| ModelError::Architecture {
            file: file.to_owned(),
            found,
            supported,
        };
        let family = match &*config.model_type {
            "bert" => Family::Bert,
            "roberta" | "xlm-roberta" | "camembert" => Family::Roberta,
            "distilbert" => Family::Distilbert,
            other => return Err(architecture(other.to_owned(), FAMILIES)),
        };
        if config.hidden_act != "gelu" {
            let found = format!("{} with {}", config.model_type, config.hidden_act);
            return Err(architecture(found, "the activation \"gelu\""));
        }
        if config.position_embedding_type != "absolute" {
            let found = format!(
                "{} with {} positions",
                config.model_type, config.position_embedding_type
            );
            return Err(architecture(found, "absolute positions"));
        }
        let first_position = match family {
            Family::Roberta => config.pad_token_id.saturating_add(1),
            _ => 0,
        };
        for (key, size) in [
            ("vocab_size", config.vocab_size),
            ("hidden_size", config.hidden_size),
            ("intermediate_size", config.intermediate_size),
            ("num_hidden_layers", config.num_hidden_layers),
            ("num_attention_heads", config.num_attention_heads),
            ("max_position_embeddings", config.max_position_embeddings),
        ] {
            if !(1..=MOST).contains(&size) {
                return Err(malformed(format!("{key} is {size}")));
            }
        }
        if !config
            .hidden_size
            .is_multiple_of(config.num_attention_heads)
        {
            return Err(malformed(
                "hidden_size is not a multiple of num_attention_heads".to_owned(),
            ));
        }
        // Room for the two marks around a text and a few tokens.
        if config.max_position_embeddings < first_position + 8 {
            return Err(malformed(format!(
                "max_position_embeddings is {}",
                config.max_position_embeddings
            )));
        }
        if !config.id2label.keys().copied().eq(0..config.id2label.len()) {
            return Err(malformed("id2label leaves out a class".to_owned()));
        }
        let classes: Vec<_> = config
            .id2label
            .values()
            .map(|class| Label::of_class(class))
            .collect();
        if classes.iter().all(Option::is_none) {
            return Err(malformed(
                "id2label has no label that is known here".to_owned(),
            ));
        }
        Ok(Self {
            family,
            vocabulary: config.vocab_size,
            width: config.hidden_size,
            inner: config.intermediate_size,
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            positions: config.max_position_embeddings,
            first_position,
            types: config.type_vocab_size,
            epsilon: config.layer_norm_eps,
            classes,
        })
    }
}
