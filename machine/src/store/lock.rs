use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic under a lock is harmless: what the lock guards is changed in one step, or after all is
/// checked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
