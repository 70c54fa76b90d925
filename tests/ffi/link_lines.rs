//! The README's lines for linking are the ones that work, with the libraries that rustc asks for.

use crate::library::library;
use crate::needs;
use crate::workshop::Workshop;

const README: &str = include_str!("../../README.md");

/// The lines of the section "Linking from C" that call the compiler: shared library, static library, `-static`.
fn lines() -> [&'static str; 3] {
    let section = README.split("\n## Linking from C\n").nth(1).expect("the section").split("\n## ").next().expect("it");
    let lines: Vec<&str> = section.lines().filter(|line| line.starts_with("cc ")).collect();
    lines.try_into().expect("three lines")
}

/// The libraries of a line, without our own.
fn libraries(line: &str) -> Vec<&str> {
    line.split_whitespace().filter(|word| word.starts_with("-l") && !word.contains("hermes_spawn")).collect()
}

#[test]
fn readme_links_what_rustc_asks_for() {
    needs!("cc", "pkg-config");
    let [shared, with_static, all_static] = lines();
    let asked: Vec<&str> = library().native_libraries.split_whitespace().collect();
    assert_eq!(libraries(with_static), asked);
    let in_static: Vec<&str> = asked.iter().map(|&name| if name == "-lgcc_s" { "-lgcc_eh" } else { name }).collect();
    assert_eq!(libraries(all_static), in_static);
    assert!(all_static.contains(" -static ") && !with_static.contains(" -static "));
    assert!(shared.contains("$(pkg-config --cflags --libs hermes_spawn)"));
    let output = Workshop::new().shell("pkg-config --static --libs-only-l hermes_spawn");
    let of_pkg_config = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(libraries(&of_pkg_config), in_static);
    let version = Workshop::new().shell("pkg-config --modversion hermes_spawn").stdout;
    assert_eq!(String::from_utf8_lossy(&version).trim(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_readmes_example_starts_stops_and_frees() {
    needs!("cc", "pkg-config");
    let section = README.split("\n## Use it from C\n").nth(1).expect("the section");
    let example = section.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let workshop = Workshop::new();
    std::fs::write(workshop.path().join("readme.c"), example).expect("write it");
    workshop.build("readme");
    assert_eq!(workshop.run("./readme"), "", "it ends well and says nothing");
}

#[test]
fn programs_linked_by_the_readme_work() {
    needs!("cc", "pkg-config", "readelf");
    let mut needed = Vec::new();
    for line in lines() {
        let workshop = Workshop::new();
        workshop.shell(line);
        assert_eq!(workshop.run("./driver"), "all hold\n", "{line}");
        let dynamic = workshop.shell("readelf -d -W driver");
        needed.push(String::from_utf8_lossy(&dynamic.stdout).into_owned());
    }
    // The control: they are what they say.
    assert!(needed[0].contains("libhermes_spawn.so.1"));
    assert!(!needed[1].contains("libhermes_spawn") && needed[1].contains("libc.so.6"));
    assert!(!needed[2].contains("NEEDED"));
}
