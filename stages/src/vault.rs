//! Which value is behind which token. The only place where values are kept.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;
use zeroize::Zeroizing;

use crate::detect::{Category, Detectors};
use crate::note::MAX_USED;
pub use crate::numbers::{InMemory, Numbers};
use crate::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use crate::token;

/// Most values that a vault keeps, unless it is told otherwise.
pub const MAX_VALUES: usize = 1_000_000;

/// The fewest and the most numbers that are reserved at a time, for a category.
const BLOCK: (u64, u64) = (64, 4096);

/// Why a value has no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// As many values as it may keep.
    #[error(
        "this session has met {0} different personal values, the most that it may; start a new one"
    )]
    Full(usize),
    /// Nobody gave a number.
    #[error("there is no number for a token of the category {category}: {why}")]
    NoNumber {
        /// The category.
        category: String,
        /// What [`Numbers`] said.
        why: String,
    },
}

/// The values of a session and their tokens: one value has one token, and one token one value.
///
/// A handle; its clones share the values. They are wiped when the last one is dropped, and the
/// numbers that were reserved and not used are given back.
#[derive(Clone)]
pub struct Vault(Arc<Shared>);

struct Shared {
    /// By [`Category::index`]; those that only `numbers` knows follow.
    names: Vec<String>,
    known: HashMap<String, u16>,
    limit: usize,
    hasher: RandomState,
    state: Mutex<State>,
}

struct State {
    numbers: Box<dyn Numbers>,
    names: Vec<String>,
    by_value: HashTable<u32>,
    entries: Vec<Entry>,
    values: Arena,
    issued: Vec<Vec<Block>>,
    /// Which upstreams from the 64th on know a value.
    beyond: HashSet<(u32, u16)>,
}

struct Entry {
    value: Place,
    number: u64,
    /// One bit for each of the first 64 upstreams that returned the value.
    known_to: u64,
    category: u16,
    /// Whether it was a JSON number each time it was seen.
    numeric: bool,
}

/// Numbers in a row: the first of them are in use.
struct Block {
    numbers: Range<u64>,
    entries: Vec<u32>,
}

/// A value's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) category: u16,
    pub(crate) number: u64,
}

/// The tokens that one message got or gave up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    /// The first of them, at most [`MAX_USED`], each once.
    pub(crate) tokens: Vec<Token>,
    /// Uses that came after.
    pub(crate) more: usize,
}

impl Used {
    pub(crate) fn add(&mut self, token: Token) {
        if self.tokens.len() >= MAX_USED {
            self.more += 1;
        } else if !self.tokens.contains(&token) {
            self.tokens.push(token);
        }
    }
}

/// What a token means to this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// It has the value at this place.
    Known(u32),
    /// Some earlier or other session of this installation issued it.
    Stale,
    /// Nobody ever issued it.
    Never,
}

impl Vault {
    /// An empty vault for the categories that `detectors` look for, with room for [`MAX_VALUES`].
    #[must_use]
    pub fn new(detectors: &Detectors, numbers: impl Numbers + 'static) -> Self {
        Self::with_room(detectors, numbers, MAX_VALUES)
    }

