//! This repository keeps to its own rule.

use crate::checker::{check_in, repository_root};

#[test]
fn nothing_here_is_started_outside_its_parents_life_without_a_reason() {
    let checked = check_in(&repository_root(), &[]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
}
