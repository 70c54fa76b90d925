//! The promise, kept for a program in C: killed with -9, all that it has started ends; another owner's lives.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::needs;
use crate::support::process::{Stat, numbers_in};
use crate::support::{Process, eventually, within};
use crate::workshop::Workshop;

/// Three seconds of grace, one for what is left after it, and time for a busy machine.
const ALL_GONE: Duration = Duration::from_secs(10);

/// An owner that has said the numbers of its children. Everything it starts carries its mark.
struct Owner {
    process: Child,
    mark: String,
    started: u64,
    children: Vec<i32>,
}

impl Owner {
    fn start(workshop: &Workshop, program: &str, name: &str, children: usize) -> Owner {
        let mark = format!("C_OWNER={}/{name}", workshop.path().display());
        let (variable, value) = mark.split_once('=').expect("an equals sign");
        let mut command = workshop.command(workshop.path().join(program));
        command.env(variable, value).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("an owner");
        let started = Stat::of(process.id() as i32).expect("it has not been waited for").start_ticks;
        let said = BufReader::new(process.stdout.take().expect("piped"));
        let mut owner = Owner { process, mark, started, children: Vec::new() };
        owner
            .children
            .extend(said.lines().take(children).map(|line| line.expect("a line").parse::<i32>().expect("it")));
        assert_eq!(owner.children.len(), children);
        owner
    }

    /// Whatever lives and carries the mark, but for the owner. Only what is younger is asked: a stranger's environment
    /// can take for ever to read.
    fn marked(&self) -> Vec<Process> {
        let younger = |pid: &i32| Stat::of(*pid).is_some_and(|stat| stat.start_ticks >= self.started && stat.runs());
        let is_marked = |process: &Process| {
            let environment = std::fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|line| line == self.mark.as_bytes())
        };
        let others = numbers_in("/proc").into_iter().filter(|&pid| pid != self.process.id() as i32);
        others.filter(younger).filter_map(Process::open).filter(is_marked).collect()
    }

    fn kill(&mut self) {
        self.process.kill().expect("kill -9");
        self.process.wait().expect("the owner's end");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        // Their end is the library's business, unless it fails.
        if !within(ALL_GONE, || self.marked().is_empty()) {
            self.marked().iter().for_each(|left| drop(left.signal(libc::SIGKILL)));
        }
    }
}

/// `processes`: how many there are at least, with those that the children start.
fn dies_with_its_children(workshop: &Workshop, program: &str, children: usize, processes: usize) {
    let mut owner = Owner::start(workshop, program, "owner", children);
    let control = Owner::start(workshop, program, "control", children);
    for each in [&owner, &control] {
        eventually(ALL_GONE, "all have begun", || each.marked().len() >= processes);
        let marked: Vec<i32> = each.marked().iter().map(|process| process.pid).collect();
        assert!(each.children.iter().all(|child| marked.contains(child)), "{:?} of {marked:?}", each.children);
    }
    owner.kill();
    eventually(ALL_GONE, "nothing of the killed owner's is left", || owner.marked().is_empty());
    assert!(control.marked().len() >= processes, "the other owner's are unharmed");
}

#[test]
fn children_of_a_killed_c_program_end() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.build("owner");
    dies_with_its_children(&workshop, "owner", 3, 6);
}

#[test]
fn children_of_a_killed_static_program_end() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.shell("cc -static owner.c -o owner $(pkg-config --static --cflags --libs hermes_spawn)");
    dies_with_its_children(&workshop, "owner", 3, 6);
}

#[test]
fn children_stay_owned_when_the_library_is_unloaded() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.shell("cc -Wall -Wextra -Werror plugin.c -o plugin $(pkg-config --cflags hermes_spawn) -ldl");
    dies_with_its_children(&workshop, "plugin", 2, 2);
}
