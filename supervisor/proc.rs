//! Reading `/proc`, without allocation.
//!
//! Much of it can block for ever, on a process that hangs in exec or holds the lock of its address space: `environ`,
//! and since Linux 6.18 `stat` too. `status`, `statm`, `children`, the directories, and `getpgid` never do, so where
//! pidfds tell who is who (since Linux 6.9) the supervisor itself asks only these, and leaves the rest to the scanner
//! process.

use super::atomic::{AtomicBool, Ordering::Relaxed};
use super::roster::features;
use super::stat::{LINE_BYTES, Stat, leading_number};
use super::sys;

/// Copies `template` to `room` from `at` on, each `#` replaced by the next of the numbers; spaces are left out. Returns
/// where it ends.
#[inline(never)]
pub fn fill(room: &mut [u8], at: usize, template: &[u8], numbers: &[u64]) -> usize {
    let mut numbers = numbers.iter();
    let mut at = at;
    let mut put = |byte| {
        if let Some(place) = room.get_mut(at) {
            *place = byte;
            at += 1;
        }
    };
    for &byte in template {
        if byte == b'#' {
            let mut number = numbers.next().copied().unwrap_or(0);
            let mut digits = [0u8; 20];
            for digit in &mut digits {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
                if number == 0 {
                    break;
                }
            }
            digits.iter().rev().filter(|&&digit| digit != 0).for_each(|&digit| put(digit));
        } else if byte != b' ' {
            put(byte);
        }
    }
    at
}

/// There is none, or it shows another pid namespace, where our numbers are other processes: it is not looked at.
static BLIND: AtomicBool = AtomicBool::new(false);

/// What `/proc` can tell, found out by how it shows ourselves.
pub fn probe(own_pid: i32) -> u32 {
    let us = open(b"/proc/self/task/#", own_pid, 0);
    BLIND.store(us < 0, Relaxed);
    let children = open(CHILDREN, own_pid, own_pid);
    sys::close(us);
    sys::close(children);
    let mut found = 0;
    if us >= 0 {
        found |= features::PROC;
    }
    if children >= 0 {
        found |= features::CHILDREN;
    }
    found
}

/// Opens a file of `/proc`.
#[inline(never)]
pub fn open(template: &[u8], pid: i32, task: i32) -> i32 {
    if BLIND.load(Relaxed) {
        return sys::ENOENT;
    }
    let mut path = [0u8; 64];
    fill(&mut path, 0, template, &[pid as u64, task as u64]);
    sys::open(&path, sys::O_RDONLY, 0)
}

/// `None`: there is no such process, or `/proc` cannot be read. Can block on a process that hangs in exec.
#[inline(never)]
pub fn stat(pid: i32) -> Option<Stat> {
    let fd = open(b"/proc/#/stat", pid, 0);
    let mut line = [0u8; LINE_BYTES];
    let length = sys::read(fd, &mut line);
    sys::close(fd);
    Stat::parse(line.get(..length.max(0) as usize)?)
}

/// The beginning of `/proc/PID/task/TID/status`. All zero: there is no such task.
#[derive(Default)]
pub struct Status {
    pub runs: bool,
    pub ppid: i32,
    /// Named like a supervisor.
    pub supervisor: bool,
}

#[inline(never)]
pub fn status(pid: i32, task: i32) -> Status {
    let fd = open(b"/proc/#/task/#/status", pid, task);
    let mut text = [0u8; 256];
    sys::read(fd, &mut text);
    sys::close(fd);
    // Name, Umask, State, Tgid, Ngid, Pid, PPid: a line each, and a line feed in the name is shown escaped.
    let state = after(&text, *b"\nS");
    Status {
        runs: !matches!(state.get(6), None | Some(b'Z' | b'X')),
        ppid: leading_number(after(state, *b"PP").get(4..).unwrap_or_default()),
        supervisor: text.starts_with(b"Name:\tspawn-superviso\n"),
    }
}

#[inline(never)]
fn after(text: &[u8], mark: [u8; 2]) -> &[u8] {
    let at = text.windows(2).position(|two| two == mark);
    at.and_then(|at| text.get(at + 2..)).unwrap_or_default()
}

