//! Reading `/proc`, without allocation, and nothing of it that can block: `stat`, `children` and directories only.
//! What can block (`environ`) is read by the scanner process.

use super::stat::{LINE_BYTES, Stat};
use super::sys;

/// Name of every supervisor and of its helpers, as `stat` shows it; none of them is ever an escapee.
pub const NAME: &[u8; 16] = b"spawn-superviso\0";

/// A path under construction, always NUL-terminated.
pub struct Path {
    bytes: [u8; 64],
    len: usize,
}

impl Path {
    /// `/proc/PID`
    pub fn of(pid: i32) -> Path {
        Path { bytes: [0; 64], len: 0 }.text(b"/proc/").number(pid)
    }

    pub fn text(mut self, text: &[u8]) -> Path {
        // The last byte stays zero.
        for (place, &byte) in self.bytes.iter_mut().take(63).skip(self.len).zip(text) {
            *place = byte;
            self.len += 1;
        }
        self
    }

    pub fn number(self, number: i32) -> Path {
        let mut digits = [0u8; 20];
        self.text(decimal(number.max(0) as u64, &mut digits))
    }

    pub fn open(&self) -> i32 {
        sys::open(&self.bytes, sys::O_RDONLY, 0)
    }
}

/// Decimal digits of a number, at the end of `room`.
pub fn decimal(mut number: u64, room: &mut [u8; 20]) -> &[u8] {
    let mut used = 0;
    for place in room.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
        used += 1;
        if number == 0 {
            break;
        }
    }
    room.get(20 - used..).unwrap_or_default()
}

/// A `stat` line, and whether it is a supervisor's.
#[derive(Clone, Copy)]
pub struct Seen {
    pub stat: Stat,
    pub supervisor: bool,
}

fn parse(path: Path) -> Option<Seen> {
    let fd = path.open();
    if fd < 0 {
        return None;
    }
    let mut line = [0u8; LINE_BYTES];
    let length = sys::read(fd, &mut line);
    sys::close(fd);
    let line = line.get(..length.max(0) as usize)?;
    let open = line.iter().position(|&c| c == b'(')?;
    let name = NAME.strip_suffix(b"\0").unwrap_or(NAME);
    let supervisor = line.get(open + 1..)?.strip_prefix(name).is_some_and(|rest| rest.starts_with(b") "));
    Some(Seen { stat: Stat::parse(line)?, supervisor })
}

/// `None`: there is no such process, or `/proc` cannot be read.
#[inline(never)]
pub fn look(pid: i32) -> Option<Seen> {
    parse(Path::of(pid).text(b"/stat"))
}

pub fn stat(pid: i32) -> Option<Stat> {
    look(pid).map(|seen| seen.stat)
}

/// One task of a process.
#[inline(never)]
pub fn task_stat(pid: i32, task: i32) -> Option<Stat> {
    parse(Path::of(pid).text(b"/task/").number(task).text(b"/stat")).map(|seen| seen.stat)
}

/// A task of the process that runs; a process whose main thread has exited looks dead and is not.
pub fn living_task(stat: &Stat) -> Option<i32> {
    if stat.runs() {
        return Some(stat.pid);
    }
    let mut living = None;
    each_task(stat.pid, &mut |task| {
        if task != stat.pid && task_stat(stat.pid, task).is_some_and(|stat| stat.runs()) {
            living = Some(task);
        }
        living.is_none()
    });
    living
}

/// Calls `each` with every process there is, in ascending order, until it says false.
pub fn each_process(each: &mut dyn FnMut(i32) -> bool) {
    numbers(Path { bytes: [0; 64], len: 0 }.text(b"/proc"), each);
}

pub fn each_task(pid: i32, each: &mut dyn FnMut(i32) -> bool) {
    numbers(Path::of(pid).text(b"/task"), each);
}

/// The entries of a directory that are numbers.
#[inline(never)]
fn numbers(path: Path, each: &mut dyn FnMut(i32) -> bool) {
    /// `struct linux_dirent64`: inode, offset, record length, type, name.
    const LENGTH_AT: usize = 16;
    const NAME_AT: usize = 19;
    let fd = path.open();
    if fd < 0 {
        return;
    }
    let mut buffer = [0u8; 1024];
    'all: loop {
        let filled = sys::read_dir(fd, &mut buffer);
        if filled <= 0 {
            break;
        }
        let mut rest = buffer.get(..filled as usize).unwrap_or_default();
        while let Some(&[low, high]) = rest.get(LENGTH_AT..LENGTH_AT + 2) {
            let length = u16::from_le_bytes([low, high]) as usize;
            let name = rest.get(NAME_AT..length).unwrap_or_default();
            let (number, digits) = leading_number(name);
            if digits > 0 && name.get(digits) == Some(&0) && !each(number) {
                break 'all;
            }
            rest = rest.get(length.max(NAME_AT)..).unwrap_or_default();
        }
    }
    sys::close(fd);
}

fn leading_number(text: &[u8]) -> (i32, usize) {
    let mut number = 0i32;
    let mut digits = 0;
    for &c in text.iter().take_while(|c| c.is_ascii_digit()) {
        number = number.wrapping_mul(10).wrapping_add((c - b'0') as i32);
        digits += 1;
    }
    (number, digits)
}

/// Calls `each` with the children of every thread of the process, until it says false.
#[inline(never)]
pub fn each_child(pid: i32, each: &mut dyn FnMut(i32) -> bool) {
    each_task(pid, &mut |task| children_of_task(pid, task, each));
}

pub fn has_children_file(pid: i32) -> bool {
    let fd = Path::of(pid).text(b"/task/").number(pid).text(b"/children").open();
    sys::close(fd);
    fd >= 0
}

fn children_of_task(pid: i32, task: i32, each: &mut dyn FnMut(i32) -> bool) -> bool {
    let fd = Path::of(pid).text(b"/task/").number(task).text(b"/children").open();
    if fd < 0 {
        return true;
    }
    let mut buffer = [0u8; 256];
    let mut number = 0i32;
    let mut more = true;
    while more {
        let filled = sys::read(fd, &mut buffer);
        if filled <= 0 {
            break;
        }
        // Numbers are separated by spaces and may be cut by the end of the buffer.
        for &c in buffer.iter().take(filled as usize) {
            if c.is_ascii_digit() {
                number = number.wrapping_mul(10).wrapping_add((c - b'0') as i32);
            } else if number > 0 {
                more = more && each(number);
                number = 0;
            }
        }
    }
    sys::close(fd);
    more
}
