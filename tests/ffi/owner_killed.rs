//! The promise, kept for a program in C: killed with -9, its children end; another owner's live.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::needs;
use crate::support::Process;
use crate::workshop::Workshop;

/// An owner that has said the numbers of its children.
struct Owner {
    child: Child,
    children: Vec<Process>,
}

impl Owner {
    fn start(workshop: &Workshop, program: &str, children: usize) -> Owner {
        let mut command = workshop.command(workshop.path().join(program));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("an owner");
        let mut owner = Owner { children: Vec::new(), child };
        let said = BufReader::new(owner.child.stdout.take().expect("piped")).lines().take(children);
        for line in said {
            let pid = line.expect("a line").parse().expect("a number");
            owner.children.push(Process::open(pid).expect("a child that lives"));
        }
        assert_eq!(owner.children.len(), children);
        owner
    }

    fn kill(&mut self) {
        self.child.kill().expect("kill -9");
        self.child.wait().expect("the owner's end");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Their end is the library's business, unless it fails.
        let deadline = Instant::now() + Duration::from_secs(10);
        for child in &self.children {
            if !child.gone_by(deadline) {
                let _ = child.signal(libc::SIGKILL);
            }
        }
    }
}

fn dies_with_its_children(workshop: &Workshop, program: &str, children: usize) {
    let mut owner = Owner::start(workshop, program, children);
    let control = Owner::start(workshop, program, children);
    owner.kill();
    // Three seconds of grace, and one for what is left after it.
    let deadline = Instant::now() + Duration::from_secs(10);
    for child in &owner.children {
        child.assert_gone_by(deadline, "a child of the killed owner");
    }
    for child in &control.children {
        child.assert_alive("a child of the other owner");
    }
}

#[test]
fn children_of_a_killed_c_program_end() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.build("owner");
    dies_with_its_children(&workshop, "owner", 3);
}

#[test]
fn children_of_a_killed_static_program_end() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.shell("cc -static owner.c -o owner $(pkg-config --static --cflags --libs hermes_spawn)");
    dies_with_its_children(&workshop, "owner", 3);
}

#[test]
fn children_stay_owned_when_the_library_is_unloaded() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.shell("cc -Wall -Wextra -Werror plugin.c -o plugin $(pkg-config --cflags hermes_spawn) -ldl");
    dies_with_its_children(&workshop, "plugin", 2);
}
