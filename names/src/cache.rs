//! What was found in windows seen before: logs and tables repeat themselves.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use crate::Name;
use crate::known::Window;

/// A window's text, what is known in it and the question asked of it, as 128 bits under a secret
/// key. Texts themselves are not kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u64; 2]);

/// A bounded memory of two generations: what is not asked for while one fills up is forgotten.
pub(crate) struct Cache {
    keys: [RandomState; 2],
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<Key, Arc<[Name]>>,
    old: HashMap<Key, Arc<[Name]>>,
    /// Names in the young generation.
    names: usize,
}

/// Windows in a generation, each with at least the cost of its key.
const MOST_WINDOWS: usize = 16 * 1024;
/// Names in a generation.
const MOST_NAMES: usize = 32 * 1024;

impl Cache {
    pub(crate) fn new() -> Self {
        Self {
            keys: [RandomState::new(), RandomState::new()],
            generations: Mutex::default(),
        }
    }

    /// The key of a window in a text under a question.
    pub(crate) fn key(&self, text: &str, window: &Window<'_>, question: u64) -> Key {
        Key(self.keys.each_ref().map(|key| {
            let mut hasher = key.build_hasher();
            (&text[window.range.clone()], question).hash(&mut hasher);
            // Known ranges may begin before the window.
            let start = window.range.start;
            for known in window.known {
                (known.start.wrapping_sub(start), known.end - start).hash(&mut hasher);
            }
            hasher.finish()
        }))
    }

    /// What was found, by offsets in the window, for those keys that are known.
    pub(crate) fn get(&self, keys: &[Key]) -> Vec<Option<Arc<[Name]>>> {
        let mut generations = self.lock();
        keys.iter().map(|key| generations.get(key)).collect()
    }

    pub(crate) fn insert(&self, found: impl Iterator<Item = (Key, Arc<[Name]>)>) {
        let mut generations = self.lock();
        for (key, names) in found {
            generations.insert(key, names);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        // A thread that panicked cannot have left a half-made entry: each is one insertion.
        self.generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn get(&mut self, key: &Key) -> Option<Arc<[Name]>> {
        if let Some(names) = self.young.get(key) {
            return Some(names.clone());
        }
        let names = self.old.get(key)?.clone();
        self.insert(*key, names.clone());
        Some(names)
    }

    fn insert(&mut self, key: Key, names: Arc<[Name]>) {
        if self.young.len() >= MOST_WINDOWS || self.names >= MOST_NAMES {
            self.old = std::mem::take(&mut self.young);
            self.names = 0;
        }
        self.names += names.len();
        self.young.insert(key, names);
    }
}
