//! Running the convolutional model over windows of a text.

use std::iter;
use std::ops::Range;

use hashbrown::HashMap;

use crate::cnn::Cnn;
use crate::decoder::Entity;
use crate::head::{self, Head, OWN};
use crate::known::Window;
use crate::network::{FIELD, Scores, Scratch, WIDTH, WORD};
use crate::tokenizer::{Split, Token};
use crate::{Label, Name};

/// Words remembered within one call; then the memory starts anew.
const MOST_WORDS: usize = 8192;

/// Those of them of which the network knows something: 4 KB each.
const MOST_ENCODED: usize = 1024;

/// Tokens on either side of a capital that are read for other kinds than people: "the Bank of
/// England" begins one before and has one without in it.
const NEAR: u8 = 3;

/// What is asked of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The transitions' entities, as spaCy gives them.
    Entities,
    /// People, by the head if the model has one.
    People,
    /// People as before, and the transitions' other entities.
    Everything,
}

/// One call's work on one text: what it has learnt of the words so far, and its buffers.
pub(crate) struct Reader<'a> {
    model: &'a Cnn,
    text: &'a str,
    words: Words<'a>,
    tokens: Vec<Token>,
    layout: Vec<Place>,
    /// The word of each row. There is a row for each token; before, between and after the windows
    /// are as many without a word as a token can see.
    rows: Vec<u32>,
    /// The rows' letters.
    owns: Vec<f32>,
    /// How far from each row the nearest is whose vector is needed.
    distances: Vec<u8>,
    near: Near,
    /// The vectors of the rows at distance 0, one after another.
    vectors: Vec<f32>,
    scratch: Scratch,
    scores: Scores,
    entities: Vec<Entity>,
    /// Whether each window has a token that passed the gate.
    passed: Vec<bool>,
}

/// A window's tokens, and the row of the first.
#[derive(Clone)]
struct Place {
    tokens: Range<usize>,
    row: usize,
}

impl Place {
    fn rows(&self) -> Range<usize> {
        self.row..self.row + self.tokens.len()
    }
}

/// The rows that the network reads, without the gaps between them.
#[derive(Default)]
struct Near {
    /// The place of each row's word in the network's table.
    words: Vec<u32>,
    distances: Vec<u8>,
    /// The rows' vectors.
    x: Vec<f32>,
}

/// The words seen so far; the first is no word at all. What the network makes of a word alone is
/// computed when first needed.
struct Words<'a> {
    /// A word with the norm that an exception gave it.
    index: HashMap<(&'a str, u16), u32>,
    tokens: Vec<Token>,
    /// The letters of each word, if the model has a head.
    owns: Vec<[f32; OWN]>,
    /// Where in `table` each word is; nowhere yet if at 0, but for the first word.
    encoded: Vec<u32>,
    table: Vec<f32>,
}

