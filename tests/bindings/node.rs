//! The Node package's own tests.

use super::run::{command, counted, folder, installed, must_run, turn};
use crate::{needs, skip};

#[test]
fn node() {
    needs!("node", "npm");
    let _turn = turn();
    let folder = folder("node");
    if !installed(command(&folder, &["npm", "ci", "--silent"])) {
        skip!("koffi cannot be installed: no package registry");
    }
    let said = must_run(command(&folder, &["npm", "test", "--silent"]));
    assert!(counted(&said, "# tests ") > 25, "few tests were run:\n{said}");
    assert_eq!(counted(&said, "# fail "), 0, "{said}");
}
