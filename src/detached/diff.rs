//! `--diff REV`: the lines that are in the working tree and not in that commit.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Why the added lines cannot be known.
#[derive(Debug)]
pub enum Refused {
    /// What was asked for is wrong.
    Usage(String, String),
    /// git could not be asked.
    Git(String),
}

/// Added lines by file, as real paths.
#[derive(Debug, Default)]
pub struct Added(HashMap<PathBuf, Lines>);

#[derive(Debug)]
enum Lines {
    /// Not in the commit at all.
    All,
    Ranges(Vec<RangeInclusive<usize>>),
}

impl Added {
    /// Is anything of this file new?
    pub fn touches(&self, path: &Path) -> bool {
        self.of(path).is_some()
    }

    pub fn holds(&self, path: &Path, line: usize) -> bool {
        match self.of(path) {
            Some(Lines::All) => true,
            Some(Lines::Ranges(ranges)) => ranges.iter().any(|range| range.contains(&line)),
            None => false,
        }
    }

    fn of(&self, path: &Path) -> Option<&Lines> {
        self.0.get(&path.canonicalize().ok()?)
    }
}

/// What is new since `rev`, in the repository of each path.
pub fn since(rev: &str, paths: &[PathBuf]) -> Result<Added, Refused> {
    let mut added = Added::default();
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in paths {
        let top = repository(path)?;
        if !seen.contains(&top) {
            one_repository(rev, &top, &mut added)?;
            seen.push(top);
        }
    }
    Ok(added)
}

fn repository(path: &Path) -> Result<PathBuf, Refused> {
    let folder = if path.is_dir() {
        path
    } else {
        path.parent().filter(|up| !up.as_os_str().is_empty()).unwrap_or(Path::new("."))
    };
    let output = git(folder, ["rev-parse", "--show-toplevel"])?;
    if !output.status.success() {
        let what = format!("--diff: {} is in no git repository ({})", path.display(), said(&output));
        return Err(Refused::Usage(what, "leave --diff out to look at all lines".into()));
    }
    let mut top = output.stdout;
    top.pop();
    let top = PathBuf::from(std::ffi::OsString::from_vec(top));
    top.canonicalize().map_err(|error| Refused::Git(format!("--diff: {}: {error}", top.display())))
}

fn one_repository(rev: &str, top: &Path, added: &mut Added) -> Result<(), Refused> {
    let commit = commit(rev, top)?;
    let changes = git(
        top,
        [
            "-c",
            "core.quotePath=true",
            "diff",
            "--unified=0",
            "--find-renames",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-relative",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--ignore-submodules=all",
            &commit,
            "--",
        ],
    )?;
    succeeded(&changes, "git diff")?;
    for (path, ranges) in hunks(&changes.stdout) {
        added.0.insert(top.join(path), Lines::Ranges(ranges));
    }
    let untracked = git(top, ["ls-files", "--others", "--exclude-standard", "-z"])?;
    succeeded(&untracked, "git ls-files")?;
    for path in untracked.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        added.0.insert(top.join(path_of(path.to_vec())), Lines::All);
    }
    Ok(())
}

/// The full name of what to compare with; that it is missing is the caller's mistake, or a shallow clone's.
fn commit(rev: &str, top: &Path) -> Result<String, Refused> {
    let wanted = format!("{rev}^{{commit}}");
    let output = git(top, ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    // Before the first commit everything is new: a hook should not have to know.
    if rev == "HEAD" && git(top, ["symbolic-ref", "--quiet", "HEAD"])?.status.success() {
        let empty_tree = git(top, ["hash-object", "-t", "tree", "/dev/null"])?;
        succeeded(&empty_tree, "git hash-object")?;
        return Ok(String::from_utf8_lossy(&empty_tree.stdout).trim().to_owned());
    }
    let shallow = git(top, ["rev-parse", "--is-shallow-repository"])?;
    let way_out = match shallow.stdout.starts_with(b"true") {
        true => "this clone is shallow: `git fetch --unshallow`, or fetch-depth: 0 in actions/checkout",
        false => "see `git log --oneline`; a range is not a commit: take `$(git merge-base main HEAD)`",
    };
    Err(Refused::Usage(format!("--diff: {rev:?} is no commit of {}", top.display()), way_out.into()))
}

fn git<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Result<Output, Refused> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments.into_iter().map(OsStr::new));
    // What a hook's git has set names files below the current folder, not below this one.
    command.env_remove("GIT_PREFIX");
    command.output().map_err(|error| Refused::Git(format!("--diff: git cannot be started: {error}")))
}

