//! A value that one thread makes and another waits for, once.
//!
//! In place of a channel of the standard library, whose code would be a twentieth of all that a C program gets from us.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::lock;

enum State<T> {
    Awaited,
    Made(T),
    /// Taken, or the giver has ended without a value.
    Over,
}

struct Place<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

pub(super) struct Giver<T>(Arc<Place<T>>);
pub(super) struct Taker<T>(Arc<Place<T>>);

pub(super) fn handover<T>() -> (Giver<T>, Taker<T>) {
    let place = Arc::new(Place { state: Mutex::new(State::Awaited), changed: Condvar::new() });
    (Giver(place.clone()), Taker(place))
}

impl<T> Giver<T> {
    pub(super) fn give(self, value: T) {
        *lock(&self.0.state) = State::Made(value);
    }
}

impl<T> Drop for Giver<T> {
    /// With a value or without: nobody is left waiting.
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        if matches!(*state, State::Awaited) {
            *state = State::Over;
        }
        drop(state);
        self.0.changed.notify_all();
    }
}

impl<T> Taker<T> {
    /// Waits for the value. `None`: the giver has ended without one.
    pub(super) fn take(self) -> Option<T> {
        self.take_within(Duration::MAX)
    }

    /// Waits for at most `limit`. `None`: there is no value yet, or never will be.
    pub(super) fn take_within(self, limit: Duration) -> Option<T> {
        let awaited = |state: &mut State<T>| matches!(state, State::Awaited);
        let waited = self.0.changed.wait_timeout_while(lock(&self.0.state), limit, awaited);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Over) {
            State::Made(value) => Some(value),
            State::Awaited | State::Over => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_across() {
        let (giver, taker) = handover();
        std::thread::spawn(move || giver.give(7));
        assert_eq!(taker.take(), Some(7));
    }

    #[test]
    fn a_giver_that_ends_leaves_nobody_waiting() {
        let (giver, taker) = handover::<i32>();
        std::thread::spawn(move || drop(giver));
        assert_eq!(taker.take(), None);
    }

    #[test]
    fn a_limit_is_kept() {
        let (giver, taker) = handover();
        assert_eq!(taker.take_within(Duration::from_millis(1)), None);
        giver.give(7);
    }
}
