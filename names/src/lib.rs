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
//!
//! A text is cut into windows, which are its lines. The model reads windows in batches; what it
//! finds is trimmed, and rejected where it is code. A window's verdict depends on that window
//! alone: threads, batches and what was read before change nothing.

#![warn(missing_docs)]

#[cfg(feature = "transformer")]
mod beside;
mod cache;
mod cnn;
mod decoder;
mod error;
mod features;
mod head;
mod kernel;
mod known;
mod label;
mod network;
mod reader;
mod tensors;
mod tokenizer;
#[cfg(feature = "transformer")]
mod transformer;
mod verdict;
mod window;

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "transformer")]
use beside::Beside;
use cache::{Cache, Key};
use cnn::Cnn;
pub use error::ModelError;
use hashbrown::HashMap;
pub use known::Known;
use known::Window;
pub use label::{Label, UnknownLabel};
use rayon::prelude::*;
use reader::{Ask, Reader};
use serde::Deserialize;
#[cfg(feature = "transformer")]
use transformer::Tagger;

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

/// A model that finds names. Cheap to share by [`Arc`]; every method can run on many threads at
/// once.
pub struct Names {
    model: Model,
    cache: Cache,
}

// There is one of it in a process, so that its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Model {
    Cnn(Cnn),
    #[cfg(feature = "transformer")]
    Transformer {
        tagger: Tagger,
        /// The built-in model, for people. It knows tables and records better than prose, and its
        /// gate tells where there can be names at all.
        beside: Cnn,
    },
}

/// The files of models.
const DESCRIPTION: &str = "model.json";
const CONFIGURATION: &str = "config.json";
const TENSORS: &str = "model.safetensors";
#[cfg(feature = "transformer")]
const TOKENIZER: &str = "tokenizer.json";

