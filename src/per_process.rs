//! State that belongs to a process and is never inherited by a forked copy.
//!
//! A copy finds that the state is another process's and makes its own. What it inherited is never freed: the memory is
//! a copy, its locks may be held for ever by threads that the copy does not have, and nothing in it may act on the
//! parent's children.

use crate::sys::memory::{ForkWitness, Leaked};

struct Entry<T> {
    witness: ForkWitness,
    state: T,
}

/// A static of which each process has its own value, made at the first use.
pub(crate) struct PerProcess<T>(Leaked<Entry<T>>);

impl<T: Default + Sync> PerProcess<T> {
    pub(crate) const fn new() -> PerProcess<T> {
        PerProcess(Leaked::new())
    }

    /// This process's value, if it has made one.
    pub(crate) fn known(&self) -> Option<&'static T> {
        let entry = self.0.get()?;
        entry.witness.is_original().then_some(&entry.state)
    }

    /// This process's value.
    pub(crate) fn get(&self) -> &'static T {
        loop {
            let last = self.0.get();
            if let Some(state) = self.known() {
                return state;
            }
            self.0.replace(last, Entry { witness: ForkWitness::new(), state: T::default() });
        }
    }
}
