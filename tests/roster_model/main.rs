//! The roster's state machine, checked over all interleavings.
//!
//! The transition code is the real one: `supervisor/roster.rs` is compiled here once more, with atomics whose every
//! operation is a step of the checker (`atomic.rs`). Owner threads, the kernel and the vforked child, supervisors and
//! their deaths are threads of a model (`cast.rs`); the checker (`checker.rs`) tries every order of their steps and
//! looks at the memory after each one (`stage.rs`). The model is sequentially consistent, as the code is: it uses
//! SeqCst everywhere.
//!
//! That the checker can fail is tested too: transitions with the mistakes that this design avoids (`mutants.rs`) are
//! found out.

mod atomic;
mod cast;
mod checker;
mod mutants;
#[allow(dead_code, unreachable_pub, missing_docs, reason = "what the transitions do not need")]
#[path = "../../supervisor/roster.rs"]
mod roster;
mod scenarios;
mod stage;
