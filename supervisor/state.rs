//! What the supervisor keeps to itself: one word a slot, and the figures of the whole.
//!
//! The roster belongs to the owner too, whose memory is not trusted: what was *proven* is noted here. All of it stands
//! in .bss, indexed by slot, so a page that was never needed does not exist.

use super::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use super::log::Log;
use super::roster::{Roster, SLOTS, Slot, State, Word, features};
use super::scan::Scanner;
use super::{proc, sys};

/// What is known of the tenant of one slot.
///
/// Bits: 0-7 flags, 8-31 pid (0: nothing known), 32-51 pidfd plus one (0: none), 52-63 low bits of the serial. Two
/// tenants of a slot with equal low bits are 4,096 serials apart, and would need the same pid as well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell(u64);

/// The pid leads (or led) this group, and it is the one that was registered.
pub const PROVEN: u64 = 1;
/// The leader has exited.
pub const EXITED: u64 = 2;
/// No pidfd holds the group; its number is all there is, pinned by whoever is in it.
pub const NUMBER_ONLY: u64 = 4;
/// A stop is under way.
pub const STOPPING: u64 = 8;
/// Somebody else's, or not to be touched: never signalled.
pub const REFUSED: u64 = 16;
/// TERM was sent after the owner's death.
pub const TERMED: u64 = 128;
/// KILL was sent, in a stop or after the owner's death.
pub const KILLED: u64 = 32;
/// After the owner's death: it is known what became of the group, there is nothing left to do.
pub const SETTLED: u64 = 64;

/// Where pids end: the largest `pid_max` a kernel takes.
pub const PID_END: i32 = 1 << 22;
const PID_AT: u32 = 8;
const FD_AT: u32 = 32;
const FD_BITS: u32 = 20;
const SERIAL_AT: u32 = 52;
/// Higher descriptors do not fit into a cell.
pub const FD_LIMIT: i32 = (1 << FD_BITS) - 2;

impl Cell {
    pub const NONE: Cell = Cell(0);

    #[inline(never)]
    pub fn new(pid: i32, fd: i32, serial: u32, flags: u64) -> Cell {
        // A number that no process can have stands for all of its kind: it is refused whatever it is.
        let pid = if (1..PID_END).contains(&pid) { pid as u64 } else { 1 };
        Cell(flags | pid << PID_AT | ((fd + 1) as u64) << FD_AT | (serial as u64) << SERIAL_AT)
    }
    pub fn known(self) -> bool {
        self.pid() != 0
    }
    pub fn pid(self) -> i32 {
        (self.0 as u32 >> PID_AT) as i32
    }
    /// -1: none.
    #[inline(never)]
    pub fn fd(self) -> i32 {
        (self.0 >> FD_AT & ((1 << FD_BITS) - 1)) as i32 - 1
    }
    pub fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }
    pub fn is_of(self, serial: u32) -> bool {
        self.known() && self.0 >> SERIAL_AT == (serial as u64) << SERIAL_AT >> SERIAL_AT
    }
}

// Beside the stack: see `layout.ld`.
#[unsafe(link_section = ".bss.first")]
static CELLS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// Number of a slot. It can be none that does not exist, so no access needs a check.
pub type Index = u16;
const _: () = assert!(SLOTS == 1 << Index::BITS);

pub fn cell(index: Index) -> Cell {
    Cell(CELLS[index as usize].load(Relaxed))
}

#[inline(never)]
pub fn set_cell(index: Index, value: Cell) {
    CELLS[index as usize].store(value.0, Relaxed);
}

/// Sets a flag of what is known of a slot, or takes it away.
pub fn mark(index: Index, flag: u64, on: bool) {
    let value = cell(index).0;
    set_cell(index, Cell(if on { value | flag } else { value & !flag }));
}

/// No time: nothing is due.
pub const NEVER: u64 = u64::MAX;

/// When a grace that begins now is over. The clock is read rounded down, so it takes one more millisecond not to cut the
/// grace short; none at all is none.
pub fn after_grace(now: u64, grace_ms: u32) -> u64 {
    now + grace_ms as u64 + (grace_ms > 0) as u64
}

