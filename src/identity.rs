//! Who a pid is: the owner's reading of `/proc`. No allocation: registration runs through here.
//!
//! Identity is a pid and its start time (within one boot); never a name, never a command line, never "its parent is 1".

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;

use crate::stat::{LINE_BYTES, Stat};
use crate::sys::process;

/// What `/proc` says of a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who {
    Process(Stat),
    /// No process has this number.
    Nobody,
    /// `/proc` cannot be read or does not show it: never a reason to signal, never a reason to forget.
    Unknown,
}

/// `/proc/<pid>/<leaf>` in a buffer on the stack.
struct ProcPath {
    bytes: [u8; 48],
    length: usize,
}

impl ProcPath {
    fn new(pid: i32, leaf: &str) -> ProcPath {
        let mut bytes = [0u8; 48];
        let mut rest = &mut bytes[..];
        let _ = write!(rest, "/proc/{pid}/{leaf}");
        let left = rest.len();
        ProcPath { bytes, length: 48 - left }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

/// Reads `/proc/<pid>/stat`.
pub(crate) fn look(pid: i32) -> Who {
    let mut line = [0u8; LINE_BYTES];
    let read = File::open(ProcPath::new(pid, "stat").as_str()).and_then(|mut file| file.read(&mut line));
    match read {
        Ok(length) => Stat::parse(&line[..length]).map_or(Who::Unknown, Who::Process),
        // ESRCH: it ended between open and read.
        Err(error) if error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(3) => {
            if File::open("/proc/self/stat").is_ok() { Who::Nobody } else { Who::Unknown }
        }
        Err(_) => Who::Unknown,
    }
}

/// Whether there is a `/proc`, and it shows processes by the numbers that they have here; and whether it lists children.
pub(crate) fn proc_shows() -> (bool, bool) {
    let own = std::fs::read_link("/proc/self").ok().and_then(|link| link.to_str()?.parse().ok());
    let ours = own == Some(process::pid());
    (ours, ours && std::path::Path::new("/proc/thread-self/children").exists())
}

/// Start of a living process in clock ticks.
pub(crate) fn start_ticks(pid: i32) -> Option<u64> {
    match look(pid) {
        Who::Process(stat) => Some(stat.start_ticks),
        _ => None,
    }
}

/// Whether the process runs as one of `users`. `/proc/<pid>` belongs to its effective user, or to root when it is not
/// dumpable; only then the slower file is read.
pub(crate) fn runs_as(pid: i32, users: [u32; 2]) -> bool {
    let owner = std::fs::metadata(ProcPath::new(pid, "").as_str().trim_end_matches('/')).map(|m| m.uid());
    if owner.is_ok_and(|uid| users.contains(&uid)) {
        return true;
    }
    let mut text = [0u8; 2048];
    let length = File::open(ProcPath::new(pid, "status").as_str()).and_then(|mut f| f.read(&mut text)).unwrap_or(0);
    // `Uid: real effective saved filesystem`. kill(2) compares with the real and the saved one.
    let text = String::from_utf8_lossy(&text[..length]);
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("Uid:")) else { return false };
    let mut uids = line.split_whitespace().filter_map(|uid| uid.parse::<u32>().ok());
    let (real, saved) = (uids.next(), uids.nth(1));
    [real, saved].iter().flatten().any(|uid| users.contains(uid))
}

/// Whether anything that is not a zombie has this group: a look at every process, for the rare case that a leader is
/// a zombie.
pub(crate) fn group_has_living_member(pgid: i32) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return true };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        // By the system call first: the stat line of a process whose exec hangs is never there to be read.
        .filter(|&pid| process::group_of(pid) == Ok(pgid))
        .any(|pid| matches!(look(pid), Who::Process(stat) if lives(&stat)))
}

/// A process whose main thread has exited looks like a zombie and is alive: another of its tasks runs.
pub(crate) fn lives(stat: &Stat) -> bool {
    if stat.runs() {
        return true;
    }
    let Ok(tasks) = std::fs::read_dir(ProcPath::new(stat.pid, "task").as_str()) else { return false };
    tasks.flatten().any(|task| {
        let mut line = [0u8; LINE_BYTES];
        let read = File::open(task.path().join("stat")).and_then(|mut file| file.read(&mut line));
        read.ok().and_then(|length| Stat::parse(&line[..length])).is_some_and(|stat| stat.runs())
    })
}

/// A process above the owner: its group is never to be signalled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ancestor {
    pub pid: i32,
    pub start_ticks: u64,
}

/// Parents up to the top of the pid namespace. A superset for ever: when a parent dies, its child is given to one of
/// the parents above, never to anybody new.
pub(crate) fn ancestors() -> Vec<Ancestor> {
    let mut chain = Vec::new();
    let mut pid = process::parent();
    while pid > 0 && chain.len() < 256 {
        let Who::Process(stat) = look(pid) else { break };
        chain.push(Ancestor { pid, start_ticks: stat.start_ticks });
        pid = stat.ppid;
    }
    chain
}
