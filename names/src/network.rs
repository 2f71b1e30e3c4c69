//! The network: from tokens' features to a score for each transition.
//!
//! Hash embeddings are mixed into one vector a token, four convolutions let each token see four
//! neighbours on either side, and two small layers score what a token may be. Words repeat, so what
//! looks at one token alone is computed once for each word: its vector, and its share in the first
//! convolution, which is linear up to there.

use half::f16;

use crate::ModelError;
use crate::features::{Features, hash_rows};
use crate::kernel::{self, Dense, add_normalized};
use crate::tensors::Tensors;

/// The width of a token's vector.
pub(crate) const WIDTH: usize = 96;
/// The tokens on either side that a token's scores depend on: one a convolution.
pub(crate) const FIELD: usize = 4;
const PIECES: usize = 3;
/// What a word adds to one token's first convolution.
const SIDE: usize = PIECES * WIDTH;
/// What is known of a word without its context.
pub(crate) const WORD: usize = WIDTH + 3 * SIDE;
const HIDDEN: usize = 64;
const STATE_PIECES: usize = 2;
const STATE: usize = HIDDEN * STATE_PIECES;

pub(crate) struct Network {
    embeddings: Vec<Embedding>,
    vectors: Option<Vectors>,
    mix: Block,
    /// The first convolution's three parts: for the token before, the token itself, the one after.
    sides: [Dense; 3],
    /// Its normalisation.
    first: Norm,
    /// The others.
    convolutions: Vec<Block>,
    project: Dense,
    /// The state layer when no entity is open, so that only the current token counts.
    closed: Dense,
    /// Its three parts when one is: the current token, the entity's first, the one before.
    open: [Dense; 3],
    score: Dense,
}

/// Three linear maps of which the greatest counts, then normalised.
struct Block {
    maxout: Dense,
    norm: Norm,
}

struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

struct Embedding {
    seed: u64,
    rows: Vec<f16>,
}

/// Word vectors, already projected to the network's width.
struct Vectors {
    keys: Vec<u64>,
    rows: Vec<u32>,
    table: Vec<f16>,
}

impl Network {
    /// `seeds` are those of the norm, prefix, suffix and shape.
    pub(crate) fn new(
        tensors: &Tensors<'_>,
        seeds: [u64; 4],
        actions: usize,
    ) -> Result<Self, ModelError> {
        let mut embeddings = Vec::new();
        for (name, seed) in ["norm", "prefix", "suffix", "shape"].iter().zip(seeds) {
            let rows = tensors.table(&format!("embed.{name}"), WIDTH)?;
            embeddings.push(Embedding { seed, rows });
        }
        let vectors = Vectors::new(tensors)?;
        let inputs = (embeddings.len() + usize::from(vectors.is_some())) * WIDTH;
        let mix = Block::new(tensors, "mix", inputs)?;
        let (weight, bias) = Block::tensors(tensors, "conv.0", 3 * WIDTH)?;
        // Pieces lie one after another, so that the greatest are found without moving any.
        let row = |output: usize| output % WIDTH * PIECES + output / WIDTH;
        let sides = [0, 1, 2].map(|side| {
            let weight = |o: usize, i: usize| weight[(row(o) * 3 + side) * WIDTH + i];
            let bias = |o: usize| if side == 1 { bias[row(o)] } else { 0.0 };
            Dense::wide(WIDTH, SIDE, weight, bias)
        });
        let convolutions = (1..FIELD)
            .map(|layer| Block::new(tensors, &format!("conv.{layer}"), 3 * WIDTH))
            .collect::<Result<_, _>>()?;
        let linear = |name: &str, outputs: usize, inputs: usize| {
            let weight = tensors.floats(&format!("{name}.weight"), &[outputs, inputs])?;
            let bias = tensors.floats(&format!("{name}.bias"), &[outputs])?;
            Ok::<_, ModelError>(Dense::new(inputs, 1, &weight, &bias))
        };

        let state = tensors.floats("lower.weight", &[3 * STATE, HIDDEN])?;
        let [current, first, before] =
            [0, 1, 2].map(|f| &state[f * STATE * HIDDEN..][..STATE * HIDDEN]);
        let bias = tensors.floats("lower.bias", &[STATE])?;
        let absent = tensors.floats("lower.pad", &[3 * STATE])?;
        let closed_bias: Vec<_> = (0..STATE)
            .map(|i| bias[i] + absent[STATE + i] + absent[2 * STATE + i])
            .collect();
        let none = [0.0; STATE];
        Ok(Self {
            embeddings,
            vectors,
            mix,
            sides,
            first: Norm::new(tensors, "conv.0")?,
            convolutions,
            project: linear("project", HIDDEN, WIDTH)?,
            closed: Dense::new(HIDDEN, STATE_PIECES, current, &closed_bias),
            open: [(current, &*bias), (first, &none), (before, &none)]
                .map(|(weight, bias)| Dense::new(HIDDEN, 1, weight, bias)),
            score: linear("upper", actions, HIDDEN)?,
        })
    }

