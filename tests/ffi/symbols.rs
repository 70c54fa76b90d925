//! What the shared library shows of itself: `hermes_*` and nothing else, under a name that ends with the ABI's version.

use std::collections::BTreeSet;
use std::process::Command;

use crate::library::{library, must_run};
use crate::{header, needs};

fn read(program: &str, options: &[&str]) -> String {
    let output = must_run(Command::new(program).args(options).arg(library().file("libhermes_spawn.so.1")));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn exports_are_the_functions_of_the_header() {
    needs!("nm");
    let table = read("nm", &["-D", "--defined-only"]);
    let exported: BTreeSet<&str> = table.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let functions = header::functions();
    let declared: BTreeSet<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    assert!(exported.iter().all(|name| name.starts_with("hermes_")), "{exported:?}");
    assert_eq!(exported, declared);
}

#[test]
fn library_is_named_after_its_abi_and_stays_loaded() {
    needs!("readelf");
    let dynamic = read("readelf", &["-d", "-W"]);
    let name = format!("Library soname: [libhermes_spawn.so.{}]", header::defined("HERMES_ABI_VERSION"));
    assert!(dynamic.contains(&name), "{name}:\n{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
    // Nothing but what every program has.
    let needed: Vec<&str> = dynamic.lines().filter(|line| line.contains("(NEEDED)")).collect();
    let usual = |line: &&str| ["libc.so", "libgcc_s.so", "ld-linux"].iter().any(|name| line.contains(name));
    assert!(needed.iter().all(usual), "{needed:?}");
}
