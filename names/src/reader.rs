//! Running the convolutional model over windows of a text.

use std::ops::Range;
use std::slice;

use hashbrown::HashMap;

use crate::cnn::Cnn;
use crate::decoder::Entity;
use crate::head::{self, Head, OWN};
use crate::network::{FIELD, Scores, Scratch, WIDTH};
use crate::tokenizer::{Split, Token};
use crate::{Label, Name};

/// Words remembered within one call; then the memory starts anew.
const MOST_WORDS: usize = 8192;

/// The gate's chance below which a token is taken not to be part of a person's name.
const GATE: f32 = 0.02;

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
    /// The word of each token.
    token_words: Vec<usize>,
    /// A row for each token, with rows of zeros before, between and after the windows, as many as a
    /// token can see, and one more at either end that is never written.
    rows: Vec<f32>,
    /// The rows' letters, laid out likewise.
    owns: Vec<f32>,
    /// How far from each row the nearest is whose vector is needed.
    distances: Vec<u8>,
    scratch: Scratch,
    scores: Scores,
    entities: Vec<Entity>,
    /// Whether each window has a token that passed the gate.
    #[cfg_attr(
        not(feature = "transformer"),
        expect(dead_code, reason = "nobody asks")
    )]
    passed: Vec<bool>,
}