    /// An empty vault with room for `limit` values.
    #[must_use]
    pub fn with_room(detectors: &Detectors, numbers: impl Numbers + 'static, limit: usize) -> Self {
        let mut names = Vec::new();
        for category in detectors.categories() {
            if names.len() <= category.index() {
                names.resize(category.index() + 1, String::new());
            }
            names[category.index()] = detectors.name(category).to_owned();
        }
        let mut known = HashMap::new();
        let older = numbers.categories();
        names.extend(older.into_iter().filter(|name| !name.is_empty()));
        for (index, name) in names.iter().enumerate() {
            if let (false, Ok(index)) = (name.is_empty(), u16::try_from(index)) {
                known.entry(name.clone()).or_insert(index);
            }
        }
        Self(Arc::new(Shared {
            known,
            limit: limit.min(u32::MAX as usize),
            hasher: RandomState::new(),
            state: Mutex::new(State {
                numbers: Box::new(numbers),
                issued: names.iter().map(|_| Vec::new()).collect(),
                names: names.clone(),
                by_value: HashTable::new(),
                entries: Vec::new(),
                values: Arena::default(),
                beyond: HashSet::new(),
            }),
            names,
        }))
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state().entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The category of this name, if tokens of it can have been issued.
    pub(crate) fn category(&self, name: &str) -> Option<u16> {
        self.0.known.get(name).copied()
    }

    /// The name of a category.
    pub(crate) fn name(&self, category: u16) -> &str {
        self.0
            .names
            .get(usize::from(category))
            .map_or("UNKNOWN", String::as_str)
    }

    /// Whether nobody holds the lock.
    pub(crate) fn is_free(&self) -> bool {
        !matches!(self.0.state.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Takes the lock. Hold it for no longer than it takes to go through one message.
    pub(crate) fn open(&self) -> Open<'_> {
        Open {
            shared: &self.0,
            state: self.state(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change below is whole before anything can panic.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows how many values there are, and none of them.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault")
            .field("values", &format_args!("*** ({})", self.len()))
            .finish_non_exhaustive()
    }
}

/// A vault under its lock.
pub(crate) struct Open<'a> {
    shared: &'a Shared,
    state: MutexGuard<'a, State>,
}

impl Open<'_> {
    /// The token of `value`, which `upstream` returned, as a JSON number if `numeric`.
    ///
    /// The category counts for a new value only: a known one keeps the token it has.
    pub(crate) fn token(
        &mut self,
        value: &str,
        category: Category,
        upstream: Option<u16>,
        numeric: bool,
    ) -> Result<Token, VaultError> {
        let hash = self.shared.hasher.hash_one(value.as_bytes());
        let state = &mut *self.state;
        let same = |entry: &u32| {
            state.values.text(state.entries[*entry as usize].value) == value.as_bytes()
        };
        let index = match state.by_value.find(hash, same) {
            Some(&index) => {
                state.entries[index as usize].numeric &= numeric;
                index
            }
            None => self.insert(hash, value, category, numeric)?,
        };
        if let Some(upstream) = upstream {
            self.show(index, upstream);
        }
        let entry = &self.state.entries[index as usize];
        Ok(Token {
            category: entry.category,
            number: entry.number,
        })
    }

    fn insert(
        &mut self,
        hash: u64,
        value: &str,
        category: Category,
        numeric: bool,
    ) -> Result<u32, VaultError> {
        let state = &mut *self.state;
        if state.entries.len() >= self.shared.limit {
            return Err(VaultError::Full(self.shared.limit));
        }
        let index = state.entries.len() as u32;
        let number = state.number(category.index(), index)?;
        state.entries.push(Entry {
            value: state.values.push(value.as_bytes()),
            number,
            known_to: 0,
            category: category.index() as u16,
            numeric,
        });
        let (hasher, values, entries) = (&self.shared.hasher, &state.values, &state.entries);
        let rehash = |entry: &u32| hasher.hash_one(values.text(entries[*entry as usize].value));
        state.by_value.insert_unique(hash, index, rehash);
        Ok(index)
    }

    fn show(&mut self, index: u32, upstream: u16) {
        if upstream < 64 {
            self.state.entries[index as usize].known_to |= 1 << upstream;
        } else {
            self.state.beyond.insert((index, upstream));
        }
    }

    /// What the token of this category and number stands for.
    pub(crate) fn look_up(&self, category: u16, number: u64) -> Lookup {
        let blocks = &self.state.issued[usize::from(category)];
        let after = blocks.partition_point(|block| block.numbers.start <= number);
        if let Some(block) = after.checked_sub(1).map(|at| &blocks[at])
            && block.numbers.contains(&number)
        {
            let at = (number - block.numbers.start) as usize;
            return match block.entries.get(at) {
                Some(&entry) => Lookup::Known(entry),
                None => Lookup::Never,
            };
        }
        let name = &self.shared.names[usize::from(category)];
        if number < self.state.numbers.issued_below(name) {
            Lookup::Stale
        } else {
            Lookup::Never
        }
    }

    /// The value at a place that [`look_up`](Self::look_up) gave.
    pub(crate) fn value(&self, entry: u32) -> &str {
        let value = self.state.entries[entry as usize].value;
        std::str::from_utf8(self.state.values.text(value)).unwrap_or_default()
    }

    /// Whether that value was a JSON number each time it was seen.
    pub(crate) fn is_numeric(&self, entry: u32) -> bool {
        self.state.entries[entry as usize].numeric
    }

    /// Whether `upstream` has itself returned that value.
    pub(crate) fn is_known_to(&self, entry: u32, upstream: u16) -> bool {
        if upstream < 64 {
            self.state.entries[entry as usize].known_to >> upstream & 1 == 1
        } else {
            self.state.beyond.contains(&(entry, upstream))
        }
    }

    /// Appends a token as it is written.
    pub(crate) fn write(&self, token: Token, out: &mut Vec<u8>) {
        let name = &self.shared.names[usize::from(token.category)];
        token::write(name, token.number, out);
    }
}

impl State {
    /// The next number of a category, for the value at `entry`.
    fn number(&mut self, category: usize, entry: u32) -> Result<u64, VaultError> {
        let Some(blocks) = self.issued.get_mut(category) else {
            return Err(VaultError::NoNumber {
                category: "UNKNOWN".into(),
                why: "the vault was made for other detectors".into(),
            });
        };
        let used_up =
            |block: &Block| block.numbers.end - block.numbers.start == block.entries.len() as u64;
        if blocks.last().is_none_or(used_up) {
            let want = blocks.last().map_or(BLOCK.0, |last| {
                (2 * (last.numbers.end - last.numbers.start)).clamp(BLOCK.0, BLOCK.1)
            });
            let name = &self.names[category];
            let no_number = |why| VaultError::NoNumber {
                category: name.clone(),
                why,
            };
            let numbers = self.numbers.reserve(name, want).map_err(no_number)?;
            let after = blocks.last().map_or(0, |last| last.numbers.end);
            if numbers.is_empty() || numbers.start < after {
                return Err(no_number("numbers must rise".into()));
            }
            match blocks.last_mut() {
                // One block goes on, so that looking a number up stays a matter of few blocks.
                Some(last) if last.numbers.end == numbers.start => last.numbers.end = numbers.end,
                _ => blocks.push(Block {
                    numbers,
                    entries: Vec::new(),
                }),
            }
        }
        let block = blocks.last_mut().expect("there is a block with room");
        block.entries.push(entry);
        Ok(block.numbers.start + block.entries.len() as u64 - 1)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        for (category, blocks) in self.issued.iter().enumerate() {
            if let Some(last) = blocks.last() {
                let unused = last.numbers.start + last.entries.len() as u64..last.numbers.end;
                if !unused.is_empty() {
                    self.numbers.give_back(&self.names[category], unused);
                }
            }
        }
    }
}

/// Bytes that never move, so that no copy of a value is left behind, and are wiped on drop.
#[derive(Default)]
struct Arena {
    chunks: Vec<Zeroizing<Vec<u8>>>,
}

/// Where a value lies in an [`Arena`].
#[derive(Clone, Copy)]
struct Place {
    chunk: u32,
    start: u32,
    length: u32,
}

impl Arena {
    const CHUNK: usize = 64 << 10;

    fn push(&mut self, value: &[u8]) -> Place {
        let fits = |chunk: &Zeroizing<Vec<u8>>| chunk.capacity() - chunk.len() >= value.len();
        if !self.chunks.last().is_some_and(fits) {
            let size = Self::CHUNK.max(value.len());
            self.chunks.push(Zeroizing::new(Vec::with_capacity(size)));
        }
        let chunk = self.chunks.len() - 1;
        let start = self.chunks[chunk].len();
        self.chunks[chunk].extend_from_slice(value);
        Place {
            chunk: chunk as u32,
            start: start as u32,
            length: value.len() as u32,
        }
    }

    fn text(&self, place: Place) -> &[u8] {
        let start = place.start as usize;
        &self.chunks[place.chunk as usize][start..start + place.length as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Settings;

    fn vault(numbers: impl Numbers + 'static) -> Vault {
        Vault::with_room(
            &Detectors::new(&Settings::default()).unwrap(),
            numbers,
            1000,
        )
    }

    fn token(vault: &Vault, value: &str, upstream: u16, numeric: bool) -> String {
        let mut open = vault.open();
        let token = open
            .token(value, Category::EMAIL, Some(upstream), numeric)
            .unwrap();
        let mut out = Vec::new();
        open.write(token, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_value_one_token() {
        let vault = vault(InMemory::default());
        assert_eq!(token(&vault, "a", 0, false), "[EMAIL_0]");
        assert_eq!(token(&vault, "b", 0, false), "[EMAIL_1]");
        assert_eq!(token(&vault, "a", 1, false), "[EMAIL_0]");
        let open = vault.open();
        let email = vault.category("EMAIL").unwrap();
        assert_eq!(open.look_up(email, 1), Lookup::Known(1));
        assert_eq!(open.value(1), "b");
        assert_eq!(open.look_up(email, 2), Lookup::Never);
        assert!(vault.category("NONSUCH").is_none());
    }

    #[test]
    fn the_first_category_is_kept() {
        let vault = vault(InMemory::default());
        let mut open = vault.open();
        let first = open.token("a", Category::PHONE, None, false).unwrap();
        let again = open.token("a", Category::EMAIL, None, false).unwrap();
        assert_eq!(first, again);
    }

    #[test]
    fn origins_are_a_set_of_any_size() {
        let vault = vault(InMemory::default());
        for upstream in [0, 63, 64, 65535] {
            token(&vault, "a", upstream, false);
        }
        let open = vault.open();
        let known: Vec<_> = (0..=u16::MAX).filter(|n| open.is_known_to(0, *n)).collect();
        assert_eq!(known, [0, 63, 64, 65535]);
    }

    #[test]
    fn numeric_only_if_it_always_was() {
        let vault = vault(InMemory::default());
        token(&vault, "1", 0, true);
        assert!(vault.open().is_numeric(0));
        token(&vault, "1", 0, false);
        token(&vault, "1", 0, true);
        assert!(!vault.open().is_numeric(0));
    }

    #[test]
    fn numbers_are_shared_between_sessions_and_given_back() {
        let numbers = Arc::new(InMemory::default());
        let first = vault(Arc::clone(&numbers));
        for n in 0..100 {
            assert_eq!(
                token(&first, &format!("v{n}"), 0, false),
                format!("[EMAIL_{n}]")
            );
        }
        let second = vault(Arc::clone(&numbers));
        let theirs = token(&second, "v0", 0, false);
        assert_ne!(theirs, "[EMAIL_0]");
        let email = second.category("EMAIL").unwrap();
        assert_eq!(second.open().look_up(email, 5), Lookup::Stale);
        assert_eq!(second.open().look_up(email, 1 << 40), Lookup::Never);
        drop(second);
        // Only what nobody reserved after it can be given back.
        let before = numbers.issued_below("EMAIL");
        drop(vault(Arc::clone(&numbers)));
        assert_eq!(numbers.issued_below("EMAIL"), before);
        drop(first);
        let third = vault(Arc::clone(&numbers));
        token(&third, "w", 0, false);
        token(&third, "x", 0, false);
        drop(third);
        assert_eq!(numbers.issued_below("EMAIL"), before + 2);
    }

    #[test]
    fn numbers_below_a_chosen_start_count_as_used() {
        let vault = vault(InMemory::starting_at(700));
        assert_eq!(token(&vault, "a", 0, false), "[EMAIL_700]");
        let email = vault.category("EMAIL").unwrap();
        assert_eq!(vault.open().look_up(email, 3), Lookup::Stale);
    }

    #[test]
    fn a_full_vault_says_so() {
        let vault = vault(InMemory::default());
        for n in 0..1000 {
            token(&vault, &format!("v{n}"), 0, false);
        }
        let mut open = vault.open();
        assert_eq!(
            open.token("one more", Category::EMAIL, None, false),
            Err(VaultError::Full(1000))
        );
        assert!(open.token("v7", Category::EMAIL, None, false).is_ok());
    }

    #[test]
    fn debug_shows_no_value() {
        let vault = vault(InMemory::default());
        token(&vault, "marie@example.eu", 0, false);
        assert!(!format!("{vault:?}").contains("marie"));
    }

    #[test]
    fn long_values_are_kept_too() {
        let vault = vault(InMemory::default());
        let long = "x".repeat(Arena::CHUNK * 2);
        token(&vault, "a", 0, false);
        token(&vault, &long, 0, false);
        token(&vault, "b", 0, false);
        let open = vault.open();
        assert_eq!((open.value(1), open.value(2)), (long.as_str(), "b"));
    }
}
