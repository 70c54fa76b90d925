//! Compiles the supervisor, a program of its own without the standard library, for the library to embed; and tells the
//! linker what the shared library is called.
//!
//! `$RUSTC` is called directly: Cargo builds no second binary for another profile (it is always optimised for size,
//! in a debug build too), and cannot give one program of a package its own linker script.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// Code generation: small, self-contained, at a fixed address, without unwind tables and strings of panics.
const CODE: &[&str] = &[
    "panic=abort",
    "opt-level=z",
    "lto=fat",
    "codegen-units=1",
    "relocation-model=static",
    "force-unwind-tables=no",
    "debug-assertions=no",
    "overflow-checks=no",
    "strip=symbols",
];

/// What makes it smaller still: switches of LLVM's own, which no release of it promises to keep. A compiler that does
/// not know one of them builds a program that does the same and is some hundred bytes longer.
const SMALLER: &[&str] = &[
    // Constants are cheaper written where they are used than kept in a register across a loop.
    "-disable-machine-licm",
    // Sequences that recur become functions.
    "-enable-machine-outliner=always",
    // A caller knows which registers its callee leaves alone, and saves no others.
    "-enable-ipra",
    // A table of addresses is larger than the comparisons it stands for.
    "-min-jump-table-entries=100",
    // No code is written twice to spare a jump or a load.
    "-enable-load-pre=false",
    "-jump-threading-threshold=2",
    "-split-spill-mode=size",
    "-instcombine-code-sinking=false",
];

/// Linking: no C runtime, no library, the segments as `layout.ld` says. Understood by GNU ld and by lld.
const LINK: &[&str] =
    &["-nostartfiles", "-nostdlib", "-static", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,norelro"];

/// The shared library's own name, which ends with the version of its ABI (`HERMES_ABI_VERSION`), and that it stays loaded
/// once it is: keeper and watcher are threads without an end, and `dlclose` would take their code away.
const SHARED_LIBRARY: &[&str] = &["-Wl,-soname,libhermes_spawn.so.1", "-Wl,-z,nodelete"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=supervisor");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");

    let architecture = variable("CARGO_CFG_TARGET_ARCH");
    let system = variable("CARGO_CFG_TARGET_OS");
    if system != "linux" || !["x86_64", "aarch64"].iter().any(|known| architecture == *known) {
        fail(&format!(
            "hermes-spawn works on Linux on x86_64 and aarch64 only, not on {} on {}",
            system.display(),
            architecture.display()
        ));
    }
    SHARED_LIBRARY.iter().for_each(|option| println!("cargo:rustc-cdylib-link-arg={option}"));
    let out = PathBuf::from(variable("OUT_DIR")).join("supervisor");
    compile(&out);
    cut_sections(&out);
}

fn compile(out: &Path) {
    let known = compiler(out, SMALLER).output().is_ok_and(|output| output.status.success());
    if known {
        return;
    }
    let mut rustc = compiler(out, &[]);
    match rustc.status() {
        Ok(status) if status.success() => {}
        Ok(status) => fail(&format!("the supervisor could not be compiled ({status}): {rustc:?}")),
        Err(error) => fail(&format!("the compiler could not be started: {error}: {rustc:?}")),
    }
}

fn compiler(out: &Path, switches: &[&str]) -> Command {
    let source = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("supervisor");
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--crate-name", "supervisor", "--crate-type", "bin", "--edition", "2024"]);
    rustc.arg("--target").arg(variable("TARGET")).arg("-o").arg(out);
    CODE.iter().for_each(|option| {
        rustc.args(["-C", option]);
    });
    switches.iter().for_each(|switch| {
        rustc.arg("-C").arg(format!("llvm-args={switch}"));
    });
    LINK.iter().for_each(|option| {
        rustc.arg("-C").arg(format!("link-arg={option}"));
    });
    let mut script = OsString::from("link-arg=-Wl,-T,");
    script.push(source.join("layout.ld"));
    rustc.arg("-C").arg(script);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("linker=");
        option.push(linker);
        rustc.arg("-C").arg(option);
    }
    rustc.arg(source.join("main.rs"));
    rustc
}

/// Cuts off what follows the last loaded byte: the section table, which the kernel never reads.
fn cut_sections(path: &Path) {
    let mut image = std::fs::read(path).unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
    let field = |at: usize, bytes: usize| {
        image[at..at + bytes].iter().rev().fold(0usize, |value, byte| value << 8 | *byte as usize)
    };
    // ELF64, little-endian: e_phoff, e_phentsize, e_phnum; of each program header p_offset and p_filesz.
    let (first, size, count) = (field(0x20, 8), field(0x36, 2), field(0x38, 2));
    let loaded = (0..count)
        .map(|number| first + number * size)
        .filter(|at| field(at + 0x20, 8) > 0)
        .map(|at| field(at + 0x08, 8) + field(at + 0x20, 8))
        .max();
    image.truncate(loaded.unwrap_or(image.len()));
    // e_shoff, and e_shentsize, e_shnum, e_shstrndx.
    image[0x28..0x30].fill(0);
    image[0x3a..0x40].fill(0);
    if let Err(error) = std::fs::write(path, image) {
        fail(&format!("{}: {error}", path.display()));
    }
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| fail(&format!("{name} is not set: build.rs is run by Cargo only")))
}

/// Cargo shows what a build script wrote to stderr when it fails.
fn fail(why: &str) -> ! {
    eprintln!("error: {why}");
    exit(1)
}
