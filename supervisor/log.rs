//! `reaped.jsonl`: one line a group, so that "why did my server die at 02:00" has an answer.
//!
//! A file system can hang for ever, so a throw-away copy of this process writes, and is ended when it takes too long.

use super::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use super::roster::{HOME_PATH_BYTES, SLOTS};
use super::state::{NEVER, Supervisor};
use super::{kill, proc, sys};

const SIZE_LIMIT_BYTES: u64 = 1 << 20;
const WRITER_LIMIT_MS: u64 = 1_000;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    OwnerGone,
    Stop,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// Ended within the grace.
    Term = 1,
    Kill,
    /// Was empty already.
    Gone,
    Recycled,
    Refused,
    Eperm,
    Stuck,
}

fn name(outcome: u32) -> &'static [u8] {
    const NAMES: [&[u8]; 8] = [b"", b"term", b"kill", b"gone", b"recycled", b"refused", b"eperm", b"stuck"];
    NAMES.get(outcome as usize).copied().unwrap_or_default()
}

/// Lines of stops that have not been written yet. When more groups end than can be written, the oldest are lost.
struct Pending {
    at_ms: AtomicU64,
    pid: AtomicI32,
    serial: AtomicU32,
    outcome: AtomicU32,
    took_ms: AtomicU32,
}
const PENDING: usize = 128;
static RING: [Pending; PENDING] = [const {
    Pending {
        at_ms: AtomicU64::new(0),
        pid: AtomicI32::new(0),
        serial: AtomicU32::new(0),
        outcome: AtomicU32::new(0),
        took_ms: AtomicU32::new(0),
    }
}; PENDING];
/// How many lines were ever put into the ring.
static NOTED: AtomicU32 = AtomicU32::new(0);

/// The writing side.
pub struct Log {
    /// How many lines were given to a writer.
    given: u32,
    writer: i32,
    end_writer_at: u64,
}

impl Log {
    pub const NEW: Log = Log { given: 0, writer: 0, end_writer_at: NEVER };
}

pub fn note(pid: i32, serial: u32, outcome: Outcome, took_ms: u32) {
    let noted = NOTED.fetch_add(1, Relaxed);
    if let Some(line) = RING.get(noted as usize % PENDING) {
        line.at_ms.store(sys::unix_ms(), Relaxed);
        line.pid.store(pid, Relaxed);
        line.serial.store(serial, Relaxed);
        line.outcome.store(outcome as u32, Relaxed);
        line.took_ms.store(took_ms, Relaxed);
    }
}

/// Starts a writer for what is pending, ends one that takes too long. Returns when to come back.
pub fn tick(s: &mut Supervisor) -> u64 {
    if s.log.writer == 0 && s.log.given == NOTED.load(Relaxed) {
        return NEVER;
    }
    let now = sys::now_ms();
    if s.log.writer > 0 {
        if sys::has_ended(s.log.writer) {
            s.log.writer = 0;
        } else if now >= s.log.end_writer_at {
            // It may not even die of this, stuck in the kernel. It is reaped whenever it does.
            kill::helper(s.log.writer);
            s.log.writer = 0;
        } else {
            return now + 2;
        }
    }
    let noted = NOTED.load(Relaxed);
    if s.log.given != noted {
        start(s, now + WRITER_LIMIT_MS, &|s, file| pending_lines(s, file, noted));
        s.log.given = noted;
        return now + 1;
    }
    NEVER
}

fn start(s: &mut Supervisor, end_at: u64, lines: &dyn Fn(&Supervisor, i32)) {
    if home_length(s) == 0 {
        return;
    }
    let pid = sys::fork();
    if pid == 0 {
        sys::close_from(3);
        let file = open(s);
        if file >= 0 {
            lines(s, file);
        }
        sys::exit(0);
    }
    s.log.writer = pid.max(0);
    s.log.end_writer_at = end_at;
}

fn pending_lines(s: &Supervisor, file: i32, noted: u32) {
    let first = s.log.given.max(noted.saturating_sub(PENDING as u32));
    for number in first..noted {
        if let Some(line) = RING.get(number as usize % PENDING) {
            let fate = Fate { outcome: line.outcome.load(Relaxed), took_ms: line.took_ms.load(Relaxed) };
            let (pid, serial) = (line.pid.load(Relaxed), line.serial.load(Relaxed));
            write_line(s, file, line.at_ms.load(Relaxed), pid, serial, Cause::Stop, fate);
        }
    }
}

/// What became of the group in a slot once the owner was gone: outcome in the low 4 bits, milliseconds above.
static FATES: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];

struct Fate {
    outcome: u32,
    took_ms: u32,
}

pub fn is_settled(index: usize) -> bool {
    FATES.get(index).is_none_or(|fate| fate.load(Relaxed) != 0)
}

