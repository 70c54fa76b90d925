//! How much of a program the library is. The figures of the README are what these print.

use std::fs;

use crate::library::library;
use crate::needs;
use crate::workshop::Workshop;

const KIB: u64 = 1024;

#[test]
fn shared_library_is_small() {
    needs!("strip");
    let workshop = Workshop::new();
    fs::copy(library().file("libhermes_spawn.so.1"), workshop.path().join("library")).expect("copy the library");
    let bytes = workshop.stripped_bytes("library");
    println!("libhermes_spawn.so.1, stripped: {} KiB", bytes / KIB);
    assert!(bytes <= 700 * KIB, "{bytes} bytes");
}

/// Against the same program without the library: `-DWITHOUT_LIBRARY` leaves its calls away.
fn growth(line: &str) -> u64 {
    let workshop = Workshop::new();
    let with = format!("$(pkg-config --cflags --libs-only-L hermes_spawn) {line}");
    workshop.shell(&format!("cc -O2 small.c -o with {with}"));
    workshop.shell(&format!("cc -O2 -DWITHOUT_LIBRARY small.c -o without {with}"));
    assert_eq!(workshop.run("./with"), "0\n");
    assert_eq!(workshop.run("./without"), "0\n");
    workshop.stripped_bytes("with") - workshop.stripped_bytes("without")
}

#[test]
fn static_library_makes_a_program_little_larger() {
    needs!("cc", "pkg-config", "strip");
    let libraries = &library().native_libraries;
    let bytes = growth(&format!("-l:libhermes_spawn.a {libraries} -Wl,--gc-sections"));
    println!("a C program with libhermes_spawn.a grows by {} KiB", bytes / KIB);
    assert!(bytes <= 600 * KIB, "{bytes} bytes");
}

/// With glibc inside as well it grows by more, for Rust's library names functions of glibc's resolver that a small C
/// program is without. That part is not ours to shrink; this notices when it or we grow.
#[test]
fn static_program_grows_by_what_glibc_adds() {
    needs!("cc", "pkg-config", "strip");
    let libraries = library().native_libraries.replace("-lgcc_s", "-lgcc_eh");
    let bytes = growth(&format!("-static -l:libhermes_spawn.a {libraries} -Wl,--gc-sections"));
    println!("a C program linked with -static grows by {} KiB", bytes / KIB);
    assert!(bytes <= 900 * KIB, "{bytes} bytes");
}
