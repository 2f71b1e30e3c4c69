//! Token classifiers of the BERT family, from a folder as Hugging Face's `transformers` writes it:
//! `config.json`, `tokenizer.json`, `model.safetensors`.

mod config;
mod encoder;
mod math;

use std::ops::Range;
use std::path::Path;

use config::Config;
use encoder::{Encoder, Scratch};
use tokenizers::Tokenizer;

use crate::tensors::Tensors;
use crate::{Label, ModelError, Name};

pub(crate) struct Tagger {
    tokenizer: Tokenizer,
    encoder: Encoder,
    classes: Vec<Option<Label>>,
    labels: Vec<Label>,
    /// The marks before and after each sequence.
    before: Vec<u32>,
    after: Vec<u32>,
}

/// Tokens of text in a sequence. Models can read more, but attention takes time in proportion to
/// its square.
const SEQUENCE: usize = 254;

/// Tokens that two sequences of a window share, so that each token has some to either side. A
/// token's verdict is that of the sequence in which it is farther from the edge.
const SHARED: usize = 64;

/// Rows that are computed together, and those of one sequence more.
const ROWS: usize = 256;

/// The chance from which a token is part of a name.
const LIKELY: f32 = 0.5;

/// The tokens of one window, and what is known of each.
struct Tokens {
    ids: Vec<u32>,
    offsets: Vec<(usize, usize)>,
}

impl Tagger {
    /// Reads the three files, whose paths are for errors only.
    pub(crate) fn parse(
        config: (&Path, &[u8]),
        tokenizer: (&Path, &[u8]),
        tensors: (&Path, &[u8]),
    ) -> Result<Self, ModelError> {
        let config = Config::parse(config.0, config.1)?;
        let malformed = |reason: String| ModelError::Malformed {
            file: tokenizer.0.to_owned(),
            format: "tokenizer",
            reason,
        };
        let mut words =
            Tokenizer::from_bytes(tokenizer.1).map_err(|error| malformed(error.to_string()))?;
        words.with_padding(None);
        words
            .with_truncation(None)
            .map_err(|error| malformed(error.to_string()))?;
        let size = words.get_vocab_size(true);
        if size > config.vocabulary {
            return Err(malformed(format!(
                "it has {size} words, the model {}",
                config.vocabulary
            )));
        }
        let marked = words
            .encode("a", true)
            .map_err(|error| malformed(error.to_string()))?;
        let mask = marked.get_special_tokens_mask();
        let marks = |ids: &mut dyn Iterator<Item = (&u32, &u32)>| -> Vec<u32> {
            ids.take_while(|(_, special)| **special == 1)
                .map(|(id, _)| *id)
                .collect()
        };
        let before = marks(&mut marked.get_ids().iter().zip(mask));
        let mut after = marks(&mut marked.get_ids().iter().zip(mask).rev());
        after.reverse();
        let encoder = Encoder::new(&Tensors::parse(tensors.0, tensors.1)?, &config)?;
        if before.len() + after.len() + 2 > encoder.longest() {
            return Err(malformed("more marks than the model has places".to_owned()));
        }
        let mut labels: Vec<_> = config.classes.iter().flatten().copied().collect();
        labels.sort_unstable();
        labels.dedup();
        Ok(Self {
            tokenizer: words,
            encoder,
            classes: config.classes,
            labels,
            before,
            after,
        })
    }

    pub(crate) fn labels(&self) -> &[Label] {
        &self.labels
    }

    pub(crate) fn tokens(&self, text: &str) -> Vec<Range<usize>> {
        let tokens = self.encode(text);
        tokens.offsets.into_iter().map(|(a, b)| a..b).collect()
    }

    /// Calls `found` with the index of a window and each name in it, in order.
    pub(crate) fn read(
        &self,
        text: &str,
        windows: &[Range<usize>],
        mut found: impl FnMut(usize, Name),
    ) {
        let mut work = Work::default();
        let tokens: Vec<_> = windows
            .iter()
            .map(|window| self.encode(&text[window.clone()]))
            .collect();
        let mut chances = Vec::new();
        for tokens in &tokens {
            self.queue(&tokens.ids, &mut work, &mut chances);
        }
        self.compute(&mut work, &mut chances);
        let mut rest = &*chances;
        for (index, (window, tokens)) in windows.iter().zip(&tokens).enumerate() {
            let (own, others) = rest.split_at(tokens.ids.len() * self.classes.len());
            rest = others;
            for name in self.names(&text[window.clone()], &tokens.offsets, own) {
                found(
                    index,
                    Name {
                        start: window.start + name.start,
                        end: window.start + name.end,
                        ..name
                    },
                );
            }
        }
    }

    /// A text that cannot be encoded has no tokens; WordPiece and its like encode every text.
    fn encode(&self, text: &str) -> Tokens {
        match self.tokenizer.encode(text, false) {
            Ok(encoding) => Tokens {
                ids: encoding.get_ids().to_vec(),
                offsets: encoding.get_offsets().to_vec(),
            },
            Err(_) => Tokens {
                ids: Vec::new(),
                offsets: Vec::new(),
            },
        }
    }

