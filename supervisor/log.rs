//! `reaped.jsonl`: one line a group, so that "why did my server die at 02:00" has an answer.
//!
//! A file system can hang for ever, so a throw-away copy of this process writes, and is ended when it takes too long.

use super::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use super::roster::{SLOTS, Word, fds};
use super::state::{Index, NEVER, Supervisor, cell};
use super::{kill, proc, sys};

const SIZE_LIMIT_BYTES: u64 = 1 << 20;
const WRITER_LIMIT_MS: u64 = 1_000;

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

/// Names of the outcomes, eight bytes each; spaces are not written.
const NAMES: &[u8] = b"        term    kill    gone    recycledrefused eperm   stuck   ";

fn name(outcome: u32) -> &'static [u8] {
    NAMES.chunks_exact(8).nth(outcome as usize).unwrap_or_default()
}

/// A line that has not been written yet.
struct Pending {
    at_ms: AtomicU64,
    pid: AtomicI32,
    serial: AtomicU32,
    /// Outcome, plus `OWNER_GONE` unless it was a stop.
    what: AtomicU32,
    took_ms: AtomicU32,
}
pub const OWNER_GONE: u32 = 8;
/// As many as there are slots. It is used from the start again whenever all is written, so few pages of it are.
static PENDING: [Pending; SLOTS] = [const {
    Pending {
        at_ms: AtomicU64::new(0),
        pid: AtomicI32::new(0),
        serial: AtomicU32::new(0),
        what: AtomicU32::new(0),
        took_ms: AtomicU32::new(0),
    }
}; SLOTS];
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

/// Notes what became of the group in a slot, which was begun at `began` (CLOCK_MONOTONIC, ms).
#[inline(never)]
pub fn note(index: Index, word: Word, what: u32, began: u64) {
    let noted = NOTED.load(Relaxed);
    // When all places are taken by lines that nobody can write, the rest is lost.
    if let Some(line) = PENDING.get(noted as usize) {
        NOTED.store(noted + 1, Relaxed);
        line.at_ms.store(sys::unix_ms(), Relaxed);
        line.pid.store(cell(index).pid(), Relaxed);
        line.serial.store(word.serial(), Relaxed);
        line.what.store(what, Relaxed);
        line.took_ms.store((sys::now_ms() - began) as u32, Relaxed);
    }
}

/// Starts a writer for what is pending, ends one that takes too long. Returns when to come back.
#[inline(never)]
pub fn tick(s: &mut Supervisor, now: u64) -> u64 {
    if s.log.writer > 0 {
        if !sys::has_ended(s.log.writer) {
            if now < s.log.end_writer_at {
                return now + 2;
            }
            // It may not even die of this, stuck in the kernel. It is reaped whenever it does.
            kill::helper(s.log.writer);
        }
        s.log.writer = 0;
        if s.log.given == NOTED.load(Relaxed) {
            NOTED.store(0, Relaxed);
            s.log.given = 0;
        }
    }
    let noted = NOTED.load(Relaxed);
    if s.log.given == noted {
        return NEVER;
    }
    // Without a directory, and when no process can be made, the lines are dropped.
    let pid = if s.roster.home[0].load(SeqCst) == 0 { -1 } else { sys::fork() };
    if pid == 0 {
        sys::close_back_pipe();
        sys::close_from(fds::ROSTER);
        let file = open(s);
        let lines = PENDING.get(s.log.given as usize..noted as usize).unwrap_or_default();
        lines.iter().for_each(|line| write_line(s, file, line));
        sys::exit(0);
    }
    s.log.given = noted;
    s.log.writer = pid.max(0);
    s.log.end_writer_at = now + WRITER_LIMIT_MS;
    now + 1
}

/// Writes what is pending, and waits for it until `until` at the latest.
pub fn finish(s: &mut Supervisor, until: u64) {
    while tick(s, sys::now_ms()) != NEVER && sys::now_ms() < until {
        sys::sleep_ms(1);
    }
}

/// Opens the file, after one that is full was moved out of the way. Two that do this in the same instant lose the
/// older file: this is a courtesy to whoever asks what happened, not a record.
fn open(s: &Supervisor) -> i32 {
    const FILE: &[u8] = b"reaped.jsonl\0";
    const OLDER: &[u8] = b"reaped.jsonl.1\0";
    const FLAGS: usize = sys::O_WRONLY | sys::O_APPEND | sys::O_CREAT | sys::O_NOFOLLOW | sys::O_NONBLOCK;
    if sys::enter_home(s.roster) < 0 {
        return -1;
    }
    let file = sys::open(FILE, FLAGS, 0o600);
    match sys::fstat(file) {
        Some(stat) if stat.regular && stat.size < SIZE_LIMIT_BYTES => file,
        Some(stat) if stat.regular => {
            sys::rename(FILE, OLDER);
            sys::open(FILE, FLAGS, 0o600)
        }
        _ => -1,
    }
}

fn write_line(s: &Supervisor, file: i32, pending: &Pending) {
    const SIZE: usize = 256;
    const LINE: &[u8] =
        b"{\"v\":1,\"at\":#,\"owner\":{\"pid\":#,\"start\":#},\"pgid\":#,\"serial\":#,\"ms\":#,\"cause\":\"";
    let numbers = [
        pending.at_ms.load(Relaxed),
        s.owner_pid as u64,
        s.roster.header.owner_start.load(SeqCst),
        pending.pid.load(Relaxed) as u64,
        pending.serial.load(Relaxed) as u64,
        pending.took_ms.load(Relaxed) as u64,
    ];
    let what = pending.what.load(Relaxed);
    let mut line = [0u8; SIZE];
    let mut length = proc::fill(&mut line, 0, LINE, &numbers);
    let parts: [&[u8]; 4] = [
        if what < OWNER_GONE { b"stop" } else { b"owner_gone" },
        b"\",\"outcome\":\"",
        name(what % OWNER_GONE),
        b"\"}\n",
    ];
    for part in parts {
        length = proc::fill(&mut line, length, part, &[]);
    }
    // One write a line: O_APPEND keeps the lines of several writers whole.
    sys::write(file, line.get(..length).unwrap_or_default());
}