/// The words seen so far. What the network makes of a word alone is computed when first needed.
#[derive(Default)]
struct Words<'a> {
    /// A word with the norm that an exception gave it.
    index: HashMap<(&'a str, u16), usize>,
    tokens: Vec<Token>,
    /// The letters of each word, if the model has a head.
    owns: Vec<[f32; OWN]>,
    /// Where in `vectors` a word's vector is.
    vector: Vec<Option<usize>>,
    vectors: Vec<f32>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(model: &'a Cnn, text: &'a str) -> Self {
        Self {
            model,
            text,
            words: Words::default(),
            tokens: Vec::new(),
            token_words: Vec::new(),
            rows: Vec::new(),
            owns: Vec::new(),
            distances: Vec::new(),
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
        windows: &[Range<usize>],
        ask: Ask,
        mut found: impl FnMut(usize, Name),
    ) {
        let split = if ask == Ask::Entities {
            Split::Words
        } else {
            Split::Fields
        };
        let ends = self.tokenize(windows, split);
        self.passed.clear();
        let head = self.model.head.as_ref().filter(|_| ask != Ask::Entities);
        if head.is_some() {
            self.fill_owns(&ends);
        }
        match head {
            Some(head) if ask == Ask::People => self.pass_gate(head, &ends),
            Some(head) => self.pass_both_gates(head, &ends),
            None => self.want_all(&ends),
        }
        self.encode(&ends);
        let entities = head.is_none() || ask != Ask::People;
        if entities {
            let network = &self.model.network;
            network.score_closed(&self.rows, &mut self.scratch, &mut self.scores);
        }
        let chances = head.map(|head| self.people(head));

        let (mut first, mut row, mut asked) = (0, 1 + FIELD, 0);
        for (window, end) in ends.into_iter().enumerate() {
            let tokens = &self.tokens[first..end];
            let wanted = &self.distances[row..][..tokens.len()];
            self.passed.push(wanted.contains(&0));
            self.entities.clear();
            if entities {
                let network = &self.model.network;
                let scores = &mut self.scores;
                self.model
                    .decoder
                    .decode(network, scores, row, tokens, wanted, &mut self.entities);
            }
            if let Some(chances) = &chances {
                let count = wanted.iter().filter(|distance| **distance == 0).count();
                let people = head::people(wanted, &chances[asked..asked + count]);
                asked += count;
                let overlaps =
                    |e: &Entity| people.iter().any(|p| p.first < e.end && e.first < p.end);
                self.entities
                    .retain(|e| e.label != Label::Person && !overlaps(e));
                self.entities.extend(people);
                self.entities.sort_by_key(|entity| entity.first);
            }
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
            first = end;
            row += tokens.len() + FIELD;
        }
    }

    /// Which of the windows that were read last can have names in them.
    #[cfg(feature = "transformer")]
    pub(crate) fn passed(&self) -> &[bool] {
        &self.passed
    }

    /// The tokens of the whole text and their vectors.
    pub(crate) fn vectors(mut self) -> (Vec<Range<usize>>, Vec<f32>) {
        let ends = self.tokenize(slice::from_ref(&(0..self.text.len())), Split::Fields);
        self.want_all(&ends);
        self.encode(&ends);
        let ranges = self
            .tokens
            .iter()
            .map(|token| token.start..token.end)
            .collect();
        let vectors = &self.rows[(1 + FIELD) * WIDTH..][..self.tokens.len() * WIDTH];
        (ranges, vectors.to_vec())
    }

    /// The number of tokens up to the end of each window.
    fn tokenize(&mut self, windows: &[Range<usize>], split: Split) -> Vec<usize> {
        self.tokens.clear();
        let ends = windows.iter().map(|window| {
            self.model
                .tokenizer
                .tokenize(self.text, window.clone(), split, &mut self.tokens);
            self.tokens.len()
        });
        let ends = ends.collect();
        if self.words.tokens.len() > MOST_WORDS {
            self.words = Words::default();
        }
        self.token_words.clear();
        for token in &self.tokens {
            let word = &self.text[token.start..token.end];
            let words = &mut self.words;
            self.token_words
                .push(*words.index.entry((word, token.norm)).or_insert_with(|| {
                    words.tokens.push(*token);
                    words.vector.push(None);
                    if let Some(head) = &self.model.head {
                        words
                            .owns
                            .push(head.own(&self.model.tokenizer.classes, word));
                    }
                    words.tokens.len() - 1
                }));
        }
        ends
    }

    /// Calls `each` with the row and the index of each token; returns the number of rows.
    fn lay_out(ends: &[usize], mut each: impl FnMut(usize, usize)) -> usize {
        let (mut row, mut token) = (1 + FIELD, 0);
        for end in ends {
            while token < *end {
                each(row, token);
                token += 1;
                row += 1;
            }
            row += FIELD;
        }
        row + 1
    }

    fn fill_owns(&mut self, ends: &[usize]) {
        let rows = Self::lay_out(ends, |_, _| ());
        self.owns.clear();
        self.owns.resize(rows * OWN, 0.0);
        let mut before = 0;
        Self::lay_out(ends, |row, index| {
            let token = &self.tokens[index];
            let own = &mut self.owns[row * OWN..][..OWN];
            own.copy_from_slice(&self.words.owns[self.token_words[index]]);
            head::set_apart(own, index == 0 || token.start != before);
            before = token.end;
        });
    }

    fn want_all(&mut self, ends: &[usize]) {
        self.distances.clear();
        let rows = Self::lay_out(ends, |_, _| ());
        self.distances.resize(rows, u8::MAX);
        Self::lay_out(ends, |row, _| self.distances[row] = 0);
        spread(&mut self.distances);
    }

    /// Wants the tokens that the gate takes for possible names.
    fn pass_gate(&mut self, head: &Head, ends: &[usize]) {
        let rows = self.owns.len() / OWN;
        let chances = head.gate(&self.owns, rows);
        self.distances.clear();
        self.distances.resize(rows, u8::MAX);
        Self::lay_out(ends, |row, _| {
            if chances[row] >= GATE {
                self.distances[row] = 0;
            }
        });
        spread(&mut self.distances);
    }

    /// Wants those too that are near a token which other kinds of names have: one with a capital, or
    /// with letters of a script that may have none.
    fn pass_both_gates(&mut self, head: &Head, ends: &[usize]) {
        self.pass_gate(head, ends);
        let people: Vec<bool> = self.distances.iter().map(|d| *d == 0).collect();
        self.distances.fill(u8::MAX);
        Self::lay_out(ends, |row, index| {
            let token = &self.tokens[index];
            let word = &self.text[token.start..token.end];
            if word
                .chars()
                .any(|c| c.is_uppercase() || (c >= '\u{370}' && c.is_alphabetic()))
            {
                self.distances[row] = 0;
            }
        });
        spread(&mut self.distances);
        let near = std::mem::take(&mut self.distances);
        self.distances.resize(near.len(), u8::MAX);
        Self::lay_out(ends, |row, _| {
            if near[row] <= NEAR || people[row] {
                self.distances[row] = 0;
            }
        });
        spread(&mut self.distances);
    }

    /// Fills the rows that are near enough to be seen, and computes those that are wanted.
    fn encode(&mut self, ends: &[usize]) {
        let model = self.model;
        let words = &mut self.words;
        let seen = |row: usize| usize::from(self.distances[row]) <= FIELD;
        let mut features = Vec::new();
        let mut known = words.vectors.len() / WIDTH;
        Self::lay_out(ends, |row, index| {
            let word = self.token_words[index];
            if seen(row) && words.vector[word].is_none() {
                let token = &words.tokens[word];
                let (text, norm) = (
                    &self.text[token.start..token.end],
                    model.tokenizer.norm(token),
                );
                features.push(model.lexicon.features(&model.tokenizer.classes, text, norm));
                words.vector[word] = Some(known);
                known += 1;
            }
        });
        model
            .network
            .encode_words(&features, &mut self.scratch, &mut words.vectors);
        self.rows.clear();
        self.rows.resize(self.distances.len() * WIDTH, 0.0);
        Self::lay_out(ends, |row, index| {
            if let (true, Some(at)) = (seen(row), words.vector[self.token_words[index]]) {
                let vector = &words.vectors[at * WIDTH..][..WIDTH];
                self.rows[row * WIDTH..][..WIDTH].copy_from_slice(vector);
            }
        });
        model
            .network
            .convolve(&mut self.rows, &self.distances, &mut self.scratch);
    }

    /// The head's chances for the tokens that are wanted, in order.
    fn people(&self, head: &Head) -> Vec<head::Chances> {
        let mut inputs = Vec::new();
        for row in (0..self.distances.len()).filter(|row| self.distances[*row] == 0) {
            Head::input(
                &self.owns,
                row,
                &self.rows[row * WIDTH..][..WIDTH],
                &mut inputs,
            );
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
