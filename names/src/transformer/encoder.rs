//! The network: token embeddings, layers of attention and of two dense maps, a classifier.
//!
//! Each sequence sees itself alone, and a row's sums are made in the same order whatever is beside
//! it, so what is computed together changes nothing.

use std::ops::Range;

use half::f16;

use super::config::{Config, Family};
use super::math::{Norm, add_then_normalize, gelu, softmax};
use crate::ModelError;
use crate::kernel::Dense;
use crate::tensors::Tensors;

pub(super) struct Encoder {
    width: usize,
    heads: usize,
    classes: usize,
    first_position: usize,
    words: Vec<f16>,
    /// The position's embedding and that of the first type of token, which all tokens are.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    classifier: Dense,
}

struct Layer {
    /// Queries, keys and values side by side; queries are scaled as attention wants them.
    attend: Dense,
    collect: Dense,
    collected: Norm,
    widen: Dense,
    narrow: Dense,
    narrowed: Norm,
}

/// Buffers that are used again.
#[derive(Default)]
pub(super) struct Scratch {
    rows: Vec<f32>,
    attended: Vec<f32>,
    context: Vec<f32>,
    inner: Vec<f32>,
    outer: Vec<f32>,
    scores: Vec<f32>,
    part: Vec<f32>,
}

/// What tensors are called in a family's files, from `embeddings` on.
struct Naming {
    prefix: &'static str,
    layer: &'static str,
    /// Query, key, value, output, its norm, the two dense maps, their norm.
    parts: [&'static str; 8],
}

const BERT_PARTS: [&str; 8] = [
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
];

impl Naming {
    fn of(family: Family) -> Self {
        match family {
            Family::Bert => Self {
                prefix: "bert",
                layer: "encoder.layer",
                parts: BERT_PARTS,
            },
            Family::Roberta => Self {
                prefix: "roberta",
                layer: "encoder.layer",
                parts: BERT_PARTS,
            },
            Family::Distilbert => Self {
                prefix: "distilbert",
                layer: "transformer.layer",
                parts: [
                    "attention.q_lin",
                    "attention.k_lin",
                    "attention.v_lin",
                    "attention.out_lin",
                    "sa_layer_norm",
                    "ffn.lin1",
                    "ffn.lin2",
                    "output_layer_norm",
                ],
            },
        }
    }
}

impl Encoder {
    pub(super) fn new(tensors: &Tensors<'_>, config: &Config) -> Result<Self, ModelError> {
        let naming = Naming::of(config.family);
        let width = config.width;
        let embedding = |name: &str| format!("{}.embeddings.{name}", naming.prefix);
        let words = tensors.table(&embedding("word_embeddings.weight"), width)?;
        tensors.expect(
            &embedding("word_embeddings.weight"),
            &[config.vocabulary, width],
        )?;
        let mut positions = tensors.floats(
            &embedding("position_embeddings.weight"),
            &[config.positions, width],
        )?;
        if config.types > 0 {
            let name = embedding("token_type_embeddings.weight");
            let types = tensors.floats(&name, &[config.types, width])?;
            for position in positions.chunks_exact_mut(width) {
                position.iter_mut().zip(&types).for_each(|(p, t)| *p += t);
            }
        }
        let norm = |name: &str| {
            Ok::<_, ModelError>(Norm {
                scale: tensors.floats(&format!("{name}.weight"), &[width])?,
                shift: tensors.floats(&format!("{name}.bias"), &[width])?,
                epsilon: config.epsilon,
            })
        };
        let layers = (0..config.layers).map(|layer| {
            let names = naming
                .parts
                .map(|part| format!("{}.{}.{layer}.{part}", naming.prefix, naming.layer));
            let [
                query,
                key,
                value,
                collect,
                collected,
                widen,
                narrow,
                narrowed,
            ] = &names;
            Ok(Layer {
                attend: attend(tensors, [query, key, value], width, config.heads)?,
                collect: linear(tensors, collect, width, width)?,
                collected: norm(collected)?,
                widen: linear(tensors, widen, width, config.inner)?,
                narrow: linear(tensors, narrow, config.inner, width)?,
                narrowed: norm(narrowed)?,
            })
        });
        Ok(Self {
            width,
            heads: config.heads,
            classes: config.classes.len(),
            first_position: config.first_position,
            words,
            positions,
            norm: norm(&embedding("LayerNorm"))?,
            layers: layers.collect::<Result<_, ModelError>>()?,
            classifier: linear(tensors, "classifier", width, config.classes.len())?,
        })
    }

    /// The most tokens a sequence may have, marks included.
    pub(super) fn longest(&self) -> usize {
        self.positions.len() / self.width - self.first_position
    }

