//! The files of a tree: as git sees them, without tests and without other people's code.

use super::finding::Problem;
use super::language::Language;
use ignore::WalkBuilder;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// What is looked at beyond production code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Include {
    pub tests: bool,
    pub vendored: bool,
    /// What .gitignore and its like hide.
    pub ignored: bool,
}

const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "__tests__",
    "__mocks__",
    "testdata",
    "test_data",
    "fixtures",
    "spec",
    "specs",
    "e2e",
];
const VENDORED_FOLDERS: &[&str] = &[
    "vendor",
    "vendored",
    "_vendor",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "bower_components",
    "site-packages",
    "dist-packages",
    ".venv",
    "venv",
    "external",
    "extern",
];

/// The files to look at, in the order of their names. What is named itself is looked at whatever it is called.
pub fn files(paths: &[PathBuf], include: Include, problems: &mut Vec<Problem>) -> BTreeMap<PathBuf, Language> {
    let mut files = BTreeMap::new();
    for root in paths {
        if root.is_file() {
            match Language::of(root) {
                Some(language) => drop(files.insert(shown(root), language)),
                None => problems
                    .push(whole(root, "not a language that is looked at: see `hermes-spawn check-detached --help`")),
            }
            continue;
        }
        let mut builder = WalkBuilder::new(root);
        builder.hidden(false).require_git(false).follow_links(false).standard_filters(!include.ignored).hidden(false);
        let top = root.clone();
        builder.filter_entry(move |entry| {
            let below = entry.path().strip_prefix(&top).unwrap_or(entry.path());
            entry.depth() == 0 || wanted(below, entry.file_type().is_some_and(|kind| kind.is_dir()), include)
        });
        for entry in builder.build() {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    if let Some(language) = Language::of(entry.path()) {
                        files.insert(shown(entry.path()), language);
                    }
                }
                Ok(_) => {}
                Err(error) => problems.push(whole(root, &error.to_string())),
            }
        }
    }
    files
}

fn whole(path: &Path, what: &str) -> Problem {
    Problem { path: path.display().to_string(), line: 0, column: 0, what: what.to_owned() }
}

/// `./src/x.py` is `src/x.py`.
fn shown(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Is the last part of this path production code of one's own?
fn wanted(below: &Path, folder: bool, include: Include) -> bool {
    let Some(name) = below.file_name().and_then(|name| name.to_str()) else { return true };
    if folder {
        let test = TEST_FOLDERS.contains(&name) && !include.tests;
        return name != ".git" && !test && (include.vendored || !VENDORED_FOLDERS.contains(&name));
    }
    include.tests || !is_test_file(name)
}

/// As the test runners of each language look for them.
fn is_test_file(name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    match extension {
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest",
        "go" => stem.ends_with("_test"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            stem.ends_with(".test") || stem.ends_with(".spec")
        }
        "rs" => stem == "tests" || stem == "test",
        "c" | "cc" | "cpp" | "cxx" => stem.ends_with("_test") || stem.ends_with("_unittest"),
        _ => false,
    }
}