    /// Floats that a word's embeddings have.
    fn mix_inputs(&self) -> usize {
        (self.embeddings.len() + usize::from(self.vectors.is_some())) * WIDTH
    }

    /// Appends to `table` what is known of words without their context, [`WORD`] floats each: the
    /// vector, and what it adds to the first convolution of the token after it, of itself, and of
    /// the token before it.
    pub(crate) fn encode_words(
        &self,
        words: &[Features],
        scratch: &mut Scratch,
        table: &mut Vec<f32>,
    ) {
        let width = self.mix_inputs();
        scratch.inputs.clear();
        scratch.inputs.resize(words.len() * width, 0.0);
        for (word, input) in words.iter().zip(scratch.inputs.chunks_exact_mut(width)) {
            let (parts, _) = input.as_chunks_mut::<WIDTH>();
            for ((embedding, id), part) in
                self.embeddings.iter().zip(word.attributes).zip(&mut *parts)
            {
                embedding.add(id, part);
            }
            if let (Some(vectors), Some(part)) = (&self.vectors, parts.last_mut()) {
                vectors.add(word.orth, part);
            }
        }
        let rows = words.len();
        scratch.outputs.resize(rows * WIDTH, 0.0);
        self.mix
            .maxout
            .apply(&scratch.inputs, width, rows, &mut scratch.outputs);
        scratch.vectors.clear();
        scratch.vectors.resize(rows * WIDTH, 0.0);
        let outputs = &scratch.outputs[..rows * WIDTH];
        self.mix.norm.add(&mut scratch.vectors, outputs);
        self.add_to_table(&scratch.vectors, &mut scratch.outputs, table);
    }

    /// Appends to `table` what stands where there is no word.
    pub(crate) fn encode_absence(&self, table: &mut Vec<f32>) {
        self.add_to_table(&[0.0; WIDTH], &mut Vec::new(), table);
    }

    fn add_to_table(&self, vectors: &[f32], outputs: &mut Vec<f32>, table: &mut Vec<f32>) {
        let rows = vectors.len() / WIDTH;
        let from = table.len();
        table.resize(from + rows * WORD, 0.0);
        let entries = || 0..rows;
        for row in entries() {
            table[from + row * WORD..][..WIDTH].copy_from_slice(&vectors[row * WIDTH..][..WIDTH]);
        }
        outputs.resize(rows * SIDE, 0.0);
        for (side, layer) in self.sides.iter().enumerate() {
            layer.apply(vectors, WIDTH, rows, outputs);
            for row in entries() {
                let at = from + row * WORD + WIDTH + side * SIDE;
                table[at..][..SIDE].copy_from_slice(&outputs[row * SIDE..][..SIDE]);
            }
        }
    }

    /// Writes a vector for each word of `words`, which are places in `table`, and lets those at
    /// distance 0 see their neighbours. `distances` has, for each word, how far the nearest is that
    /// is asked for, up to [`FIELD`]; where it is lower, words before and after are those of the
    /// text.
    ///
    /// A layer computes no more than the layers above it will read, so a lone word costs nine rows'
    /// work, and its neighbours' sums.
    pub(crate) fn convolve(
        &self,
        words: &[u32],
        distances: &[u8],
        table: &[f32],
        scratch: &mut Scratch,
        x: &mut Vec<f32>,
    ) {
        let entry = |row: usize| &table[words[row] as usize * WORD..][..WORD];
        x.clear();
        for row in 0..words.len() {
            x.extend_from_slice(&entry(row)[..WIDTH]);
        }
        let near = |reach: usize| {
            (0..words.len()).filter(move |row| usize::from(distances[*row]) <= reach)
        };
        scratch.outputs.resize(WIDTH, 0.0);
        for row in near(FIELD - 1) {
            let side = |row: usize, side: usize| &entry(row)[WIDTH + side * SIDE..][..SIDE];
            kernel::max_of_sums(
                [side(row - 1, 0), side(row, 1), side(row + 1, 2)],
                &mut scratch.outputs[..WIDTH],
            );
            self.first
                .add(&mut x[row * WIDTH..][..WIDTH], &scratch.outputs[..WIDTH]);
        }
        for (layer, block) in self.convolutions.iter().enumerate() {
            let reach = FIELD - 2 - layer;
            scratch.inputs.clear();
            for row in near(reach) {
                scratch
                    .inputs
                    .extend_from_slice(&x[(row - 1) * WIDTH..(row + 2) * WIDTH]);
            }
            let count = scratch.inputs.len() / (3 * WIDTH);
            scratch.outputs.resize(count * WIDTH, 0.0);
            block
                .maxout
                .apply(&scratch.inputs, 3 * WIDTH, count, &mut scratch.outputs);
            for (row, y) in near(reach).zip(scratch.outputs.chunks_exact(WIDTH)) {
                block.norm.add(&mut x[row * WIDTH..][..WIDTH], y);
            }
        }
    }

