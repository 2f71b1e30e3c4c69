//! The numbers in tokens, never used twice by an installation.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Gives out the numbers in tokens, so that an installation never uses one twice.
///
/// Called under the lock of a vault, rarely: once for a block of numbers.
pub trait Numbers: Send + Sync {
    /// Reserves `want` numbers in a row, or more or fewer, but not none.
    ///
    /// # Errors
    ///
    /// When no number can be had; the text says why and what to do.
    fn reserve(&self, category: &str, want: u64) -> Result<Range<u64>, String>;

    /// One past the highest number that this installation may ever have used for a category.
    fn issued_below(&self, category: &str) -> u64;

    /// Takes back numbers that were reserved last and not used.
    fn give_back(&self, category: &str, unused: Range<u64>) {
        let _ = (category, unused);
    }

    /// Categories that this installation has ever numbered.
    fn categories(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<N: Numbers + ?Sized> Numbers for Arc<N> {
    fn reserve(&self, category: &str, want: u64) -> Result<Range<u64>, String> {
        (**self).reserve(category, want)
    }

    fn issued_below(&self, category: &str) -> u64 {
        (**self).issued_below(category)
    }

    fn give_back(&self, category: &str, unused: Range<u64>) {
        (**self).give_back(category, unused);
    }

    fn categories(&self) -> Vec<String> {
        (**self).categories()
    }
}

/// Numbers that are remembered by this process only.
///
/// All below the first count as used: who starts at a random number to stay clear of earlier
/// sessions does not know which numbers those used.
#[derive(Debug, Default)]
pub struct InMemory {
    first: u64,
    next: Mutex<HashMap<String, u64>>,
}

impl InMemory {
    /// Numbers every category from `first` on.
    #[must_use]
    pub fn starting_at(first: u64) -> Self {
        Self {
            first,
            next: Mutex::default(),
        }
    }

    fn next(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Numbers for InMemory {
    fn reserve(&self, category: &str, want: u64) -> Result<Range<u64>, String> {
        let mut next = self.next();
        let start = next.get(category).copied().unwrap_or(self.first);
        let end = start.saturating_add(want.max(1));
        next.insert(category.to_owned(), end);
        Ok(start..end)
    }

    fn issued_below(&self, category: &str) -> u64 {
        self.next().get(category).copied().unwrap_or(self.first)
    }

    fn give_back(&self, category: &str, unused: Range<u64>) {
        let mut next = self.next();
        if let Some(end) = next.get_mut(category).filter(|end| **end == unused.end) {
            *end = unused.start;
        }
    }
}