/// One call's work on one text, by either kind of model.
enum AnyReader<'a> {
    Cnn(Reader<'a>),
    #[cfg(feature = "transformer")]
    Beside(Beside<'a>),
}

impl<'a> AnyReader<'a> {
    fn new(model: &'a Model, text: &'a str) -> Self {
        match model {
            Model::Cnn(cnn) => Self::Cnn(Reader::new(cnn, text)),
            #[cfg(feature = "transformer")]
            Model::Transformer { tagger, beside } => {
                Self::Beside(Beside::new(tagger, beside, text))
            }
        }
    }

    /// Calls `found` with the index of a window and each name in it, in order. The windows are
    /// computed together, but none sees another.
    fn read(&mut self, windows: &[Window<'_>], ask: Ask, found: impl FnMut(usize, Name)) {
        match self {
            Self::Cnn(reader) => reader.read(windows, ask, found),
            #[cfg(feature = "transformer")]
            Self::Beside(reader) => reader.read(windows, ask, found),
        }
    }
}

/// Bytes of text that are computed together: some hundreds of rows, which the processor's caches
/// hold.
const BATCH: usize = 2048;

/// Bytes of text that one thread takes at a time.
const SHARD: usize = 16 * 1024;

/// The files of the model that is part of the program: `model.json` and `model.safetensors`.
pub const BUILTIN: [&[u8]; 2] = [
    include_bytes!("../../models/spacy-en-sm/model.json"),
    include_bytes!("../../models/spacy-en-sm/model.safetensors"),
];

impl Names {
    /// The model that is part of the program.
    ///
    /// # Errors
    ///
    /// If its files were damaged before the program was built.
    pub fn builtin() -> Result<Self, ModelError> {
        Ok(Self::new(Model::Cnn(builtin()?)))
    }

    /// The model in a folder: `model.json` and `model.safetensors`, as `models/export.py` writes
    /// them; or `config.json`, `tokenizer.json` and `model.safetensors` of a token classifier of the
    /// BERT family, as Hugging Face's `transformers` writes them.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, is damaged, or holds another kind of model. The error names the
    /// file, and the tensor where there is one.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let configuration = folder.join(CONFIGURATION);
        if configuration.is_file() && !folder.join(DESCRIPTION).exists() {
            Self::open_transformer(folder)
        } else {
            Self::open_cnn(folder)
        }
    }

    #[cfg(not(feature = "transformer"))]
    fn open_transformer(folder: &Path) -> Result<Self, ModelError> {
        Err(ModelError::Architecture {
            file: folder.join(CONFIGURATION),
            found: "transformer".to_owned(),
            supported: cnn::ARCHITECTURE,
        })
    }

    #[cfg(feature = "transformer")]
    fn open_transformer(folder: &Path) -> Result<Self, ModelError> {
        let [config, tokenizer, tensors] =
            [CONFIGURATION, TOKENIZER, TENSORS].map(|file| folder.join(file));
        let tagger = Tagger::parse(
            (&config, &read(&config)?),
            (&tokenizer, &read(&tokenizer)?),
            (&tensors, &read(&tensors)?),
        )?;
        let beside = builtin()?;
        Ok(Self::new(Model::Transformer { tagger, beside }))
    }

    fn open_cnn(folder: &Path) -> Result<Self, ModelError> {
        #[derive(Deserialize)]
        struct Header {
            architecture: String,
        }
        let [description, tensors] = [DESCRIPTION, TENSORS].map(|file| folder.join(file));
        let json = read(&description)?;
        let header: Header =
            serde_json::from_slice(&json).map_err(|error| ModelError::Malformed {
                file: description.clone(),
                format: "model description",
                reason: error.to_string(),
            })?;
        if header.architecture != cnn::ARCHITECTURE {
            return Err(ModelError::Architecture {
                file: description,
                found: header.architecture,
                supported: cnn::ARCHITECTURE,
            });
        }
        let model = Cnn::parse((&description, &json), (&tensors, &read(&tensors)?))?;
        Ok(Self::new(Model::Cnn(model)))
    }

    fn new(model: Model) -> Self {
        Self {
            model,
            cache: Cache::new(),
        }
    }

    /// The labels that the model can give.
    pub fn labels(&self) -> Vec<Label> {
        match &self.model {
            Model::Cnn(cnn) => cnn.labels().collect(),
            #[cfg(feature = "transformer")]
            Model::Transformer { tagger, .. } => tagger.labels().to_vec(),
        }
    }

    /// Bytes beyond a name, on either side, that its verdict can depend on, if text is cut at line
    /// ends: the longest window.
    pub fn reach(&self) -> usize {
        window::LONGEST
    }

    /// Appends the names of these kinds in a text, in reading order, none overlapping another.
    pub fn find(&self, text: &str, labels: &[Label], out: &mut Vec<Name>) {
        let mut reader = AnyReader::new(&self.model, text);
        let windows = Known::default().windows(text);
        self.find_in(&mut reader, text, windows, Question::new(labels), out);
    }

    /// As [`find`](Self::find), on all threads of the current rayon pool. The result is the same.
    pub fn find_sharded(&self, text: &str, labels: &[Label], out: &mut Vec<Name>) {
        self.find_unknown(text, labels, Known::default(), out);
    }

    /// As [`find_sharded`](Self::find_sharded), but for names that lie within what is known, or in
    /// lines that are.
    pub fn find_unknown(
        &self,
        text: &str,
        labels: &[Label],
        known: Known<'_>,
        out: &mut Vec<Name>,
    ) {
        let shards: Vec<_> = groups(known.windows(text), SHARD).collect();
        // A reader has learnt words that later shards have too.
        let readers = Mutex::new(Vec::new());
        let lock = || readers.lock().unwrap_or_else(PoisonError::into_inner);
        let question = Question::new(labels);
        let read = |shard: Vec<Window<'_>>| {
            let reader = lock().pop();
            let mut reader = reader.unwrap_or_else(|| AnyReader::new(&self.model, text));
            let mut out = Vec::new();
            self.find_in(&mut reader, text, shard.into_iter(), question, &mut out);
            lock().push(reader);
            out
        };
        let found: Vec<Vec<Name>> = shards.into_par_iter().map(read).collect();
        out.extend(found.into_iter().flatten());
    }

    /// Appends what the model says of a text that it sees whole, as spaCy would: no windows, no
    /// trimming, no rejection.
    pub fn find_plain(&self, text: &str, out: &mut Vec<Name>) {
        let whole = Window {
            range: 0..text.len(),
            known: &[],
        };
        AnyReader::new(&self.model, text).read(&[whole], Ask::Entities, |_, name| out.push(name));
    }

    /// The tokens of a text that the model sees whole.
    pub fn tokens(&self, text: &str) -> Vec<Range<usize>> {
        match &self.model {
            Model::Cnn(cnn) => cnn.tokens(text),
            #[cfg(feature = "transformer")]
            Model::Transformer { tagger, .. } => tagger.tokens(text),
        }
    }

    /// The tokens of a text that the model sees whole, and the vector it has for each in its
    /// context, one after another: what the head is trained on. None if the model has no head.
    pub fn vectors(&self, text: &str) -> Option<(Vec<Range<usize>>, Vec<f32>)> {
        match &self.model {
            Model::Cnn(cnn) => Some(Reader::new(cnn, text).vectors()),
            #[cfg(feature = "transformer")]
            Model::Transformer { .. } => None,
        }
    }

    fn find_in<'k>(
        &self,
        reader: &mut AnyReader<'_>,
        text: &str,
        windows: impl Iterator<Item = Window<'k>>,
        question: Question,
        out: &mut Vec<Name>,
    ) {
        for batch in groups(windows, BATCH) {
            let keys: Vec<_> = batch
                .iter()
                .map(|window| self.cache.key(text, window, question.bits))
                .collect();
            let known = self.cache.get(&keys);
            let read = read_new(reader, text, &batch, &keys, &known, question);
            for ((window, key), known) in batch.iter().zip(&keys).zip(&known) {
                // The window is either known or was read.
                let names = known.as_ref().or_else(|| read.get(key));
                out.extend(names.into_iter().flat_map(|names| &**names).map(|name| {
                    let start = window.range.start;
                    name.moved(|at| start + at)
                }));
            }
            self.cache.insert(read.into_iter());
        }
    }
}

