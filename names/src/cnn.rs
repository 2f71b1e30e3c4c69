//! The convolutional model: reading it, and running it over windows of text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use hashbrown::HashMap;
use serde::Deserialize;

use crate::decoder::{Decoder, Entity};
use crate::features::{Features, Lexicon};
use crate::network::{FIELD, Network, Scores, Scratch, WIDTH};
use crate::tensors::Tensors;
use crate::tokenizer::{Rules, Token, Tokenizer};
use crate::{Label, ModelError, Name};

/// The architecture's name in a description.
pub(crate) const ARCHITECTURE: &str = "spacy-cnn";

/// Words remembered within one call; then the memory starts anew.
const MOST_WORDS: usize = 8192;

pub(crate) struct Cnn {
    tokenizer: Tokenizer,
    lexicon: Lexicon,
    network: Network,
    decoder: Decoder,
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
        let Seeds { norm, prefix, suffix, shape } = description.seeds;
        let tensors = Tensors::parse(tensors.0, tensors.1)?;
        Ok(Self {
            tokenizer,
            lexicon: Lexicon::new(
                description.symbols,
                &description.lexeme_norms,
                description.base_norms,
            ),
            network: Network::new(&tensors, [norm, prefix, suffix, shape], decoder.actions())?,
            decoder,
        })
    }

    pub(crate) fn tokens(&self, text: &str) -> Vec<Range<usize>> {
        let mut tokens = Vec::new();
        self.tokenizer.tokenize(text, 0, text.len(), &mut tokens);
        tokens.into_iter().map(|token| token.start..token.end).collect()
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = Label> {
        self.decoder.labels()
    }
}

/// One call's work on one text: what it has learnt of the words so far, and its buffers.
pub(crate) struct Reader<'a> {
    model: &'a Cnn,
    text: &'a str,
    /// The row in `vectors` of a word with the norm that an exception gave it.
    words: HashMap<(&'a str, u16), usize>,
    vectors: Vec<f32>,
    new_words: Vec<Features>,
    tokens: Vec<Token>,
    rows: Vec<f32>,
    scratch: Scratch,
    scores: Scores,
    entities: Vec<Entity>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(model: &'a Cnn, text: &'a str) -> Self {
        Self {
            model,
            text,
            words: HashMap::new(),
            vectors: Vec::new(),
            new_words: Vec::new(),
            tokens: Vec::new(),
            rows: Vec::new(),
            scratch: Scratch::default(),
            scores: Scores::default(),
            entities: Vec::new(),
        }
    }

    /// Calls `found` with the index of a window and each name in it, in order. The windows are
    /// computed together, but none sees another.
    pub(crate) fn read(&mut self, windows: &[Range<usize>], mut found: impl FnMut(usize, Name)) {
        self.tokens.clear();
        let mut ends = Vec::with_capacity(windows.len());
        for window in windows {
            self.model.tokenizer.tokenize(self.text, window.start, window.end, &mut self.tokens);
            ends.push(self.tokens.len());
        }
        let rows = self.look_up_words();
        self.fill_rows(&ends, &rows);
        let network = &self.model.network;
        network.convolve(&mut self.rows, &mut self.scratch);
        network.score_closed(&self.rows, &mut self.scratch, &mut self.scores);

        let (mut first, mut row) = (0, 1 + FIELD);
        for (window, end) in ends.into_iter().enumerate() {
            let tokens = &self.tokens[first..end];
            self.entities.clear();
            self.model.decoder.decode(network, &mut self.scores, row, tokens, &mut self.entities);
            for entity in &self.entities {
                let (start, end) = (tokens[entity.first].start, tokens[entity.end - 1].end);
                found(window, Name { start, end, label: entity.label, score: entity.score });
            }
            first = end;
            row += tokens.len() + FIELD;
        }
    }

    /// The row in `vectors` of each token, after computing those of the words not seen before.
    fn look_up_words(&mut self) -> Vec<usize> {
        if self.words.len() > MOST_WORDS {
            self.words.clear();
            self.vectors.clear();
        }
        let model = self.model;
        let mut rows = Vec::with_capacity(self.tokens.len());
        self.new_words.clear();
        for token in &self.tokens {
            let word = &self.text[token.start..token.end];
            let next = self.words.len();
            let row = *self.words.entry((word, token.norm)).or_insert_with(|| {
                let (classes, norm) = (&model.tokenizer.classes, model.tokenizer.norm(token));
                self.new_words.push(model.lexicon.features(classes, word, norm));
                next
            });
            rows.push(row);
        }
        model.network.encode_words(&self.new_words, &mut self.scratch, &mut self.vectors);
        rows
    }

    /// Lays the words' vectors out with rows of zeros before, between and after the windows, as
    /// many as a token can see, and one more at either end that is never written.
    fn fill_rows(&mut self, ends: &[usize], rows: &[usize]) {
        self.rows.clear();
        self.rows.resize((1 + FIELD) * WIDTH, 0.0);
        let mut first = 0;
        for end in ends {
            for row in &rows[first..*end] {
                self.rows.extend_from_slice(&self.vectors[row * WIDTH..][..WIDTH]);
            }
            self.rows.resize(self.rows.len() + FIELD * WIDTH, 0.0);
            first = *end;
        }
        self.rows.resize(self.rows.len() + WIDTH, 0.0);
    }
}
