//! What check-detached costs, beside `grep -rE` for the same words over the same tree, in turns: a tree of 1,000,000
//! lines of this repository's own sources and of the corpus of its tests. `cargo bench --bench detached`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const LINES: usize = 1_000_000;
const ROUNDS: usize = 5;
/// On two cores.
const LIMIT: Duration = Duration::from_secs(10);
const WORDS: &str = r"setsid|setpg(id|rp)|start_new_session|process_group|preexec_fn|pre_exec|creationflags|detached|unref|nohup|disown|systemd-run|daemon|posix_spawn|&$";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for folder in ["src", "supervisor", "ffi-tests", "tests", "benches"] {
        collect(&root.join(folder), &mut sources);
    }
    sources.sort();
    let place = tempfile::tempdir().expect("a temporary directory");
    let (files, lines, bytes) = grow(place.path(), &sources);
    println!("{lines} lines in {files} files, {} MB", bytes / 1_000_000);

    let (mut ours, mut greps) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(
            Command::new(env!("CARGO_BIN_EXE_hermes-spawn"))
                .args(["check-detached", "--include-tests"])
                .arg(place.path()),
            &[1],
        ));
        greps.push(timed(Command::new("grep").args(["-rEn", WORDS]).arg(place.path()), &[0]));
    }
    let (ours, grep) = (median(ours), median(greps));
    println!("check-detached {ours:.2?}, grep -rE {grep:.2?}: ratio {:.1}", ours.as_secs_f64() / grep.as_secs_f64());
    println!(
        "{:.2} s per 1,000,000 lines; limit {} s",
        ours.as_secs_f64() * LINES as f64 / lines as f64,
        LIMIT.as_secs()
    );
    if ours > LIMIT { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn collect(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of this repository").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "node_modules" && name != "target" {
            collect(&path, sources);
        } else if ["py", "js", "mjs", "ts", "rs", "c", "h", "cpp", "sh", "go"]
            .iter()
            .any(|end| path.extension().is_some_and(|extension| extension == *end))
        {
            sources.push(path);
        }
    }
}

/// Copies of the sources, until there are enough lines.
fn grow(place: &Path, sources: &[PathBuf]) -> (usize, usize, usize) {
    let texts: Vec<(Vec<u8>, &PathBuf)> =
        sources.iter().map(|path| (fs::read(path).expect("a source"), path)).collect();
    let (mut files, mut lines, mut bytes) = (0, 0, 0);
    while lines < LINES {
        for (text, path) in &texts {
            let folder = place.join(format!("part{}", files / 100));
            fs::create_dir_all(&folder).expect("make a folder");
            let extension = path.extension().and_then(|extension| extension.to_str()).expect("an extension");
            fs::write(folder.join(format!("file{files}.{extension}")), text).expect("write a copy");
            files += 1;
            lines += text.iter().filter(|byte| **byte == b'\n').count();
            bytes += text.len();
            if lines >= LINES {
                break;
            }
        }
    }
    (files, lines, bytes)
}

fn timed(command: &mut Command, codes: &[i32]) -> Duration {
    let began = Instant::now();
    let status = command.stdout(Stdio::null()).status().expect("start it");
    let took = began.elapsed();
    assert!(status.code().is_some_and(|code| codes.contains(&code)), "{command:?}: {status}");
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
