//! The Python package's own tests.

use super::run::{command, counted, folder, must_run, turn};
use crate::needs;

#[test]
fn python() {
    needs!("python3");
    let _turn = turn();
    let words = ["python3", "-W", "error::ResourceWarning", "-m", "unittest", "-v"];
    let said = must_run(command(&folder("python"), &words));
    assert!(counted(&said, "Ran ") > 40, "few tests were run:\n{said}");
}