    /// Appends to `chances` those of all classes, for each token of each sequence. A token that the
    /// vocabulary lacks counts as the first.
    pub(super) fn classify(
        &self,
        tokens: &[u32],
        sequences: &[Range<usize>],
        scratch: &mut Scratch,
        chances: &mut Vec<f32>,
    ) {
        let rows = tokens.len();
        self.embed(tokens, sequences, scratch);
        for layer in &self.layers {
            let stride = layer.attend.stride();
            resize(&mut scratch.attended, rows * stride);
            layer
                .attend
                .apply(&scratch.rows, self.width, rows, &mut scratch.attended);
            resize(&mut scratch.context, rows * self.width);
            for sequence in sequences {
                self.mix(sequence.clone(), stride, scratch);
            }
            let stride = layer.collect.stride();
            resize(&mut scratch.outer, rows * stride);
            layer
                .collect
                .apply(&scratch.context, self.width, rows, &mut scratch.outer);
            add_then_normalize(&mut scratch.rows, &scratch.outer, stride, &layer.collected);

            let inner = layer.widen.stride();
            resize(&mut scratch.inner, rows * inner);
            layer
                .widen
                .apply(&scratch.rows, self.width, rows, &mut scratch.inner);
            gelu(&mut scratch.inner);
            let stride = layer.narrow.stride();
            resize(&mut scratch.outer, rows * stride);
            layer
                .narrow
                .apply(&scratch.inner, inner, rows, &mut scratch.outer);
            add_then_normalize(&mut scratch.rows, &scratch.outer, stride, &layer.narrowed);
        }
        let stride = self.classifier.stride();
        resize(&mut scratch.outer, rows * stride);
        self.classifier
            .apply(&scratch.rows, self.width, rows, &mut scratch.outer);
        softmax(&mut scratch.outer, stride, self.classes);
        for row in scratch.outer.chunks_exact(stride) {
            chances.extend_from_slice(&row[..self.classes]);
        }
    }

    fn embed(&self, tokens: &[u32], sequences: &[Range<usize>], scratch: &mut Scratch) {
        let width = self.width;
        resize(&mut scratch.outer, tokens.len() * width);
        resize(&mut scratch.rows, tokens.len() * width);
        for sequence in sequences {
            for (place, row) in sequence.clone().enumerate() {
                let position = &self.positions[(self.first_position + place) * width..][..width];
                scratch.outer[row * width..][..width].copy_from_slice(position);
                let word = tokens[row] as usize * width;
                let word = self
                    .words
                    .get(word..word + width)
                    .unwrap_or(&self.words[..width]);
                let out = &mut scratch.rows[row * width..][..width];
                out.iter_mut()
                    .zip(word)
                    .for_each(|(out, word)| *out = word.to_f32());
            }
        }
        add_then_normalize(&mut scratch.rows, &scratch.outer, width, &self.norm);
    }

    /// Attention within one sequence, of which `attended` has the queries, keys and values.
    fn mix(&self, sequence: Range<usize>, stride: usize, scratch: &mut Scratch) {
        let (rows, width) = (sequence.len(), self.width);
        let size = width / self.heads;
        let all = &scratch.attended[sequence.start * stride..sequence.end * stride];
        for head in 0..self.heads {
            let [query, key, value] = [0, 1, 2].map(|part| &all[part * width + head * size..]);
            let scores = Dense::wide(size, rows, |row, i| key[row * stride + i], |_| 0.0);
            let between = scores.stride();
            resize(&mut scratch.scores, rows * between);
            scores.apply(query, stride, rows, &mut scratch.scores);
            softmax(&mut scratch.scores, between, rows);
            let sums = Dense::wide(rows, size, |i, row| value[row * stride + i], |_| 0.0);
            resize(&mut scratch.part, rows * sums.stride());
            sums.apply(&scratch.scores, between, rows, &mut scratch.part);
            for (row, part) in scratch.part.chunks_exact(sums.stride()).enumerate() {
                let at = (sequence.start + row) * width + head * size;
                scratch.context[at..][..size].copy_from_slice(&part[..size]);
            }
        }
    }
}

/// Every float is written before it is read, so old ones may stay.
fn resize(buffer: &mut Vec<f32>, length: usize) {
    buffer.resize(length, 0.0);
}

fn linear(
    tensors: &Tensors<'_>,
    name: &str,
    inputs: usize,
    outputs: usize,
) -> Result<Dense, ModelError> {
    let weight = tensors.floats(&format!("{name}.weight"), &[outputs, inputs])?;
    let bias = tensors.floats(&format!("{name}.bias"), &[outputs])?;
    Ok(Dense::wide(
        inputs,
        outputs,
        |o, i| weight[o * inputs + i],
        |o| bias[o],
    ))
}

/// The three maps of attention as one.
fn attend(
    tensors: &Tensors<'_>,
    names: [&str; 3],
    width: usize,
    heads: usize,
) -> Result<Dense, ModelError> {
    let (mut weight, mut bias) = (Vec::new(), Vec::new());
    for name in names {
        weight.extend(tensors.floats(&format!("{name}.weight"), &[width, width])?);
        bias.extend(tensors.floats(&format!("{name}.bias"), &[width])?);
    }
    let scale = 1.0 / ((width / heads) as f32).sqrt();
    weight[..width * width].iter_mut().for_each(|w| *w *= scale);
    bias[..width].iter_mut().for_each(|b| *b *= scale);
    Ok(Dense::wide(
        width,
        3 * width,
        |o, i| weight[o * width + i],
        |o| bias[o],
    ))
}
