//! A folder of its own in which a test builds the C programs and runs them.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::library::{Library, library, must_run, root};
use crate::support::deadline::{SOON, within};

/// What the programs must be free of.
pub const STRICT: &str = "-std=c99 -Wall -Wextra -pedantic -Werror";
/// How a program finds and gets the shared library.
pub const SHARED: &str = "$(pkg-config --cflags --libs hermes_spawn)";
/// A program that has not ended by then hangs.
const LIMIT_SECONDS: &str = "240";

pub struct Workshop {
    folder: TempDir,
    library: &'static Library,
}

impl Workshop {
    /// With the sources of `ffi-tests/c`.
    pub fn new() -> Workshop {
        let folder = tempfile::Builder::new().prefix("hs-c-").tempdir().expect("a temporary folder");
        let sources = root().join("ffi-tests/c");
        for source in std::fs::read_dir(&sources).expect("ffi-tests/c").flatten() {
            std::fs::copy(source.path(), folder.path().join(source.file_name())).expect("copy a source");
        }
        Workshop { folder, library: library() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command in this folder, which finds the installed library at build time and at run time. Its temporary files are
    /// here, too; its home is not, since a supervisor makes that for what it writes after its owner's end.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home");
        let mut command = Command::new(program);
        command.current_dir(self.path()).env("HERMES_HOME", home).env("TMPDIR", self.path());
        command.env("PKG_CONFIG_PATH", self.library.file("pkgconfig"));
        command.env("LD_LIBRARY_PATH", self.library.prefix.join("lib"));
        command
    }

    /// Runs a line of shell here.
    #[track_caller]
    pub fn shell(&self, line: &str) -> Output {
        must_run(self.command("sh").args(["-ec", line]))
    }

    /// Runs a line of shell that ends with a program of ours; what it printed.
    #[track_caller]
    pub fn run(&self, line: &str) -> String {
        let output = must_run(self.command("timeout").args(["-k", "5", LIMIT_SECONDS, "sh", "-ec", line]));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Builds a program from its source, strictly, with the shared library.
    #[track_caller]
    pub fn build(&self, name: &str) {
        self.shell(&format!("cc {STRICT} {name}.c -o {name} {SHARED}"));
    }

    /// The length of a program, without its symbols.
    pub fn stripped_bytes(&self, name: &str) -> u64 {
        self.shell(&format!("strip {name} -o {name}.stripped"));
        std::fs::metadata(self.path().join(format!("{name}.stripped"))).expect("a program").len()
    }
}

impl Drop for Workshop {
    /// A supervisor that could not be executed from memory may have its file here for a moment longer.
    fn drop(&mut self) {
        within(SOON, || std::fs::remove_dir_all(self.path()).is_ok() || !self.path().exists());
    }
}