/// A task of the process that runs; a process whose main thread has exited looks dead and is not.
pub fn living_task(pid: i32) -> Option<i32> {
    if status(pid, pid).runs { Some(pid) } else { tasks(pid).find(|&task| status(pid, task).runs) }
}

/// The task has given up its memory, or never had any: it is on its way out.
pub fn is_without_memory(pid: i32, task: i32) -> bool {
    let fd = open(b"/proc/#/task/#/statm", pid, task);
    let mut text = [0u8; 2];
    sys::read(fd, &mut text);
    sys::close(fd);
    text == *b"0 "
}

/// The first look at a process' files makes the kernel build their entries, which takes ten times as long as finding
/// them again. So it is had while nothing waits for it: at the owner's end, every group's TERM waits for the walk.
#[inline(never)]
pub fn look_early(pid: i32, task: i32) {
    sys::close(open(CHILDREN, pid, task));
}

/// Every process there is, in ascending order.
pub fn processes() -> Numbers {
    Numbers::of(open(b"/proc", 0, 0))
}

fn tasks(pid: i32) -> Numbers {
    Numbers::of(open(TASKS, pid, 0))
}

/// The entries of a directory that are numbers.
pub struct Numbers {
    fd: i32,
    filled: usize,
    at: usize,
    buffer: [u8; 512],
}

impl Numbers {
    #[inline(never)]
    fn of(fd: i32) -> Numbers {
        Numbers { fd, filled: 0, at: 0, buffer: [0; 512] }
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        sys::close(self.fd);
    }
}

impl Iterator for Numbers {
    type Item = i32;

    #[inline(never)]
    fn next(&mut self) -> Option<i32> {
        /// `struct linux_dirent64`: inode, offset, record length, type, name.
        const LENGTH_AT: usize = 16;
        const NAME_AT: usize = 19;
        loop {
            if self.at >= self.filled {
                self.at = 0;
                self.filled = sys::read_dir(self.fd, &mut self.buffer).max(0) as usize;
            }
            let entry = self.buffer.get(self.at..self.filled)?;
            // The longest entry of a directory in /proc is shorter than 256 bytes.
            self.at += *entry.get(LENGTH_AT)? as usize;
            let number = leading_number(entry.get(NAME_AT..)?);
            if number > 0 {
                return Some(number);
            }
        }
    }
}

const TASKS: &[u8] = b"/proc/#/task";
const CHILDREN: &[u8] = b"/proc/#/task/#/children";

/// The children of every thread of a process, those of the main thread first: nearly always it is the only one, and
/// then the directory of tasks need not be read.
pub struct Children {
    pid: i32,
    tasks: Numbers,
    fd: i32,
    filled: usize,
    at: usize,
    buffer: [u8; 256],
}

pub fn children(pid: i32) -> Children {
    Children { pid, tasks: Numbers::of(-1), fd: open(CHILDREN, pid, pid), filled: 0, at: 0, buffer: [0; 256] }
}

impl Drop for Children {
    fn drop(&mut self) {
        sys::close(self.fd);
    }
}

impl Iterator for Children {
    type Item = i32;

    #[inline(never)]
    fn next(&mut self) -> Option<i32> {
        // Numbers, each followed by a space; they may be cut by the end of the buffer.
        let mut number = 0i32;
        loop {
            if self.at >= self.filled {
                self.at = 0;
                self.filled = sys::read(self.fd, &mut self.buffer).max(0) as usize;
                if self.filled == 0 {
                    sys::close(self.fd);
                    self.fd = -1;
                    if self.tasks.fd < 0 {
                        self.tasks.fd = open(TASKS, self.pid, 0);
                        // `.`, `..` and one thread.
                        if sys::fstat(self.tasks.fd)?.links == 3 {
                            return None;
                        }
                    }
                    // The main thread's come twice where there are others.
                    self.fd = open(CHILDREN, self.pid, self.tasks.next()?);
                }
                continue;
            }
            let byte = *self.buffer.get(self.at)?;
            self.at += 1;
            if byte == b' ' {
                return Some(number);
            }
            number = number.wrapping_mul(10).wrapping_add((byte & 15) as i32);
        }
    }
}
