//! Memory, descriptors, threads and zombies, as Valgrind, the sanitizers and `/proc` see them.

use crate::needs;
use crate::workshop::{SHARED, Workshop};

/// Only what is lost is an error: the blocks of threads that run look "possibly lost" to Valgrind. Not at the end of the
/// program, see `check.h`.
const VALGRIND: &str = "valgrind -q --leak-check=no --show-leak-kinds=definite,indirect \
                        --errors-for-leak-kinds=definite,indirect --error-exitcode=99 --child-silent-after-fork=yes";

fn holds_under_valgrind(program: &str, argument: &str) {
    let workshop = Workshop::new();
    workshop.shell(&format!("cc -g -DUNDER_VALGRIND {program}.c -o {program} {SHARED}"));
    workshop.run(&format!("{VALGRIND} ./{program} {argument}"));
}

/// 4 batches of 25 rounds, since each start takes an emulator much longer: the thousand are the sanitizers' part.
/// An emulator that knows neither vfork nor pidfds: what fails must still say why.
#[test]
fn valgrind_finds_nothing() {
    needs!("cc", "pkg-config", "valgrind");
    for (program, argument) in [("driver", ""), ("ends", ""), ("groups", ""), ("rounds", "25")] {
        holds_under_valgrind(program, argument);
    }
}

/// A round in four is one that fails, and there are four batches: 1,200 real starts.
#[test]
fn sanitizers_find_nothing() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    let with = "$(pkg-config --cflags --libs-only-L hermes_spawn) -l:libhermes_spawn.a";
    for (program, argument) in
        [("driver", ""), ("ends", ""), ("groups", ""), ("single", ""), ("misuse", ""), ("rounds", "400")]
    {
        let options = "-g -fsanitize=address,undefined -fno-sanitize-recover=all";
        let libraries = &crate::library::library().native_libraries;
        workshop.shell(&format!("cc {options} {program}.c -o {program} {with} {libraries}"));
        workshop.run(&format!("ASAN_OPTIONS=detect_leaks=1 ./{program} {argument}"));
    }
}

#[test]
fn thousands_of_rounds_leave_nothing() {
    needs!("cc", "pkg-config");
    let workshop = Workshop::new();
    workshop.build("rounds");
    workshop.run("./rounds 1000");
}
