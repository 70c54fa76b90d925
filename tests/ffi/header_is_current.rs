//! `include/hermes_spawn.h` is what cbindgen makes of `src/ffi`, and says of each function what a caller must know.
//!
//! `HERMES_SPAWN_BLESS=1 cargo test --test ffi header` writes it anew.

use std::path::Path;

use crate::header;

/// In the order in which a reader wants them. One that is forgotten here is missing in the header, and the test that
/// compares it with the exported symbols says so.
const SOURCES: &[&str] = &[
    "error.rs",
    "ffi/call.rs",
    "ffi/record.rs",
    "ffi/text.rs",
    "ffi/handle.rs",
    "ffi/version.rs",
    "ffi/config.rs",
    "ffi/spawn.rs",
    "ffi/child.rs",
    "ffi/groups.rs",
    "ffi/status.rs",
];

#[test]
fn header_is_what_the_source_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(root.join("include/cbindgen.toml")).expect("cbindgen.toml");
    config.after_includes = config.after_includes.map(|text| with_versions(&text));
    let sources = SOURCES.iter().map(|source| root.join("src").join(source));
    let builder = sources.fold(cbindgen::Builder::new().with_config(config), cbindgen::Builder::with_src);
    let mut made = Vec::new();
    builder.generate().expect("cbindgen").write(&mut made);
    let made = without_safety(&String::from_utf8(made).expect("UTF-8"));

    let path = root.join("include/hermes_spawn.h");
    if std::env::var_os("HERMES_SPAWN_BLESS").is_some() {
        std::fs::write(&path, &made).expect("write the header");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == committed,
        "include/hermes_spawn.h is not what src/ffi says; run: HERMES_SPAWN_BLESS=1 cargo test --test ffi header"
    );
}

fn with_versions(text: &str) -> String {
    text.replace("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR"))
        .replace("@MINOR@", env!("CARGO_PKG_VERSION_MINOR"))
        .replace("@PATCH@", env!("CARGO_PKG_VERSION_PATCH"))
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
}

/// Rust's "Safety" sections say what the conventions at the head of the header say already.
fn without_safety(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut skipping = false;
    for line in text.lines() {
        if line == "// # Safety" {
            skipping = true;
            // With the empty comment line before it.
            kept.pop_if(|last| *last == "//");
        }
        skipping &= line.starts_with("//");
        if !skipping {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}

#[test]
fn each_function_says_what_a_caller_must_know() {
    let functions = header::functions();
    assert!(functions.len() >= 20, "{functions:?}");
    for function in functions {
        let told = function.comment.to_lowercase();
        for word in ["memory", "threads", "fork", "errors"] {
            let is_label = |line: &str| line.split(':').next().is_some_and(|labels| labels.contains(word));
            assert!(told.lines().any(is_label), "{} does not speak of {word}:\n{}", function.name, function.comment);
        }
        let has_quantity = ["_ms", "count", "signal,"].iter().any(|word| function.declaration.contains(word));
        let has_units = function.comment.contains("Units: ");
        assert!(has_units || !has_quantity, "{} does not speak of units:\n{}", function.name, function.comment);
    }
}
