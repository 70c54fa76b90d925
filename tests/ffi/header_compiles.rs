//! The header is valid C99 and valid C++17, and pedants have nothing to say.

use crate::needs;
use crate::workshop::{STRICT, Workshop};

#[test]
fn header_is_c99() {
    needs!("cc", "pkg-config");
    Workshop::new().shell(&format!("cc {STRICT} -fsyntax-only header.c $(pkg-config --cflags hermes_spawn)"));
}

#[test]
fn header_is_cpp17() {
    needs!("c++", "pkg-config");
    let line = "c++ -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c++ header.c";
    Workshop::new().shell(&format!("{line} $(pkg-config --cflags hermes_spawn)"));
}
