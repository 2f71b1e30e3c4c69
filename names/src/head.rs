//! The name head: whether a token is part of a person's name, from the network's vector for it and
//! from its letters and its neighbours'.
//!
//! The network was trained on English news and talk; the head, on tool data and on names of some
//! sixty locales. It has a gate: a smaller layer that sees letters alone and tells which tokens can
//! be names at all, so that the network need not be run for the others.

use crate::decoder::Entity;
use crate::kernel::Dense;
use crate::network::WIDTH;
use crate::tensors::Tensors;
use crate::tokenizer::{Classes, LETTER, UPPERCASE, WORD};
use crate::{Label, ModelError};

/// What the letters of one token say: the mean of its n-grams' embeddings.
const LEXICAL: usize = 8;
/// Facts of a token's shape.
const SHAPE: usize = 11;
/// What is known of one token without its context.
pub(crate) const OWN: usize = LEXICAL + SHAPE;
/// Neighbours on either side whose letters count.
pub(crate) const AROUND: usize = 2;
const WIDE: usize = OWN * (2 * AROUND + 1);
const BUCKETS: usize = 1 << 15;
const HIDDEN: usize = 64;
const GATE: usize = 16;
/// The chance from which a token is part of a name.
const LIKELY: f32 = 0.5;
/// The gate's chance below which a token is taken not to be part of a person's name.
const POSSIBLE: f32 = 0.02;
/// Characters of a word that are read.
const LONGEST: usize = 24;

pub(crate) struct Head {
    grams: Vec<f32>,
    gate: Layers,
    head: Layers,
}

/// A hidden layer, cut off at zero, and a linear one.
struct Layers {
    hidden: Dense,
    out: Dense,
}

/// The chance that a token is the first of a name, and that it is a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chances {
    first: f32,
    later: f32,
}

impl Head {
    /// `None` if the model has no head.
    pub(crate) fn new(tensors: &Tensors<'_>) -> Result<Option<Self>, ModelError> {
        if !tensors.contains("lexical.grams") {
            return Ok(None);
        }
        Ok(Some(Self {
            grams: tensors.floats("lexical.grams", &[BUCKETS, LEXICAL])?,
            gate: Layers::new(tensors, "gate", WIDE, GATE, 1)?,
            head: Layers::new(tensors, "head", WIDE + WIDTH, HIDDEN, 3)?,
        }))
    }

    /// What is known of a word without its context; whether it stands apart is added by
    /// [`set_apart`].
    pub(crate) fn own(&self, classes: &Classes, word: &str) -> [f32; OWN] {
        let mut own = [0.0; OWN];
        let (lexical, shape) = own.split_at_mut(LEXICAL);
        let mut count = 0;
        for_each_gram(word, |bucket| {
            count += 1;
            for (sum, x) in lexical
                .iter_mut()
                .zip(&self.grams[bucket * LEXICAL..][..LEXICAL])
            {
                *sum += x;
            }
        });
        lexical.iter_mut().for_each(|sum| *sum /= count as f32);
        shape.copy_from_slice(&shape_of(classes, word));
        own
    }

    /// Whether each row may be part of a name, by letters alone; the first and last [`AROUND`] rows
    /// may not.
    pub(crate) fn gate(&self, owns: &[f32], rows: usize) -> Vec<bool> {
        let inner = rows.saturating_sub(2 * AROUND);
        let out = self.gate.apply(owns, OWN, inner);
        // The logarithm of the odds, which is what the layer gives.
        let least = (POSSIBLE / (1.0 - POSSIBLE)).ln();
        let mut possible = vec![false; rows];
        for (row, out) in out.chunks_exact(self.gate.out.stride()).enumerate() {
            possible[AROUND + row] = out[0] >= least;
        }
        possible
    }

    /// The verdict on tokens, from their [`inputs`](Self::input), one after another.
    pub(crate) fn chances(&self, inputs: &[f32]) -> Vec<Chances> {
        let tokens = inputs.len() / Self::INPUTS;
        self.head
            .apply(inputs, Self::INPUTS, tokens)
            .chunks_exact(self.head.out.stride())
            .map(|scores| {
                let most = scores[..3].iter().copied().fold(f32::MIN, f32::max);
                let [outside, first, later] = [0, 1, 2].map(|i| (scores[i] - most).exp());
                let total = outside + first + later;
                Chances {
                    first: first / total,
                    later: later / total,
                }
            })
            .collect()
    }

    /// Floats that the head reads of a token.
    pub(crate) const INPUTS: usize = WIDE + WIDTH;

    /// Appends what the head reads of a row: those of `owns` around it, and its vector.
    pub(crate) fn input(owns: &[f32], row: usize, vector: &[f32], out: &mut Vec<f32>) {
        out.extend_from_slice(&owns[(row - AROUND) * OWN..][..WIDE]);
        out.extend_from_slice(vector);
    }
}

