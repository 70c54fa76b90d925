//! The C library as a packager gets it: built and installed once by `include/install.sh`, into Cargo's folder for tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

pub struct Library {
    pub prefix: PathBuf,
    /// What rustc says a program must be linked with besides the static library.
    pub native_libraries: String,
}

pub fn library() -> &'static Library {
    static LIBRARY: LazyLock<Library> = LazyLock::new(install);
    &LIBRARY
}

fn install() -> Library {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let prefix = place.join("prefix");
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut install = Command::new(root().join("include/install.sh"));
    // Folders of its own: a library built with other options must not be taken for this one.
    install.arg(&prefix).env("CARGO_TARGET_DIR", place.join("c-library")).env_remove("DESTDIR");
    install.env("RUSTFLAGS", format!("{flags} --print native-static-libs")).env_remove("CARGO_ENCODED_RUSTFLAGS");
    install.env("CARGO_TERM_COLOR", "never");
    let output = must_run(&mut install);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let native = said.lines().find_map(|line| line.trim().strip_prefix("note: native-static-libs: "));
    let native_libraries = native.unwrap_or_else(|| panic!("rustc names no libraries:\n{said}")).to_string();
    Library { prefix, native_libraries }
}

impl Library {
    pub fn file(&self, name: &str) -> PathBuf {
        self.prefix.join("lib").join(name)
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command; its output, if it succeeds.
#[track_caller]
pub fn must_run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

/// The first of these programs that this machine does not have.
pub fn missing(programs: &[&'static str]) -> Option<&'static str> {
    let runs = |program: &&&str| !Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    programs.iter().find(runs).copied()
}

/// Skips a test loudly where a program is missing; under CI that is a failure.
#[macro_export]
macro_rules! needs {
    ($($program:literal),+) => {
        if let Some(program) = $crate::library::missing(&[$($program),+]) {
            $crate::skip!("{program} is not installed");
        }
    };
}