fn succeeded(output: &Output, what: &str) -> Result<(), Refused> {
    if output.status.success() {
        return Ok(());
    }
    Err(Refused::Git(format!("--diff: {what}: {}", said(output))))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("no reason given").to_owned()
}

/// The added lines of a patch without context. What stands in the lines is skipped by count: it may look like a header.
fn hunks(patch: &[u8]) -> Vec<(PathBuf, Vec<RangeInclusive<usize>>)> {
    let mut files: Vec<(PathBuf, Vec<RangeInclusive<usize>>)> = Vec::new();
    let mut lines = patch.split(|byte| *byte == b'\n');
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix(b"+++ ") {
            if let Some(path) = name_of(name) {
                files.push((path, Vec::new()));
            }
        } else if let Some((removed, start, count)) = line.strip_prefix(b"@@ ").and_then(counts) {
            if let Some((_, ranges)) = files.last_mut().filter(|_| count > 0) {
                ranges.push(start..=start + count - 1);
            }
            for _ in 0..removed + count {
                lines.next();
            }
        }
    }
    files
}

/// `-a,b +c,d @@`: b, c, d.
fn counts(header: &[u8]) -> Option<(usize, usize, usize)> {
    let header = std::str::from_utf8(header.split(|byte| *byte == b'@').next()?).ok()?;
    let mut sides = header.split_whitespace();
    let (old, new) = (sides.next()?.strip_prefix('-')?, sides.next()?.strip_prefix('+')?);
    let pair = |side: &str| -> Option<(usize, usize)> {
        match side.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((side.parse().ok()?, 1)),
        }
    };
    let ((_, removed), (start, count)) = (pair(old)?, pair(new)?);
    Some((removed, start, count))
}

/// `b/path`, or in quotes with escapes; `/dev/null` is no file.
fn name_of(written: &[u8]) -> Option<PathBuf> {
    let plain = match written.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) {
        Some(quoted) => unquoted(quoted),
        // git ends a name with blanks in it by a tab.
        None => written.strip_suffix(b"\t").unwrap_or(written).to_vec(),
    };
    Some(path_of(plain.strip_prefix(b"b/")?.to_vec()))
}

fn unquoted(quoted: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = quoted.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match rest.next() {
            Some(first @ b'0'..=b'3') => {
                let more = [rest.next(), rest.next()].into_iter().flatten();
                plain.push(more.fold(first - b'0', |value, digit| (value << 3) | (digit.wrapping_sub(b'0') & 7)));
            }
            Some(b'n') => plain.push(b'\n'),
            Some(b't') => plain.push(b'\t'),
            Some(b'r') => plain.push(b'\r'),
            Some(b'a') => plain.push(7),
            Some(b'b') => plain.push(8),
            Some(b'v') => plain.push(11),
            Some(b'f') => plain.push(12),
            Some(byte) => plain.push(byte),
            None => {}
        }
    }
    plain
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::hunks;
    use std::path::Path;

    #[test]
    fn lines_that_look_like_headers_are_only_lines() {
        let patch = b"--- a/x\n+++ b/x\n@@ -3 +3,2 @@ f\n--- a/y\n+++ b/y\n+@@ -1 +1 @@\n@@ -9,0 +11 @@\n+z\n@@ -12,2 +12,0 @@\n-a\n-b\n";
        let files = hunks(patch);
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!((files[0].0.as_path(), &files[0].1[..]), (Path::new("x"), &[3..=4, 11..=11][..]));
    }

    #[test]
    fn names_in_quotes_and_deleted_files() {
        let patch = b"+++ \"b/a\\303\\244 \\\"b\\\".py\"\n@@ -0,0 +1 @@\n+x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let files = hunks(patch);
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!((files[0].0.as_path(), &files[0].1[..]), (Path::new("a\u{e4} \"b\".py"), &[1..=1][..]));
    }
}
