//! Finds the names of people, organisations and places in text: in the process, on the CPU, without
//! a network connection or another program.
//!
//! ```
//! use cloak_names::{Label, Names};
//!
//! let names = Names::builtin()?;
//! let mut found = Vec::new();
//! names.find("Please ask Marie Curie about it.", &[Label::Person], &mut found);
//! assert_eq!((found[0].start, found[0].end), (11, 22));
//! # Ok::<(), cloak_names::ModelError>(())
//! ```

#![warn(missing_docs)]

mod cnn;
mod decoder;
mod error;
mod features;
mod kernel;
mod label;
mod network;
mod tensors;
mod tokenizer;

use std::path::Path;

use cnn::{Cnn, Reader};
pub use error::ModelError;
pub use label::{Label, UnknownLabel};

/// A name in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Name {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// What it names.
    pub label: Label,
    /// How sure the model is, from 0 to 1. It is not calibrated: good for thresholds, not for odds.
    pub score: f32,
}

/// A model that finds names. Cheap to share by `Arc`; every method can run on many threads at once.
pub struct Names {
    model: Cnn,
}

impl Names {
    /// The model that is part of the program.
    ///
    /// # Errors
    ///
    /// If its files were damaged before the program was built.
    pub fn builtin() -> Result<Self, ModelError> {
        const DESCRIPTION: &[u8] = include_bytes!("../../models/spacy-en-sm/model.json");
        const TENSORS: &[u8] = include_bytes!("../../models/spacy-en-sm/model.safetensors");
        let model = Cnn::parse(
            (Path::new("built-in model.json"), DESCRIPTION),
            (Path::new("built-in model.safetensors"), TENSORS),
        )?;
        Ok(Self { model })
    }

    /// Appends what the model says of a text that it sees whole, as spaCy would: no windows, no
    /// threshold, no correction.
    pub fn find_plain(&self, text: &str, out: &mut Vec<Name>) {
        Reader::new(&self.model, text).read(&[0..text.len()], |found| {
            out.push(Name {
                start: found.start,
                end: found.end,
                label: found.label,
                score: found.score,
            });
        });
    }

    /// The labels that the model can give.
    pub fn labels(&self) -> Vec<Label> {
        self.model.labels().collect()
    }
}