/// The people among a window's tokens. `chances` are those of the tokens whose distance is 0; the
/// others are none.
pub(crate) fn people(distances: &[u8], chances: &[Chances]) -> Vec<Entity> {
    let mut people: Vec<Entity> = Vec::new();
    let mut chances = chances.iter();
    for (token, distance) in distances.iter().enumerate() {
        let Some(chance) = (if *distance == 0 { chances.next() } else { None }) else {
            continue;
        };
        // Two quotients, each rounded, may add up to a hair more than one.
        let name = (chance.first + chance.later).min(1.0);
        if name < LIKELY {
            continue;
        }
        match people.last_mut() {
            Some(open) if open.end == token && chance.later >= chance.first => {
                open.end = token + 1;
                open.score = open.score.max(name);
            }
            _ => people.push(Entity {
                first: token,
                end: token + 1,
                label: Label::Person,
                score: name,
            }),
        }
    }
    people
}

/// Notes that nothing but white space, or the beginning, is before a token.
pub(crate) fn set_apart(own: &mut [f32], apart: bool) {
    own[LEXICAL + 7] = f32::from(apart);
}

impl Layers {
    fn new(
        tensors: &Tensors<'_>,
        name: &str,
        inputs: usize,
        hidden: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        let linear = |layer: &str, outputs, inputs| {
            let weight = tensors.floats(&format!("{name}.{layer}.weight"), &[outputs, inputs])?;
            let bias = tensors.floats(&format!("{name}.{layer}.bias"), &[outputs])?;
            Ok::<_, ModelError>(Dense::new(inputs, 1, &weight, &bias))
        };
        Ok(Self {
            hidden: linear("hidden", hidden, inputs)?,
            out: linear("out", outputs, hidden)?,
        })
    }

    fn apply(&self, x: &[f32], step: usize, rows: usize) -> Vec<f32> {
        let mut hidden = vec![0.0; rows * self.hidden.stride()];
        self.hidden.apply(x, step, rows, &mut hidden);
        hidden.iter_mut().for_each(|h| *h = h.max(0.0));
        let mut out = vec![0.0; rows * self.out.stride()];
        self.out
            .apply(&hidden, self.hidden.stride(), rows, &mut out);
        out
    }
}

/// Calls `found` with the buckets of the whole word, and of its runs of two to four characters with
/// the marks of its beginning and end.
fn for_each_gram(word: &str, mut found: impl FnMut(usize)) {
    let mut marked = [' '; LONGEST + 2];
    let mut length = 1;
    marked[0] = '<';
    let mut add = |c| {
        marked[length] = c;
        length += 1;
    };
    let short = word
        .char_indices()
        .nth(LONGEST)
        .map_or(word, |(end, _)| &word[..end]);
    if short.is_ascii() {
        let lower = short.bytes().map(|byte| byte.to_ascii_lowercase());
        lower.map(char::from).for_each(&mut add);
    } else {
        // Lower case may have more characters than upper; those read are counted after.
        let lower = short.to_lowercase();
        lower.chars().take(LONGEST).for_each(&mut add);
    }
    marked[length] = '>';
    let marked = &marked[..=length];
    found(bucket(
        marked.iter().fold(START, |hash, c| hash_on(hash, *c)),
    ));
    // A run's hash is that of the run without its last character, and that character.
    let mut hashes = [START; LONGEST + 2];
    for n in 1..=4 {
        for (hash, c) in hashes.iter_mut().zip(&marked[(n - 1).min(marked.len())..]) {
            *hash = hash_on(*hash, *c);
            if n >= 2 {
                found(bucket(*hash));
            }
        }
    }
}

/// FNV-1a over a text in UTF-8: the hash of none of it, and how it goes on with a character.
const START: u32 = 0x811c_9dc5;

fn hash_on(hash: u32, c: char) -> u32 {
    let mut bytes = [0; 4];
    let bytes = c.encode_utf8(&mut bytes).bytes();
    bytes.fold(hash, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn bucket(hash: u32) -> usize {
    hash as usize % BUCKETS
}

fn shape_of(classes: &Classes, word: &str) -> [f32; SHAPE] {
    let is_letter = |c: &char| classes.is(*c, LETTER);
    let is_upper = |c: char| classes.is(c, UPPERCASE);
    let is_plain = |c: char| classes.is(c, WORD) && c != '_';
    let letters = || word.chars().filter(is_letter);
    let mut pairs = word.chars().zip(word.chars().skip(1));
    let length = word.chars().take(20).count();
    [
        word.chars().next().is_some_and(is_upper).into(),
        (letters().nth(1).is_some() && letters().all(is_upper)).into(),
        (letters().next().is_some() && letters().all(char::is_lowercase)).into(),
        word.chars().any(char::is_numeric).into(),
        word.chars()
            .any(|c| !is_plain(c) && !"'’-.".contains(c))
            .into(),
        pairs.any(|(a, b)| a.is_lowercase() && is_upper(b)).into(),
        (length == 1).into(),
        0.0,
        letters().any(|c| c >= '\u{370}').into(),
        (!word.chars().any(is_plain)).into(),
        length as f32 / 10.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_never_above_one() {
        let chances = Chances {
            first: 0.024_814_438,
            later: 0.975_185_63,
        };
        assert!(chances.first + chances.later > 1.0);
        assert_eq!(people(&[0], &[chances])[0].score, 1.0);
    }
}