pub struct Supervisor {
    pub roster: &'static Roster,
    pub generation: u32,
    pub epoll: i32,
    pub features: u32,
    pub own_pid: i32,
    pub owner_pid: i32,
    pub owner_group: i32,
    /// Start ticks as we read them, minus the same as the owner reads them: a time namespace may lie between.
    pub tick_shift: i64,
    /// Bit 0: lifeline A has ended; bit 1: B.
    pub ended: u32,
    /// CLOCK_MONOTONIC in ms, like every time here: when the first of them did.
    pub ended_at: u64,
    /// The owner's pidfd is readable: it is gone, and so is every thread that could still register something.
    pub owner_gone: bool,
    /// Leaders have exited since the last look.
    pub leaders_exited: bool,
    /// When to look again at groups that are being stopped, or whose leader has gone.
    pub tend_at: u64,
    /// While groups are stopped: how long after the last look.
    pub stop_step: u64,
    /// The next look at them is to be one at all members.
    pub count_members: bool,
    /// When to look again at groups whose leader has gone, with a look at all members, and how long after the last.
    pub thorough_at: u64,
    pub thorough_step: u64,
    pub scanner: Scanner,
    pub log: Log,
    /// Processes in the table of escapees.
    pub escapees: usize,
    /// When the endgame began, on our clock and on that of start times.
    pub began: u64,
    pub began_ticks: u64,
    /// Who gets orphans, ours among them: this supervisor is one itself.
    pub reaper: i32,
    /// What hangs below the members of groups without a leader has been pinned.
    pub members_walked: bool,
    /// The grace is over.
    pub killing: bool,
    /// Of the scanner's pass: somebody new was found; somebody ended while being looked at; it began when everybody
    /// known was gone.
    pub found_new: bool,
    pub vanished: bool,
    pub scan_is_last: bool,
    /// It found nobody after everybody was gone.
    pub scan_was_clean: bool,
    /// How many more passes are made just because somebody vanished.
    pub doubts: u32,
    pub next_scan_at: u64,
    /// Last `scan_request` that was answered.
    pub scan_answered: u32,
}

impl Supervisor {
    /// The owner has let this supervisor go, and may have started another one, and new children, since.
    pub fn is_retired(&self) -> bool {
        self.roster.header.retired.load(SeqCst) >= self.generation
    }

    /// Every slot that was ever taken, with the word it holds now.
    #[inline(always)]
    pub fn slots(&self) -> impl Iterator<Item = (Index, &'static Slot, Word)> + use<> {
        self.roster.used().iter().enumerate().map(|(index, slot)| (index as Index, slot, slot.load()))
    }

    /// The slot that is in use for the child with this serial.
    #[inline(never)]
    pub fn find_serial(&self, serial: u32) -> Option<&'static Slot> {
        self.roster.used().iter().find(|slot| {
            let word = slot.load();
            word.serial() == serial && word.0 as u8 != State::Free as u8
        })
    }

    /// The slot of the proven group with this number, unless it has a flag that is not wanted.
    #[inline(never)]
    pub fn find_group(&self, pgid: i32, unwanted: u64) -> Option<Index> {
        let found = CELLS.iter().take(self.roster.used().len()).position(|cell| {
            let cell = Cell(cell.load(Relaxed));
            cell.pid() == pgid && cell.0 & (PROVEN | unwanted) == PROVEN
        });
        found.map(|index| index as Index)
    }

    /// Who a process is that a pidfd holds, in a number that no other process has or will have; 0: unknown.
    pub fn identity(&self, pid: i32, pidfd: i32) -> u64 {
        if self.features & features::PIDFS != 0 {
            return sys::inode(pidfd);
        }
        proc::stat(pid).map_or(0, |stat| self.identity_of(stat.start_ticks))
    }

    pub fn slot(&self, index: Index) -> &'static Slot {
        &self.roster.slots[index as usize]
    }

    /// A process started at these ticks (as we read them) already existed at `since_ns` of the owner's boot clock.
    pub fn started_by(&self, start_ticks: u64, since_ns: u64) -> bool {
        /// USER_HZ is 100 on every architecture.
        const TICK_NS: u64 = 10_000_000;
        // Across time namespaces the two sides round the same instant apart by one tick.
        let slack = (self.tick_shift != 0) as i64;
        self.owners_ticks(start_ticks) <= (since_ns / TICK_NS) as i64 + slack
    }

    /// Who a process is, where there is no pidfs: its start as the owner reads it, plus one.
    pub fn identity_of(&self, start_ticks: u64) -> u64 {
        (self.owners_ticks(start_ticks) + 1) as u64
    }

    pub fn owners_ticks(&self, start_ticks: u64) -> i64 {
        start_ticks as i64 - self.tick_shift
    }
}
