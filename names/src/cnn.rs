//! The convolutional model and its files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;

use crate::decoder::Decoder;
use crate::features::Lexicon;
use crate::head::Head;
use crate::network::Network;
use crate::tensors::Tensors;
use crate::tokenizer::{Rules, Split, Tokenizer};
use crate::{Label, ModelError};

/// The architecture's name in a description.
pub(crate) const ARCHITECTURE: &str = "spacy-cnn";

pub(crate) struct Cnn {
    pub(crate) tokenizer: Tokenizer,
    pub(crate) lexicon: Lexicon,
    pub(crate) network: Network,
    pub(crate) decoder: Decoder,
    pub(crate) head: Option<Head>,
}

/// `model.json`, as `models/export.py` writes it.
#[derive(Deserialize)]
struct Description {
    seeds: Seeds,
    actions: Vec<String>,
    symbols: BTreeMap<String, u64>,
    base_norms: BTreeMap<String, String>,
    lexeme_norms: BTreeMap<u64, String>,
    tokenizer: Rules,
}

#[derive(Deserialize)]
struct Seeds {
    norm: u64,
    prefix: u64,
    suffix: u64,
    shape: u64,
}

impl Cnn {
    /// Reads a description and the tensors beside it; the paths are for errors only.
    pub(crate) fn parse(
        description: (&Path, &[u8]),
        tensors: (&Path, &[u8]),
    ) -> Result<Self, ModelError> {
        let malformed = |format, reason: String| ModelError::Malformed {
            file: description.0.to_owned(),
            format,
            reason,
        };
        let description: Description = serde_json::from_slice(description.1)
            .map_err(|error| malformed("model description", error.to_string()))?;
        let decoder = Decoder::new(&description.actions)
            .map_err(|reason| malformed("model description", reason))?;
        let tokenizer = Tokenizer::new(description.tokenizer)
            .map_err(|reason| malformed("model description", reason))?;
        let Seeds {
            norm,
            prefix,
            suffix,
            shape,
        } = description.seeds;
        let tensors = Tensors::parse(tensors.0, tensors.1)?;
        Ok(Self {
            tokenizer,
            lexicon: Lexicon::new(
                description.symbols,
                &description.lexeme_norms,
                description.base_norms,
            ),
            network: Network::new(&tensors, [norm, prefix, suffix, shape], decoder.actions())?,
            head: Head::new(&tensors)?,
            decoder,
        })
    }

    pub(crate) fn tokens(&self, text: &str) -> Vec<Range<usize>> {
        let mut tokens = Vec::new();
        self.tokenizer
            .tokenize(text, 0..text.len(), Split::Words, &mut tokens);
        tokens
            .into_iter()
            .map(|token| token.start..token.end)
            .collect()
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = Label> {
        self.decoder.labels()
    }
}
