//! Running the command, and small trees to run it on.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder of files that is gone with the test.
pub struct Tree(TempDir);

impl Tree {
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let tree = Tree(tempfile::tempdir().expect("a temporary directory"));
        files.iter().for_each(|(name, text)| tree.write(name, text));
        tree
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        fs::write(path, text).expect("write the file");
    }

    /// Runs the command in this folder.
    pub fn check(&self, arguments: &[&str]) -> Checked {
        check_in(self.path(), arguments)
    }

    #[track_caller]
    pub fn git(&self, arguments: &[&str]) {
        let quiet = [
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.com",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "init.defaultBranch=main",
        ];
        let output = git_command(self.path()).args(quiet).args(arguments).output().expect("start git");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Puts all that is there into a commit.
    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    /// A repository with these files in its first commit.
    pub fn repository(files: &[(&str, &str)]) -> Tree {
        let tree = Tree::of(files);
        tree.git(&["init", "-q"]);
        tree.commit();
        tree
    }
}

/// git with nothing of the user's and nothing of a hook that this test may run in.
pub fn git_command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    command
}

pub struct Checked {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Checked {
    /// `path:line: rule` of each finding, in order, of a run with `--format json`.
    pub fn found(&self) -> Vec<String> {
        let all = self.json()["findings"].as_array().expect("findings").clone();
        let text = |finding: &Value, key: &str| finding[key].as_str().expect("text").to_owned();
        all.iter()
            .map(|finding| format!("{}:{}: {}", text(finding, "path"), finding["line"], text(finding, "rule")))
            .collect()
    }

    pub fn problems(&self) -> Vec<Value> {
        self.json()["problems"].as_array().expect("problems").clone()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

pub fn check_in(folder: &Path, arguments: &[&str]) -> Checked {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermes-spawn"));
    command.arg("check-detached").args(arguments).current_dir(folder).stdin(Stdio::null());
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } = command.output().expect("start the program");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Checked { code: status.code().expect("an exit code"), out: text(stdout), err: text(stderr) }
}

pub fn repository_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
