//! What a start costs beside the language's own, with the host at 500 MB. The programs measure, and judge by their exit
//! code; by hand they take more rounds.

use super::run::{command, folder, installed, run, turn};
use crate::{needs, skip};

const MEGABYTES: &str = "500";
const ROUNDS: &str = "60";

/// Once more if it was too slow: something else may have had the machine in the meantime.
#[track_caller]
fn keeps_its_limit(language: &str, words: &[&str]) {
    let mut said = String::new();
    for _ in 0..2 {
        let (output, told) = run(&mut command(&folder(language), &[words, &[MEGABYTES, ROUNDS]].concat()));
        assert!(told.contains("ratio "), "{words:?}: {}\n{told}", output.status);
        if output.status.success() {
            return print!("{told}");
        }
        said += &told;
    }
    panic!("{words:?}, twice:\n{said}");
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
