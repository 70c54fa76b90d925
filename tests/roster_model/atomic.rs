//! Atomics with the layout of the real ones, whose every operation is one step of the checker.
//!
//! A model thread is a closure that is run again from its start for each of its steps: what it has seen so far is
//! replayed from a log, then one operation is carried out for real and noted, then the thread goes on to the brink of
//! the next one and is left there, by unwinding. So a state of the model is plain data (memory and logs), no stack has
//! to be kept, and two ways that lead to the same data have the same future.

use std::cell::RefCell;
use std::panic::resume_unwind;
pub use std::sync::atomic::Ordering;

/// What an operation gave: whether an exchange succeeded, and the value.
pub type Seen = (bool, u64);

/// Why a closure was left before its end.
pub enum Left {
    /// At the brink of its next operation.
    Paused,
    /// At a wait whose condition does not hold: there is no step to take.
    Blocked,
}

pub struct Script {
    pub log: Vec<Seen>,
    replayed: usize,
    /// This run's one operation was made.
    done: bool,
}

thread_local! {
    static SCRIPT: RefCell<Option<Script>> = const { RefCell::new(None) };
}

/// Begins a run of a closure that has seen `log` so far.
pub fn begin(log: Vec<Seen>) {
    SCRIPT.set(Some(Script { log, replayed: 0, done: false }));
}

/// Ends it: what it has seen now.
pub fn end() -> Vec<Seen> {
    SCRIPT.take().expect("a run").log
}

/// Whether what the closure does now happens for the first time, and not in a replay.
pub fn is_live() -> bool {
    SCRIPT.with_borrow(|script| match script {
        Some(script) => script.replayed == script.log.len() && (script.done || script.log.is_empty()),
        None => false,
    })
}

/// One operation. `None` from `perform`: it cannot be made now.
pub fn step(perform: impl FnOnce() -> Option<Seen>) -> Seen {
    enum Turn {
        Outside,
        Replay(Seen),
        Perform,
        Pause,
    }
    let turn = SCRIPT.with_borrow_mut(|script| match script {
        None => Turn::Outside,
        Some(script) if script.replayed < script.log.len() => {
            script.replayed += 1;
            Turn::Replay(script.log[script.replayed - 1])
        }
        Some(script) if script.done => Turn::Pause,
        Some(_) => Turn::Perform,
    });
    match turn {
        Turn::Replay(seen) => seen,
        Turn::Outside => perform().expect("nothing waits outside a run"),
        // Not a panic: no hook speaks.
        Turn::Pause => resume_unwind(Box::new(Left::Paused)),
        Turn::Perform => {
            let Some(seen) = perform() else { resume_unwind(Box::new(Left::Blocked)) };
            SCRIPT.with_borrow_mut(|script| {
                let script = script.as_mut().expect("a run");
                script.log.push(seen);
                script.replayed += 1;
                script.done = true;
            });
            seen
        }
    }
}

macro_rules! instrumented {
    ($name:ident, $value:ty) => {
        #[repr(transparent)]
        pub struct $name(std::sync::atomic::$name);

        #[allow(dead_code, reason = "not every width uses every operation")]
        impl $name {
            pub fn load(&self, order: Ordering) -> $value {
                step(|| Some((true, self.0.load(order) as u64))).1 as $value
            }
            pub fn store(&self, value: $value, order: Ordering) {
                step(|| {
                    self.0.store(value, order);
                    Some((true, 0))
                });
            }
            pub fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let (exchanged, value) = step(|| {
                    Some(match self.0.compare_exchange(old, new, success, failure) {
                        Ok(value) => (true, value as u64),
                        Err(value) => (false, value as u64),
                    })
                });
                if exchanged { Ok(value as $value) } else { Err(value as $value) }
            }
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                step(|| Some((true, self.0.fetch_max(value, order) as u64))).1 as $value
            }
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                step(|| Some((true, self.0.fetch_or(value, order) as u64))).1 as $value
            }
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                step(|| Some((true, self.0.fetch_add(value, order) as u64))).1 as $value
            }
            /// Past the checker: for whoever looks at a whole state.
            pub fn peek(&self) -> u64 {
                self.0.load(Ordering::Relaxed) as u64
            }
            pub fn poke(&self, value: u64) {
                self.0.store(value as $value, Ordering::Relaxed);
            }
        }
    };
}

instrumented!(AtomicU64, u64);
instrumented!(AtomicU32, u32);
instrumented!(AtomicI32, i32);
instrumented!(AtomicU8, u8);
