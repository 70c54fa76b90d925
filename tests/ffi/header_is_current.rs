//! `include/hermes_spawn.h` is what cbindgen makes of `src/ffi`.
//!
//! `HERMES_SPAWN_BLESS=1 cargo test --test ffi header` writes it anew.

use std::path::Path;

#[test]
fn header_is_what_the_source_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut builder = cbindgen::Builder::new()
        .with_config(cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml"))
        .with_src(root.join("src/error.rs"));
    let mut sources: Vec<_> =
        std::fs::read_dir(root.join("src/ffi")).expect("src/ffi").map(|entry| entry.expect("entry").path()).collect();
    // The module itself would bring its files in a second time.
    sources.retain(|path| !path.ends_with("mod.rs"));
    sources.sort();
    for source in sources {
        builder = builder.with_src(source);
    }
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
