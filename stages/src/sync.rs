//! Locks and the pool, in one place so that a model checker can put itself under them.
//!
//! With `--cfg shuttle` they are those of [shuttle](https://docs.rs/shuttle), which plays through
//! the orders in which threads may run: `RUSTFLAGS="--cfg shuttle" cargo test -p cloak-stages --test
//! shuttle`.

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Has `work` done by the pool.
pub(crate) fn on_pool(work: impl FnOnce() + Send + 'static) {
    #[cfg(not(shuttle))]
    rayon::spawn(work);
    #[cfg(shuttle)]
    shuttle::thread::spawn(work);
}
