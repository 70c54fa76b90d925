//! What a start costs beside the language's own, with the host at 500 MB. By hand the programs take more rounds, and
//! judge their medians by the limit; here others have the machine too, which can double a median.

use super::library::library;
use super::run::{command, folder, installed, run, turn};
use crate::{needs, skip};

const MEGABYTES: &str = "500";
const ROUNDS: &str = "60";
const ATTEMPTS: usize = 5;
/// A regression by more than this is seen; less cannot be told from what else the machine does.
const TOLERANCE: f64 = 1.10;

/// With the library as it is installed. Judged by what both cost when nothing disturbs them (the 10th percentiles), and
/// again if it was too slow: something else may have had the machine all the while.
#[track_caller]
fn keeps_its_limit(language: &str, words: &[&str]) {
    let mut said = String::new();
    for _ in 0..ATTEMPTS {
        let mut program = command(&folder(language), &[words, &[MEGABYTES, ROUNDS]].concat());
        let (output, told) = run(program.env("HERMES_SPAWN_LIBRARY", library().file("libhermes_spawn.so")));
        let figure = |before| figure(&told, before).unwrap_or_else(|| panic!("{words:?}: {}\n{told}", output.status));
        if figure("undisturbed ") <= figure("to be ") * TOLERANCE {
            return print!("{told}");
        }
        said += &told;
    }
    panic!("{words:?}, {ATTEMPTS} times over its limit by more than a tenth:\n{said}");
}

/// The number that follows these words.
fn figure(told: &str, before: &str) -> Option<f64> {
    told.split(before).nth(1)?.split([',', ' ']).next()?.parse().ok()
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