    /// The scores of all transitions for each row of `x`, as long as no entity is open.
    pub(crate) fn score_closed(&self, x: &[f32], scratch: &mut Scratch, scores: &mut Scores) {
        let rows = x.len() / WIDTH;
        scores.hidden.resize(rows * HIDDEN, 0.0);
        self.project.apply(x, WIDTH, rows, &mut scores.hidden);
        scratch.outputs.resize(rows * HIDDEN, 0.0);
        self.closed
            .apply(&scores.hidden, HIDDEN, rows, &mut scratch.outputs);
        scores.closed.resize(rows * self.score.stride(), 0.0);
        self.score
            .apply(&scratch.outputs, HIDDEN, rows, &mut scores.closed);
        scores.stride = self.score.stride();
    }

    /// The scores of all transitions for row `current`, an entity being open since row `first`.
    pub(crate) fn score_open<'s>(
        &self,
        scores: &'s mut Scores,
        first: usize,
        current: usize,
    ) -> &'s [f32] {
        let mut state = [0.0; STATE];
        let mut part = [0.0; STATE];
        for (layer, row) in self.open.iter().zip([current, first, current - 1]) {
            layer.apply(
                &scores.hidden[row * HIDDEN..][..HIDDEN],
                HIDDEN,
                1,
                &mut part,
            );
            state
                .iter_mut()
                .zip(&part)
                .for_each(|(sum, part)| *sum += part);
        }
        let (pairs, _) = state.as_chunks::<STATE_PIECES>();
        let best: [f32; HIDDEN] = std::array::from_fn(|i| pairs[i][0].max(pairs[i][1]));
        scores.open.resize(self.score.stride(), 0.0);
        self.score.apply(&best, HIDDEN, 1, &mut scores.open);
        &scores.open
    }
}

/// Buffers that are used again.
#[derive(Default)]
pub(crate) struct Scratch {
    inputs: Vec<f32>,
    outputs: Vec<f32>,
    vectors: Vec<f32>,
}

/// What the decoder asks of a batch of rows.
#[derive(Default)]
pub(crate) struct Scores {
    hidden: Vec<f32>,
    closed: Vec<f32>,
    open: Vec<f32>,
    stride: usize,
}

impl Scores {
    /// The scores of all transitions for a row while no entity is open.
    pub(crate) fn closed(&self, row: usize) -> &[f32] {
        &self.closed[row * self.stride..][..self.stride]
    }
}

impl Block {
    fn new(tensors: &Tensors<'_>, name: &str, inputs: usize) -> Result<Self, ModelError> {
        let (weight, bias) = Self::tensors(tensors, name, inputs)?;
        Ok(Self {
            maxout: Dense::new(inputs, PIECES, &weight, &bias),
            norm: Norm::new(tensors, name)?,
        })
    }

    fn tensors(
        tensors: &Tensors<'_>,
        name: &str,
        inputs: usize,
    ) -> Result<(Vec<f32>, Vec<f32>), ModelError> {
        Ok((
            tensors.floats(&format!("{name}.weight"), &[PIECES * WIDTH, inputs])?,
            tensors.floats(&format!("{name}.bias"), &[PIECES * WIDTH])?,
        ))
    }
}

impl Norm {
    fn new(tensors: &Tensors<'_>, name: &str) -> Result<Self, ModelError> {
        Ok(Self {
            scale: tensors.floats(&format!("{name}.scale"), &[WIDTH])?,
            shift: tensors.floats(&format!("{name}.shift"), &[WIDTH])?,
        })
    }

    fn add(&self, x: &mut [f32], y: &[f32]) {
        add_normalized(x, y, &self.scale, &self.shift);
    }
}

impl Embedding {
    fn add(&self, id: u64, out: &mut [f32; WIDTH]) {
        let rows = (self.rows.len() / WIDTH) as u32;
        for row in hash_rows(id, self.seed) {
            add_row(&self.rows, (row % rows) as usize, out);
        }
    }
}

impl Vectors {
    fn new(tensors: &Tensors<'_>) -> Result<Option<Self>, ModelError> {
        if !tensors.contains("static.table") {
            return Ok(None);
        }
        let table = tensors.table("static.table", WIDTH)?;
        let (keys, rows) = tensors.keys("static.keys", "static.rows", table.len() / WIDTH)?;
        Ok(Some(Self { keys, rows, table }))
    }

    fn add(&self, id: u64, out: &mut [f32; WIDTH]) {
        if let Ok(at) = self.keys.binary_search(&id) {
            add_row(&self.table, self.rows[at] as usize, out);
        }
    }
}

fn add_row(table: &[f16], row: usize, out: &mut [f32; WIDTH]) {
    for (sum, value) in out.iter_mut().zip(&table[row * WIDTH..][..WIDTH]) {
        *sum += value.to_f32();
    }
}