pub fn settle(index: usize, outcome: Outcome, took_ms: u64) {
    if let Some(fate) = FATES.get(index) {
        fate.store((took_ms as u32) << 4 | outcome as u32, Relaxed);
    }
}

/// Writes what became of every group, by `until` at the latest.
pub fn write_fates(s: &mut Supervisor, until: u64) {
    start(s, until, &|s, file| {
        for (index, (slot, fate)) in s.roster.used().iter().zip(&FATES).enumerate() {
            let value = fate.load(Relaxed);
            let fate = Fate { outcome: value & 15, took_ms: value >> 4 };
            if value != 0 {
                let known = super::state::cell(index).pid();
                let pid = if known != 0 { known } else { slot.pid.load(SeqCst) };
                write_line(s, file, sys::unix_ms(), pid, slot.load().serial(), Cause::OwnerGone, fate);
            }
        }
    });
    let mut pause_ms = 1;
    while s.log.writer > 0 && !sys::has_ended(s.log.writer) {
        if sys::now_ms() >= until {
            kill::helper(s.log.writer);
            return;
        }
        sys::sleep_ms(pause_ms);
        pause_ms = (pause_ms * 2).min(20);
    }
}

fn home_length(s: &Supervisor) -> usize {
    s.roster.home.iter().position(|byte| byte.load(SeqCst) == 0).unwrap_or(0)
}

/// Opens the file, and the directory before it, and moves a file that is full out of the way.
fn open(s: &Supervisor) -> i32 {
    const FILE: &[u8] = b"/reaped.jsonl\0";
    const OLDER: &[u8] = b"/reaped.jsonl.1\0";
    let mut home = [0u8; HOME_PATH_BYTES + 16];
    let length = home_length(s);
    for (to, from) in home.iter_mut().zip(&s.roster.home).take(length) {
        *to = from.load(SeqCst);
    }
    let mut older = home;
    // Only the last part of the path is ever created.
    sys::mkdir(home.get(..=length).unwrap_or_default(), 0o700);
    let path = join(&mut home, length, FILE);
    let older = join(&mut older, length, OLDER);
    const FLAGS: usize = sys::O_WRONLY | sys::O_APPEND | sys::O_CREAT | sys::O_NOFOLLOW | sys::O_NONBLOCK;
    let file = sys::open(path, FLAGS, 0o600);
    let Some(stat) = sys::fstat(file).filter(|stat| stat.regular) else { return -1 };
    if stat.size < SIZE_LIMIT_BYTES || sys::try_lock(file) != 0 {
        return file;
    }
    // With the lock held and the path still this file's, nobody else has moved it: the older one is lost once only.
    let again = sys::open(path, FLAGS, 0o600);
    if sys::fstat(again).is_some_and(|now| now.inode == stat.inode) {
        sys::rename(path, older);
        return sys::open(path, FLAGS, 0o600);
    }
    again
}

fn join<'a>(room: &'a mut [u8; HOME_PATH_BYTES + 16], length: usize, name: &[u8]) -> &'a [u8] {
    for (to, &from) in room.iter_mut().skip(length).zip(name) {
        *to = from;
    }
    room.get(..length + name.len()).unwrap_or_default()
}

/// A line under construction. One write a line: O_APPEND keeps the lines of several writers whole.
struct Line {
    bytes: [u8; 256],
    len: usize,
}

impl Line {
    fn text(mut self, text: &[u8]) -> Line {
        for (place, &byte) in self.bytes.iter_mut().skip(self.len).zip(text) {
            *place = byte;
            self.len += 1;
        }
        self
    }
    fn number(self, name: &[u8], number: u64) -> Line {
        let mut digits = [0u8; 20];
        self.text(name).text(proc::decimal(number, &mut digits))
    }
}

fn write_line(s: &Supervisor, file: i32, at_ms: u64, pid: i32, serial: u32, cause: Cause, fate: Fate) {
    let line = Line { bytes: [0; 256], len: 0 }
        .number(b"{\"v\":1,\"at\":", at_ms)
        .number(b",\"owner\":{\"pid\":", s.owner_pid as u64)
        .number(b",\"start\":", s.roster.header.owner_start.load(SeqCst))
        .number(b"},\"pgid\":", pid.max(0) as u64)
        .number(b",\"serial\":", serial as u64)
        .text(b",\"cause\":\"")
        .text(if cause == Cause::Stop { b"stop" } else { b"owner_gone" })
        .text(b"\",\"outcome\":\"")
        .text(name(fate.outcome))
        .number(b"\",\"ms\":", fate.took_ms as u64)
        .text(b"}\n");
    sys::write(file, line.bytes.get(..line.len).unwrap_or_default());
}