impl Words<'_> {
    fn new(model: &Cnn) -> Self {
        let none = Token {
            start: 0,
            end: 0,
            norm: 0,
            is_space: true,
        };
        let mut words = Self {
            index: HashMap::new(),
            tokens: vec![none],
            owns: vec![[0.0; OWN]],
            encoded: vec![0],
            table: Vec::new(),
        };
        model.network.encode_absence(&mut words.table);
        words
    }

    /// Forgets what is too much.
    fn limit(&mut self, model: &Cnn) {
        if self.tokens.len() > MOST_WORDS {
            *self = Self::new(model);
        }
        if self.table.len() > MOST_ENCODED * WORD {
            self.table.truncate(WORD);
            self.encoded.fill(0);
        }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(model: &'a Cnn, text: &'a str) -> Self {
        Self {
            model,
            text,
            words: Words::new(model),
            tokens: Vec::new(),
            layout: Vec::new(),
            rows: Vec::new(),
            owns: Vec::new(),
            distances: Vec::new(),
            near: Near::default(),
            vectors: Vec::new(),
            scratch: Scratch::default(),
            scores: Scores::default(),
            entities: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// Calls `found` with the index of a window and each name in it, in order. The windows are
    /// computed together, but none sees another.
    pub(crate) fn read(
        &mut self,
        windows: &[Window<'_>],
        ask: Ask,
        mut found: impl FnMut(usize, Name),
    ) {
        let split = if ask == Ask::Entities {
            Split::Words
        } else {
            Split::Fields
        };
        self.tokenize(windows.iter().map(|window| window.range.clone()), split);
        let head = self.model.head.as_ref().filter(|_| ask != Ask::Entities);
        match head {
            Some(head) => {
                self.fill_owns();
                self.pass_gate(head);
                if ask != Ask::People {
                    self.pass_capitals();
                }
            }
            None => self.want_all(),
        }
        self.leave_out_known(windows);
        spread(&mut self.distances);
        self.encode();
        let entities = head.is_none() || ask != Ask::People;
        if entities {
            let network = &self.model.network;
            network.score_closed(&self.vectors, &mut self.scratch, &mut self.scores);
        }
        let chances = head.map(|head| self.people(head));

        self.passed.clear();
        let mut asked = 0;
        for (window, place) in self.layout.iter().enumerate() {
            let tokens = &self.tokens[place.tokens.clone()];
            let wanted = &self.distances[place.rows()];
            let count = wanted.iter().filter(|distance| **distance == 0).count();
            self.passed.push(count > 0);
            if count == 0 {
                continue;
            }
            self.entities.clear();
            if entities {
                let network = &self.model.network;
                let (scores, out) = (&mut self.scores, &mut self.entities);
                let decoder = &self.model.decoder;
                decoder.decode(network, scores, asked, tokens, wanted, out);
            }
            if let Some(chances) = &chances {
                let people = head::people(wanted, &chances[asked..asked + count]);
                let overlaps =
                    |e: &Entity| people.iter().any(|p| p.first < e.end && e.first < p.end);
                self.entities
                    .retain(|e| e.label != Label::Person && !overlaps(e));
                self.entities.extend(people);
                self.entities.sort_by_key(|entity| entity.first);
            }
            asked += count;
            for entity in &self.entities {
                let (start, end) = (tokens[entity.first].start, tokens[entity.end - 1].end);
                found(
                    window,
                    Name {
                        start,
                        end,
                        label: entity.label,
                        score: entity.score,
                    },
                );
            }
        }
    }

    /// Which of the windows that were read last can have names in them.
    #[cfg(feature = "transformer")]
    pub(crate) fn passed(&self) -> &[bool] {
        &self.passed
    }

    /// The tokens of the whole text and their vectors.
    pub(crate) fn vectors(mut self) -> (Vec<Range<usize>>, Vec<f32>) {
        self.tokenize(iter::once(0..self.text.len()), Split::Fields);
        self.want_all();
        spread(&mut self.distances);
        self.encode();
        let ranges = self.tokens.iter().map(|token| token.start..token.end);
        (ranges.collect(), self.vectors)
    }

    /// Fills the tokens and lays them out in rows.
    fn tokenize(&mut self, windows: impl Iterator<Item = Range<usize>>, split: Split) {
        let (model, words) = (self.model, &mut self.words);
        words.limit(model);
        self.tokens.clear();
        self.layout.clear();
        self.rows.clear();
        self.rows.resize(FIELD, 0);
        for window in windows {
            let (first, row) = (self.tokens.len(), self.rows.len());
            let tokenizer = &model.tokenizer;
            tokenizer.tokenize(self.text, window, split, &mut self.tokens);
            for token in &self.tokens[first..] {
                let word = &self.text[token.start..token.end];
                let new = || {
                    words.tokens.push(*token);
                    words.encoded.push(0);
                    if let Some(head) = &model.head {
                        words.owns.push(head.own(&tokenizer.classes, word));
                    }
                    (words.tokens.len() - 1) as u32
                };
                let index = words.index.entry((word, token.norm));
                self.rows.push(*index.or_insert_with(new));
            }
            self.rows.resize(self.rows.len() + FIELD, 0);
            let tokens = first..self.tokens.len();
            self.layout.push(Place { tokens, row });
        }
    }

    fn fill_owns(&mut self) {
        self.owns.clear();
        for word in &self.rows {
            self.owns
                .extend_from_slice(&self.words.owns[*word as usize]);
        }
        for place in &self.layout {
            let mut before = None;
            for (row, token) in place.rows().zip(&self.tokens[place.tokens.clone()]) {
                let apart = before != Some(token.start);
                head::set_apart(&mut self.owns[row * OWN..][..OWN], apart);
                before = Some(token.end);
            }
        }
    }

    fn want_all(&mut self) {
        self.distances.clear();
        self.distances.resize(self.rows.len(), u8::MAX);
        for place in &self.layout {
            self.distances[place.rows()].fill(0);
        }
    }

    /// Wants the tokens that the gate takes for possible names.
    fn pass_gate(&mut self, head: &Head) {
        let possible = head.gate(&self.owns, self.rows.len());
        self.distances.clear();
        self.distances.resize(self.rows.len(), u8::MAX);
        for row in self.layout.iter().flat_map(Place::rows) {
            if possible[row] {
                self.distances[row] = 0;
            }
        }
    }

    /// Wants those too that are near a token which other kinds of names have: one with a capital, or
    /// with letters of a script that may have none.
    fn pass_capitals(&mut self) {
        let mut near = vec![u8::MAX; self.rows.len()];
        for place in &self.layout {
            for (row, token) in place.rows().zip(&self.tokens[place.tokens.clone()]) {
                let mut word = self.text[token.start..token.end].chars();
                if word.any(|c| c.is_uppercase() || (c >= '\u{370}' && c.is_alphabetic())) {
                    near[row] = 0;
                }
            }
        }
        spread(&mut near);
        for row in self.layout.iter().flat_map(Place::rows) {
            if near[row] <= NEAR {
                self.distances[row] = 0;
            }
        }
    }

    /// Does not want runs of tokens that lie within what is known.
    fn leave_out_known(&mut self, windows: &[Window<'_>]) {
        for (place, window) in self.layout.iter().zip(windows) {
            if window.known.is_empty() {
                continue;
            }
            let tokens = &self.tokens[place.tokens.clone()];
            let mut first = place.row;
            let wanted = &mut self.distances[place.rows()];
            for run in wanted.chunk_by_mut(|a, b| (*a == 0) == (*b == 0)) {
                let of = &tokens[first - place.row..][..run.len()];
                first += run.len();
                if run[0] == 0 && window.knows(&(of[0].start..of[of.len() - 1].end)) {
                    run.fill(u8::MAX);
                }
            }
        }
    }

    /// Computes the vectors of the rows that are wanted.
    fn encode(&mut self) {
        let model = self.model;
        let (words, near) = (&mut self.words, &mut self.near);
        near.words.clear();
        near.distances.clear();
        let mut features = Vec::new();
        let known = words.table.len() / WORD;
        for (word, distance) in self.rows.iter().zip(&self.distances) {
            if usize::from(*distance) > FIELD {
                continue;
            }
            let word = *word as usize;
            if word > 0 && words.encoded[word] == 0 {
                words.encoded[word] = (known + features.len()) as u32;
                let token = &words.tokens[word];
                let text = &self.text[token.start..token.end];
                let norm = model.tokenizer.norm(token);
                let classes = &model.tokenizer.classes;
                features.push(model.lexicon.features(classes, text, norm));
            }
            near.words.push(words.encoded[word]);
            near.distances.push(*distance);
        }
        let (network, scratch) = (&model.network, &mut self.scratch);
        network.encode_words(&features, scratch, &mut words.table);
        let (words, distances) = (&near.words, &near.distances);
        network.convolve(words, distances, &self.words.table, scratch, &mut near.x);
        self.vectors.clear();
        for (x, distance) in near.x.chunks_exact(WIDTH).zip(distances) {
            if *distance == 0 {
                self.vectors.extend_from_slice(x);
            }
        }
    }

    /// The head's chances for the tokens that are wanted, in order.
    fn people(&self, head: &Head) -> Vec<head::Chances> {
        let mut inputs = Vec::new();
        let wanted = (0..self.distances.len()).filter(|row| self.distances[*row] == 0);
        for (row, vector) in wanted.zip(self.vectors.chunks_exact(WIDTH)) {
            Head::input(&self.owns, row, vector, &mut inputs);
        }
        head.chances(&inputs)
    }
}

/// Replaces each number by the distance to the nearest zero.
fn spread(distances: &mut [u8]) {
    for row in 1..distances.len() {
        distances[row] = distances[row].min(distances[row - 1].saturating_add(1));
    }
    for row in (1..distances.len()).rev() {
        distances[row - 1] = distances[row - 1].min(distances[row].saturating_add(1));
    }
}
