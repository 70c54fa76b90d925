//! What a start costs beside the language's own, with the host at 500 MB. The programs measure, and judge by their exit
//! code; by hand they take more rounds.

use super::library::library;
use super::run::{command, folder, installed, run, turn};
use crate::{needs, skip};

const MEGABYTES: &str = "500";
const ROUNDS: &str = "60";

/// With the library as it is installed. Again if it was too slow: something else may have had the machine meanwhile.
#[track_caller]
fn keeps_its_limit(language: &str, words: &[&str]) {
    let mut said = String::new();
    for _ in 0..3 {
        let mut program = command(&folder(language), &[words, &[MEGABYTES, ROUNDS]].concat());
        let (output, told) = run(program.env("HERMES_SPAWN_LIBRARY", library().file("libhermes_spawn.so")));
        assert!(told.contains("ratio "), "{words:?}: {}\n{told}", output.status);
        if output.status.success() {
            return print!("{told}");
        }
        said += &told;
    }
    panic!("{words:?}, three times:\n{said}");
}

#[test]
fn python_starts_as_fast_as_popen() {
    needs!("python3");
    let _turn = turn();
    keeps_its_limit("python", &["python3", "speed.py"]);
}

#[test]
fn node_starts_in_half_the_time() {
    needs!("node", "npm");
    let _turn = turn();
    if !installed(command(&folder("node"), &["npm", "ci", "--silent"])) {
        skip!("koffi cannot be installed: no package registry");
    }
    keeps_its_limit("node", &["node", "speed.js"]);
}
