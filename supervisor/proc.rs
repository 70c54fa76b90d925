//! Reading `/proc`, without allocation, and nothing of it that can block: `stat`, `children` and directories only.
//! What can block (`environ`) is read by the scanner process.

use super::stat::{LINE_BYTES, Stat};
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

/// Opens a file of `/proc`.
#[inline(never)]
pub fn open(template: &[u8], pid: i32, task: i32) -> i32 {
    let mut path = [0u8; 64];
    fill(&mut path, 0, template, &[pid as u64, task as u64]);
    sys::open(&path, sys::O_RDONLY, 0)
}

#[inline(never)]
fn parse(template: &[u8], pid: i32, task: i32) -> Option<Stat> {
    let fd = open(template, pid, task);
    let mut line = [0u8; LINE_BYTES];
    let length = sys::read(fd, &mut line);
    sys::close(fd);
    Stat::parse(line.get(..length.max(0) as usize)?)
}

/// `None`: there is no such process, or `/proc` cannot be read.
#[inline(never)]
pub fn look(pid: i32) -> Option<Stat> {
    parse(b"/proc/#/stat", pid, 0)
}

/// One task of a process.
#[inline(never)]
pub fn look_at_task(pid: i32, task: i32) -> Option<Stat> {
    parse(b"/proc/#/task/#/stat", pid, task)
}

/// A task of the process that runs; a process whose main thread has exited looks dead and is not.
pub fn living_task(stat: &Stat) -> Option<i32> {
    if stat.runs() {
        return Some(stat.pid);
    }
    let mut living = None;
    each_task(stat.pid, &mut |task| {
        if task != stat.pid && look_at_task(stat.pid, task).is_some_and(|stat| stat.runs()) {
            living = Some(task);
        }
        living.is_none()
    });
    living
}

/// Calls `each` with every process there is, in ascending order, until it says false.
pub fn each_process(each: &mut dyn FnMut(i32) -> bool) {
    numbers(b"/proc", 0, each);
}

pub fn each_task(pid: i32, each: &mut dyn FnMut(i32) -> bool) {
    numbers(b"/proc/#/task", pid, each);
}

/// The entries of a directory that are numbers.
#[inline(never)]
fn numbers(template: &[u8], pid: i32, each: &mut dyn FnMut(i32) -> bool) {
    /// `struct linux_dirent64`: inode, offset, record length, type, name.
    const LENGTH_AT: usize = 16;
    const NAME_AT: usize = 19;
    let fd = open(template, pid, 0);
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

const CHILDREN: &[u8] = b"/proc/#/task/#/children";

pub fn has_children_file(pid: i32) -> bool {
    let fd = open(CHILDREN, pid, pid);
    sys::close(fd);
    fd >= 0
}

fn children_of_task(pid: i32, task: i32, each: &mut dyn FnMut(i32) -> bool) -> bool {
    let fd = open(CHILDREN, pid, task);
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