impl Name {
    /// The name elsewhere.
    fn moved(self, to: impl Fn(usize) -> usize) -> Self {
        let (start, end) = (to(self.start), to(self.end));
        Self { start, end, ..self }
    }
}

fn builtin() -> Result<Cnn, ModelError> {
    let [description, tensors] = BUILTIN;
    Cnn::parse(
        (Path::new("built-in model.json"), description),
        (Path::new("built-in model.safetensors"), tensors),
    )
}

fn read(file: &Path) -> Result<Vec<u8>, ModelError> {
    fs::read(file).map_err(|source| ModelError::Unreadable {
        file: file.to_owned(),
        source,
    })
}

/// Reads those windows of a batch that are not known, each text once. Offsets in the result are
/// those in the window.
fn read_new(
    reader: &mut AnyReader<'_>,
    text: &str,
    batch: &[Window<'_>],
    keys: &[Key],
    known: &[Option<Arc<[Name]>>],
    question: Question,
) -> HashMap<Key, Arc<[Name]>> {
    let mut new: HashMap<Key, Arc<[Name]>> = HashMap::new();
    let mut windows = Vec::new();
    let mut window_keys = Vec::new();
    for ((window, key), known) in batch.iter().zip(keys).zip(known) {
        if known.is_none() && new.insert(*key, Arc::default()).is_none() {
            windows.push(window.clone());
            window_keys.push(*key);
        }
    }
    let mut found = vec![Vec::new(); windows.len()];
    let people_only = question.bits == Question::bit(Label::Person);
    let ask = if people_only {
        Ask::People
    } else {
        Ask::Everything
    };
    reader.read(&windows, ask, |index, name| {
        let window = &windows[index].range;
        if question.asks(name.label) {
            let name = name.moved(|at| at - window.start);
            found[index].extend(verdict::judge(&text[window.clone()], name));
        }
    });
    // The others have nothing in them already.
    let found = window_keys.into_iter().zip(found);
    new.extend(
        found
            .filter(|(_, names)| !names.is_empty())
            .map(|(key, names)| (key, names.into())),
    );
    new
}

/// A set of labels.
#[derive(Clone, Copy)]
struct Question {
    bits: u64,
}

impl Question {
    fn new(labels: &[Label]) -> Self {
        Self {
            bits: labels
                .iter()
                .fold(0, |bits, label| bits | Self::bit(*label)),
        }
    }

    fn asks(self, label: Label) -> bool {
        self.bits & Self::bit(label) != 0
    }

    fn bit(label: Label) -> u64 {
        1 << label as u32
    }
}

/// Groups windows until each group has at least so many bytes.
fn groups<'k>(
    mut windows: impl Iterator<Item = Window<'k>>,
    bytes: usize,
) -> impl Iterator<Item = Vec<Window<'k>>> {
    std::iter::from_fn(move || {
        let mut group = Vec::new();
        let mut size = 0;
        while size < bytes {
            let Some(window) = windows.next() else { break };
            size += window.range.len();
            group.push(window);
        }
        if group.is_empty() { None } else { Some(group) }
    })
}
