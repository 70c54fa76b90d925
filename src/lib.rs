//! hermes-spawn: what you start for a task dies with you, however you die.

mod error;

pub use error::{Error, ErrorCode, Result};
