//! The C programs, which check the library from their side: each function, and whatever a caller can get wrong.

use crate::needs;
use crate::workshop::Workshop;

fn holds(program: &str) {
    let workshop = Workshop::new();
    workshop.build(program);
    assert_eq!(workshop.run(&format!("./{program}")), "all hold\n");
    assert_eq!(workshop.run(&format!("./{program} small-stack")), "all hold\n");
}

#[test]
fn children_are_started_as_asked() {
    needs!("cc", "pkg-config");
    holds("driver");
}

#[test]
fn ends_are_told_and_brought_about() {
    needs!("cc", "pkg-config");
    holds("ends");
}

#[test]
fn groups_of_others_are_taken_over_and_let_go() {
    needs!("cc", "pkg-config");
    holds("groups");
}

#[test]
fn one_thread_is_enough() {
    needs!("cc", "pkg-config");
    holds("single");
}

#[test]
fn misuse_is_refused() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.build("misuse");
    assert_eq!(workshop.run("./misuse"), "all refused\n");
}

#[test]
fn example_reads_and_runs() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.build("example");
    let said = workshop.run("./example");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("the server is process "), "{said}");
    assert_eq!(lines[1..], ["it answers: you said hello", "it ended by signal 15"]);
}
