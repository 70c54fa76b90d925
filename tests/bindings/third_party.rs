//! Programs of others under the library, and type checkers over both packages.

use std::path::Path;

use super::run::{command, counted, folder, installed, must_run, turn};
use crate::{needs, skip};

#[test]
fn third_party() {
    needs!("python3", "node", "npm");
    let _turn = turn();
    let (scripts, place) = (folder("third-party"), Path::new(env!("CARGO_TARGET_TMPDIR")).join("third-party"));
    let place = place.to_str().expect("UTF-8");
    let packages = installed(command(&folder("node"), &["npm", "ci", "--silent"]));
    if !packages || !installed(command(&scripts, &["./install.sh", place])) {
        skip!("programs of others cannot be installed: no package registry");
    }
    let said = must_run(command(&scripts, &["./run.sh", place]));
    assert!(counted(&said, "Ran ") >= 1 && counted(&said, "# tests ") >= 2, "few tests were run:\n{said}");
}