    /// Adds a window's tokens to the work, as one or more sequences.
    fn queue(&self, ids: &[u32], work: &mut Work, chances: &mut Vec<f32>) {
        let room = self.encoder.longest() - self.before.len() - self.after.len();
        for (sequence, own) in sequences(ids.len(), SEQUENCE.min(room)) {
            let start = work.tokens.len();
            work.tokens.extend_from_slice(&self.before);
            let shift = work.tokens.len();
            work.wanted
                .push(shift + own.start - sequence.start..shift + own.end - sequence.start);
            work.tokens.extend_from_slice(&ids[sequence]);
            work.tokens.extend_from_slice(&self.after);
            work.sequences.push(start..work.tokens.len());
            if work.tokens.len() >= ROWS {
                self.compute(work, chances);
            }
        }
    }

    fn compute(&self, work: &mut Work, chances: &mut Vec<f32>) {
        work.chances.clear();
        self.encoder.classify(
            &work.tokens,
            &work.sequences,
            &mut work.scratch,
            &mut work.chances,
        );
        let classes = self.classes.len();
        for wanted in work.wanted.drain(..) {
            chances.extend_from_slice(&work.chances[wanted.start * classes..wanted.end * classes]);
        }
        work.tokens.clear();
        work.sequences.clear();
    }

    /// The names in a window, from the chances of its tokens.
    fn names(&self, window: &str, offsets: &[(usize, usize)], chances: &[f32]) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        for (&(start, end), chances) in offsets.iter().zip(chances.chunks(self.classes.len())) {
            let Some((label, score)) = self.likely(chances) else {
                continue;
            };
            // Normalised text may have characters that the window has not.
            if start >= end || window.get(start..end).is_none() {
                continue;
            }
            match names.last_mut() {
                Some(name)
                    if name.label == label
                        && start >= name.end
                        && continues(&window[name.end..start]) =>
                {
                    name.end = end;
                    name.score = name.score.max(score);
                }
                Some(name) if start < name.end => name.end = name.end.max(end),
                _ => names.push(Name {
                    start,
                    end,
                    label,
                    score,
                }),
            }
        }
        widen(window, names)
    }

    /// The label that a token has, if one is likely. Classes of one label count together: given
    /// and family names are both names.
    fn likely(&self, chances: &[f32]) -> Option<(Label, f32)> {
        let mut best: Option<(Label, f32)> = None;
        for label in &self.labels {
            let classes = self.classes.iter().zip(chances);
            let chance: f32 = classes
                .filter(|(class, _)| **class == Some(*label))
                .map(|(_, chance)| chance)
                .sum();
            if chance >= LIKELY && best.is_none_or(|(_, most)| chance > most) {
                best = Some((*label, chance.min(1.0)));
            }
        }
        best
    }
}

/// Sequences that wait to be computed together.
#[derive(Default)]
struct Work {
    tokens: Vec<u32>,
    sequences: Vec<Range<usize>>,
    /// The tokens whose verdict each sequence has.
    wanted: Vec<Range<usize>>,
    scratch: Scratch,
    chances: Vec<f32>,
}

/// The sequences of so many tokens, each of at most `longest`, and the tokens whose verdict each
/// has.
fn sequences(tokens: usize, longest: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let shared = SHARED.min(longest / 2);
    let mut next = (tokens > 0).then_some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let end = tokens.min(start + longest);
        let from = if start == 0 { 0 } else { start + shared / 2 };
        let to = if end == tokens {
            next = None;
            tokens
        } else {
            next = Some(end - shared);
            end - shared + shared / 2
        };
        Some((start..end, from..to))
    })
}

/// Whether what is between two tokens of the same label makes them one name.
fn continues(between: &str) -> bool {
    between.chars().count() <= 2 && between.chars().all(|c| " .'’-".contains(c))
}

/// Names grown to whole words, and joined where they then meet.
fn widen(window: &str, names: Vec<Name>) -> Vec<Name> {
    let mut wide: Vec<Name> = Vec::new();
    for mut name in names {
        let before = window[..name.start].trim_end_matches(char::is_alphanumeric);
        let after = window[name.end..].trim_start_matches(char::is_alphanumeric);
        (name.start, name.end) = (before.len(), window.len() - after.len());
        match wide.last_mut() {
            Some(last) if name.start < last.end => {
                last.end = last.end.max(name.end);
                last.score = last.score.max(name.score);
            }
            _ => wide.push(name),
        }
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_share_tokens_and_each_has_one_verdict() {
        for longest in [2, 7, 100, 254] {
            for tokens in 0..700 {
                let mut verdicts = 0;
                for (sequence, own) in sequences(tokens, longest) {
                    assert!(sequence.len() <= longest && sequence.end <= tokens);
                    assert!(sequence.start <= own.start && own.end <= sequence.end);
                    assert_eq!(own.start, verdicts);
                    verdicts = own.end;
                }
                assert_eq!(verdicts, tokens);
            }
        }
    }
}
