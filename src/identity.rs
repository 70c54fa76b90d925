//! Who a pid is: the owner's reading of `/proc`. No allocation: registration runs through here.
//!
//! Identity is a pid and its pidfs inode, or where the kernel has none its start time (within one boot); never a name,
//! never a command line, never "its parent is 1".
//!
//! Since Linux 6.18 `stat` waits while its process is in an exec, and an exec can hang for ever in a file system. So it is
//! asked only where there is no inode; `status`, the directories and `getpgid` never wait.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::stat::{LINE_BYTES, Stat};
use crate::sys::{pidfd, process};

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

/// The beginning of `/proc/<pid>/status`, or of a task's.
struct Status {
    bytes: [u8; 2048],
    length: usize,
}

impl Status {
    fn read(path: impl AsRef<Path>) -> Option<Status> {
        let mut bytes = [0u8; 2048];
        let length = File::open(path).and_then(|mut file| file.read(&mut bytes)).ok()?;
        Some(Status { bytes, length })
    }

    fn of(pid: i32) -> Option<Status> {
        Status::read(ProcPath::new(pid, "status").as_str())
    }

    /// What stands behind this name (`PPid:`). The name of the process, which may hold any byte, is the first line.
    fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.bytes[..self.length].split(|&c| c == b'\n').skip(1);
        let line = lines.find_map(|line| line.strip_prefix(name.as_bytes()))?;
        std::str::from_utf8(line).ok().map(str::trim)
    }

    fn runs(&self) -> bool {
        !matches!(self.field("State:").and_then(|state| state.bytes().next()), None | Some(b'Z' | b'X'))
    }
}

/// The parent of a process.
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    Status::of(pid)?.field("PPid:")?.parse().ok()
}

/// Whether the process runs as one of `users`. `/proc/<pid>` belongs to its effective user, or to root when it is not
/// dumpable; only then the slower file is read. `None`: `/proc` does not tell.
pub(crate) fn runs_as(pid: i32, users: [u32; 2]) -> Option<bool> {
    let owner = std::fs::metadata(ProcPath::new(pid, "").as_str().trim_end_matches('/')).map(|m| m.uid());
    if owner.is_ok_and(|uid| users.contains(&uid)) {
        return Some(true);
    }
    let status = Status::of(pid)?;
    // `Uid: real effective saved filesystem`. kill(2) compares with the real and the saved one.
    let mut uids = status.field("Uid:")?.split_whitespace().filter_map(|uid| uid.parse::<u32>().ok());
    let (real, saved) = (uids.next(), uids.nth(1));
    Some([real, saved].iter().flatten().any(|uid| users.contains(uid)))
}

/// Whether anything that is not a zombie has this group: a look at every process, for the rare case that a leader is
/// a zombie.
pub(crate) fn group_has_living_member(pgid: i32) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return true };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&pid| process::group_of(pid) == Ok(pgid))
        .any(lives)
}

/// A process whose main thread has exited looks like a zombie and is alive: another of its tasks runs.
pub(crate) fn lives(pid: i32) -> bool {
    if Status::of(pid).is_some_and(|status| status.runs()) {
        return true;
    }
    let Ok(tasks) = std::fs::read_dir(ProcPath::new(pid, "task").as_str()) else { return false };
    tasks.flatten().any(|task| Status::read(task.path().join("status")).is_some_and(|status| status.runs()))
}

/// What tells a process from the next one with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Inode(u64),
    StartTicks(u64),
}

impl Identity {
    /// `None`: nobody has this number, or it cannot be told who.
    fn of(pid: i32) -> Option<Identity> {
        let inode_of = |pidfd: std::result::Result<_, _>| pidfd.and_then(|pidfd| pidfd::inode(&pidfd)).ok();
        match inode_of(pidfd::open(pid)) {
            // Before pidfs, all pidfds shared one inode.
            Some(inode) if inode_of(pidfd::of_this_process()) != Some(inode) => Some(Identity::Inode(inode)),
            _ => start_ticks(pid).map(Identity::StartTicks),
        }
    }
}

/// A process above the owner: its group is never to be signalled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ancestor {
    pub pid: i32,
    identity: Identity,
}

impl Ancestor {
    /// Whether its number still means this process.
    pub(crate) fn is_still_itself(&self) -> bool {
        Identity::of(self.pid) == Some(self.identity)
    }
}

/// Parents up to the top of the pid namespace. A superset for ever: when a parent dies, its child is given to one of
/// the parents above, never to anybody new.
pub(crate) fn ancestors() -> Vec<Ancestor> {
    let mut chain = Vec::new();
    let mut pid = process::parent();
    while pid > 0 && chain.len() < 256 {
        let (Some(identity), Some(parent)) = (Identity::of(pid), parent_of(pid)) else { break };
        chain.push(Ancestor { pid, identity });
        pid = parent;
    }
    chain
}
