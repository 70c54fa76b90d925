//! The roster: the one piece of memory that owner and supervisor share.
//!
//! It is a sealed memfd, mapped by both, and this file is compiled into both. State lives here and events travel on
//! pipes, so a supervisor that was killed is replaced by one that maps the same pages and knows everything.
//!
//! # The slot's state machine
//!
//! State, flags and serial share one 64-bit word, and the word changes by single compare-exchanges only. A move names
//! the whole word it starts from, so a slot that was freed and taken again in between (another serial) is never hit.
//!
//! | from | to | by | when |
//! |---|---|---|---|
//! | `Free` | `Starting` | owner | before `clone`; the kernel then writes the pid into the slot itself |
//! | `Free` | `Claimed` | owner | `own` fills the slot; never signalled |
//! | `Starting`, `Claimed` | `Owned` | owner | exec succeeded; or every group of the call was accepted |
//! | `Starting`, `Claimed` | `Freeing` | owner | exec failed; or another group of the call was refused |
//! | `Owned` | `OnceEmpty` | owner | let go when nothing that runs is left in the group |
//! | `Owned`, `OnceEmpty` | `Freeing` | owner | released (with `LET_GO`), or its group was seen empty |
//! | `Owned`, `OnceEmpty` | `Freeing` | supervisor (with `BY_SUPERVISOR`) | its group was seen empty or proven a stranger's |
//! | `Freeing` | `Free` | whoever moved it there | every other field of the slot is zero again, but for an unread answer |
//!
//! `Freeing` exists because the fields must be zeroed by exactly one side, before the slot can be taken again: zeroing
//! first would let the loser of a double free wipe the next tenant, zeroing last would let an old pid show up in the
//! next `Starting`. A supervisor killed while in `Freeing` leaves the `BY_SUPERVISOR` flag, so its successor (and
//! nobody else) finishes the move.
//!
//! The vforked child makes no move. It writes `identity` before exec, while the slot is `Starting` and its own.

use super::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};

pub const MAGIC: u64 = u64::from_le_bytes(*b"rosterv1");
pub const LAYOUT_VERSION: u32 = 1;

/// Children and groups that can be in the roster at once. Sparse: only pages that were touched exist.
pub const SLOTS: usize = 65_536;
/// Serials one owner can hand out in its life. Serials are never reused: a mark names its child for ever.
pub const SERIALS: u32 = 1 << 27;
/// Groups of ancestors that the roster records as never to be signalled.
pub const FORBIDDEN_GROUPS: usize = 32;
/// Longest path of the home directory, with its NUL.
pub const HOME_PATH_BYTES: usize = 4096;

/// Descriptors the supervisor is started with; 0 to 2 are `/dev/null`.
pub mod fds {
    pub const ROSTER: i32 = 3;
    pub const LIFELINE_A: i32 = 4;
    /// Absent (closed) when the owner has one lifeline only: see [`super::mode`].
    pub const LIFELINE_B: i32 = 5;
    /// Back pipe: `READY` once, then nothing. Its EOF tells the owner that the supervisor died.
    pub const BACK: i32 = 6;
    /// Where the supervisor moves it if it may. The kernel releases what a dead process had open from the highest number
    /// down: from here, it tells of the death before the leaders' pidfds are closed, which takes a millisecond a hundred.
    pub const BACK_HIGH: i32 = 255;
    /// A pidfd of the owner, opened by the owner itself: no number to be recycled on the way.
    pub const OWNER: i32 = 7;
}

/// What the supervisor says on the back pipe.
pub mod back {
    pub const READY: u8 = b'R';
    /// Followed by one byte (the [`super::Step`] that failed) and the errno as a little-endian u16; then it exits.
    pub const FAILED: u8 = b'F';
}

/// What the supervisor was doing when it could not start.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    MapRoster = 1,
    CheckRoster = 2,
    Epoll = 3,
    Watch = 4,
}

impl Step {
    pub fn name(code: u8) -> &'static str {
        match code {
            1 => "map the roster",
            2 => "check the roster's layout",
            3 => "create its epoll",
            4 => "watch its lifelines",
            _ => "start",
        }
    }
}

/// `Header::mode`: how the owner holds its lifelines.
pub mod mode {
    /// Two threads with private file tables hold one lifeline each: an EOF means that the program image is gone.
    pub const PRIVATE_TABLES: u32 = 0;
    /// One CLOEXEC pipe in the host's own table: an EOF is a hint, only the owner's pidfd is proof.
    pub const AT_FORK: u32 = 1;
}

/// `Header::features`: what the supervisor found out about this kernel by calling it.
pub mod features {
    /// `pidfd_send_signal` reaches a whole group through the leader's pidfd (Linux 6.9).
    pub const GROUP_PIDFD: u32 = 1;
    /// A pidfd's inode number names the process for the whole boot (pidfs, Linux 6.9).
    pub const PIDFS: u32 = 2;
    /// Leaders can be held by pidfds: nobody refuses `pidfd_open`.
    pub const PIDFD: u32 = 4;
    /// The owner is PID 1 or a subreaper: the supervisor is its child. Added by the owner, which knows when the process
    /// between the two has gone.
    pub const PARENT_IS_OWNER: u32 = 8;
    /// There is a `/proc`, and it shows this pid namespace.
    pub const PROC: u32 = 16;
    /// It lists the children of each task (CONFIG_PROC_CHILDREN).
    pub const CHILDREN: u32 = 32;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    Free = 0,
    Starting = 1,
    Claimed = 2,
    Owned = 3,
    OnceEmpty = 4,
    Freeing = 5,
}

const OWNED: u8 = State::Owned as u8;
const ONCE_EMPTY: u8 = State::OnceEmpty as u8;

/// Flags of a slot, in the second byte of its word.
pub mod flags {
    /// We started the leader (else the group was taken over by `own`).
    pub const SPAWNED: u8 = 1;
    /// No search for what left this group.
    pub const GROUP_ONLY: u8 = 2;
    /// With `Freeing`: the group was released, processes with its mark are nobody's.
    pub const LET_GO: u8 = 4;
    /// With `Freeing`: the supervisor is zeroing the slot.
    pub const BY_SUPERVISOR: u8 = 8;
    /// The leader was seen gone before a pidfd could be opened: the group is known by its number only.
    pub const WEAK: u8 = 16;
}

/// One value of a slot's word: serial (high half), flags, state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word(pub u64);

impl Word {
    pub const fn new(serial: u32, flags: u8, state: State) -> Word {
        Word((serial as u64) << 32 | (flags as u64) << 8 | state as u64)
    }
    pub const fn serial(self) -> u32 {
        (self.0 >> 32) as u32
    }
    pub const fn flags(self) -> u8 {
        (self.0 >> 8) as u8
    }
    pub const fn has(self, flag: u8) -> bool {
        self.flags() & flag != 0
    }
    /// `None` for a word that neither side writes: the memory was damaged, the slot is left alone.
    pub const fn state(self) -> Option<State> {
        Some(match self.0 as u8 {
            0 => State::Free,
            1 => State::Starting,
            2 => State::Claimed,
            3 => State::Owned,
            4 => State::OnceEmpty,
            5 => State::Freeing,
            _ => return None,
        })
    }
    pub const fn with(self, state: State, more_flags: u8) -> Word {
        Word::new(self.serial(), self.flags() | more_flags, state)
    }
    /// Covered: the group dies with the owner.
    pub fn is_held(self) -> bool {
        matches!(self.0 as u8, OWNED | ONCE_EMPTY)
    }
}

/// `Slot::request`: the mailbox in which a caller asks the supervisor to signal or stop a group.
///
/// 0 is idle; the owner puts a request, the supervisor overwrites it with an answer, the owner puts 0 back. Both wake
/// the other's futex on this word. A slot that is freed (the group is empty) zeroes a request, which is an answer too:
/// it was not carried out. An answer stays for whoever waits for it: KILL empties the group that it was asked for.
pub mod request {
    const KIND: u32 = 0xff00_0000;
    const PAYLOAD: u32 = 0x00ff_ffff;
    const SIGNAL: u32 = 0x0100_0000;
    const STOP: u32 = 0x0200_0000;
    const ANSWER: u32 = 0x0300_0000;
    /// Longest grace a stop can carry: 4 h 39 min.
    pub const GRACE_LIMIT_MS: u32 = PAYLOAD;

    /// The group outlived KILL by a second: something in it cannot die (D state).
    pub const STUCK: u32 = 0x00ff_ff01;
    /// A member belongs to another user and lives on; the rest is dead.
    pub const EPERM_LEFT: u32 = 0x00ff_ff02;
    /// The group turned out to be a stranger's: nothing was signalled.
    pub const RECYCLED: u32 = 0x00ff_ff03;
    /// The choke point refused to signal this group.
    pub const REFUSED: u32 = 0x00ff_ff04;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Request {
        Idle,
        Signal(i32),
        Stop {
            grace_ms: u32,
        },
        /// 0, an errno, or one of the constants above.
        Answer(u32),
    }

    pub fn encode(request: Request) -> u32 {
        match request {
            Request::Idle => 0,
            Request::Signal(signal) => SIGNAL | (signal as u32 & PAYLOAD),
            Request::Stop { grace_ms } => STOP | grace_ms.min(GRACE_LIMIT_MS),
            Request::Answer(code) => ANSWER | (code & PAYLOAD),
        }
    }

    /// Not looked at yet, or being carried out.
    pub fn is_open(word: u32) -> bool {
        matches!(decode(word), Request::Signal(_) | Request::Stop { .. })
    }

    pub fn is_answer(word: u32) -> bool {
        matches!(decode(word), Request::Answer(_))
    }

    pub fn decode(word: u32) -> Request {
        match word & KIND {
            SIGNAL => Request::Signal((word & PAYLOAD) as i32),
            STOP => Request::Stop { grace_ms: word & PAYLOAD },
            ANSWER => Request::Answer(word & PAYLOAD),
            _ => Request::Idle,
        }
    }
}

/// Who moves a slot to `Freeing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Owner,
    Supervisor,
}

#[repr(C)]
pub struct Slot {
    pub word: AtomicU64,
    /// Leader and group number. Written by the kernel (`CLONE_PARENT_SETTID`) for a `Starting` slot.
    pub pid: AtomicI32,
    pub request: AtomicU32,
    /// CLOCK_BOOTTIME in ns, taken before the leader could exist (`Starting`) or after it did (`Owned`): an upper
    /// bound of its start time once the slot is `Owned`.
    pub since: AtomicU64,
    /// Who the leader is: its pidfs inode where the kernel has it (`features::PIDFS`), else its start time in clock
    /// ticks plus one. 0: not known yet. The vforked child writes the former, the owner does for a group that it takes
    /// over, the supervisor fills in either.
    pub identity: AtomicU64,
}

impl Slot {
    pub fn load(&self) -> Word {
        Word(self.word.load(Ordering::SeqCst))
    }

    fn step(&self, from: Word, to: Word) -> bool {
        self.word.compare_exchange(from.0, to.0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// `Free` -> `Starting` or `Claimed` for a new tenant. `None`: the slot is taken.
    pub fn take(&self, state: State, serial: u32, flags: u8) -> Option<Word> {
        let free = self.load();
        let taken = Word::new(serial, flags, state);
        (free.state() == Some(State::Free) && self.step(free, taken)).then_some(taken)
    }

    /// `Starting` or `Claimed` -> `Owned`; the owner's own move, nobody competes for it.
    pub fn commit(&self, from: Word) -> Word {
        let owned = from.with(State::Owned, 0);
        self.step(from, owned);
        owned
    }

    /// `Starting` or `Claimed` -> `Free`: there is no group.
    pub fn abandon(&self, from: Word) {
        if self.step(from, from.with(State::Freeing, 0)) {
            self.wipe();
        }
    }

    /// `Owned` -> `OnceEmpty`. False: the slot has moved on.
    pub fn until_empty(&self, mut from: Word) -> bool {
        while from.state() == Some(State::Owned) {
            if self.step(from, from.with(State::OnceEmpty, 0)) {
                return true;
            }
            match self.still_held(from) {
                Some(now) => from = now,
                None => return false,
            }
        }
        false
    }

    /// The word of the same tenant, if it has only got a flag since `from` was read.
    fn still_held(&self, from: Word) -> Option<Word> {
        Some(self.load()).filter(|now| now.serial() == from.serial() && now.is_held())
    }

    /// The group is empty, or never was ours: `Owned` or `OnceEmpty` -> `Free`. False: the slot has moved on.
    pub fn vacate(&self, from: Word, by: Side) -> bool {
        let flag = if by == Side::Supervisor { flags::BY_SUPERVISOR } else { 0 };
        if !from.is_held() || !self.step(from, from.with(State::Freeing, flag)) {
            return false;
        }
        self.wipe();
        true
    }

    /// Marks the slot of a group that is known by its number only. False: the slot has moved on.
    pub fn weaken(&self, from: Word) -> bool {
        from.is_held() && self.step(from, Word::new(from.serial(), from.flags() | flags::WEAK, from.state_or_free()))
    }

    /// For a new supervisor: finishes what its predecessor was killed in.
    pub fn finish_vacate(&self) {
        let word = self.load();
        if word.state() == Some(State::Freeing) && word.has(flags::BY_SUPERVISOR) {
            self.wipe();
        }
    }

    fn wipe(&self) {
        let freeing = self.load();
        self.pid.store(0, Ordering::SeqCst);
        let asked = self.request.load(Ordering::SeqCst);
        if request::is_open(asked) {
            // The supervisor may answer at this very moment, and then the answer stays.
            let _ = self.request.compare_exchange(asked, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
        self.since.store(0, Ordering::SeqCst);
        self.identity.store(0, Ordering::SeqCst);
        self.word.store(Word::new(freeing.serial(), 0, State::Free).0, Ordering::SeqCst);
    }
}

impl Word {
    fn state_or_free(self) -> State {
        self.state().unwrap_or(State::Free)
    }
}

#[repr(C)]
pub struct Header {
    pub magic: AtomicU64,
    /// 128 random bits: which owner a mark belongs to.
    pub owner_id: [AtomicU64; 2],
    /// Start of the owner in clock ticks, as the owner reads it: both sides' clocks are compared through it.
    pub owner_start: AtomicU64,
    /// CLOCK_BOOTTIME in ns when the roster was made: nothing that carries our mark started earlier.
    pub created: AtomicU64,
    pub layout_version: AtomicU32,
    pub mode: AtomicU32,
    pub owner_pid: AtomicI32,
    pub owner_pgid: AtomicI32,
    /// Threads that hold lifeline A and B: seen exiting, each explains its own EOF only.
    pub keeper_tid: AtomicI32,
    pub watcher_tid: AtomicI32,
    pub grace_ms: AtomicU32,
    /// One more than the highest slot ever taken; raised before the slot is.
    pub high_water: AtomicU32,
    pub next_serial: AtomicU32,
    /// Futex of the keeper: every side increments it and wakes it.
    pub bell: AtomicU32,
    /// Generation of the supervisor that was started last; that said ready last; that may go.
    pub generation: AtomicU32,
    pub ready: AtomicU32,
    pub retired: AtomicU32,
    pub supervisor_pid: AtomicI32,
    pub features: AtomicU32,
    /// Groups known by their number only.
    pub weak_groups: AtomicU32,
    /// Owner asks for a count of marked processes by incrementing; the answer carries the same number.
    pub scan_request: AtomicU32,
    /// Pid the scanner is reading, for the supervisor that watches it.
    pub scanner_at: AtomicI32,
    /// `request number << 32 | marked processes found`; then the bell is rung.
    pub scan_answer: AtomicU64,
    /// Set when one of the two lifelines ended while the owner lived.
    pub lifeline_lost: AtomicU32,
    /// The highest descriptor that the supervisor may keep as a leader's pidfd: above it, its own work needs some.
    pub last_pidfd: AtomicI32,
    pub forbidden: [AtomicI32; FORBIDDEN_GROUPS],
    pub pad: [AtomicU64; 32],
}

#[repr(C)]
pub struct Roster {
    pub header: Header,
    pub slots: [Slot; SLOTS],
    /// One bit a serial: processes that carry it are no longer ours.
    pub let_go: [AtomicU64; SERIALS as usize / 64],
    /// Directory of `reaped.jsonl`, NUL-terminated; empty: nothing is written.
    pub home: [AtomicU8; HOME_PATH_BYTES],
}

/// Header and first slots share a page, so that a supervisor with a few groups touches one page of the roster.
const _: () = assert!(core::mem::size_of::<Header>() == 512);
const _: () = assert!(core::mem::size_of::<Slot>() == 32);
pub const ROSTER_BYTES: usize = core::mem::size_of::<Roster>();

impl Roster {
    /// The slots that were ever taken.
    #[inline(never)]
    pub fn used(&self) -> &[Slot] {
        let high = self.header.high_water.load(Ordering::SeqCst) as usize;
        &self.slots[..high.min(SLOTS)]
    }

    /// A serial nobody had before; `None` when this owner has used them all.
    pub fn next_serial(&self) -> Option<u32> {
        let counter = &self.header.next_serial;
        let mut next = counter.load(Ordering::SeqCst);
        while next < SERIALS {
            match counter.compare_exchange(next, next + 1, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return Some(next),
                Err(now) => next = now,
            }
        }
        None
    }

    /// Takes slot `index` for a new tenant, with the high-water mark raised first: a supervisor that reads the roster
    /// once, at the owner's death, must not miss it.
    pub fn take(&self, index: usize, state: State, serial: u32, flags: u8) -> Option<Word> {
        self.header.high_water.fetch_max(index as u32 + 1, Ordering::SeqCst);
        self.slots[index].take(state, serial, flags)
    }

    /// Lets a group and everything that carries its mark go: `Owned` or `OnceEmpty` -> `Free`. False: the group has
    /// ended meanwhile, and its mark is let go all the same. The compare-exchange is the release: whoever sees the slot
    /// in `Freeing` with `LET_GO` honours it.
    pub fn release(&self, slot: &Slot, mut from: Word) -> bool {
        if !from.is_held() {
            return false;
        }
        // The supervisor may weaken the slot, or free it, at this very moment; neither undoes what the caller asks for.
        while !slot.step(from, from.with(State::Freeing, flags::LET_GO)) {
            match slot.still_held(from) {
                Some(now) => from = now,
                None => {
                    self.let_go(from.serial());
                    return false;
                }
            }
        }
        self.let_go(from.serial());
        slot.wipe();
        true
    }

    /// Processes that carry this serial are no longer ours.
    pub fn let_go(&self, serial: u32) {
        if let Some(bits) = self.let_go.get(serial as usize / 64) {
            bits.fetch_or(1 << (serial % 64), Ordering::SeqCst);
        }
    }

    /// Whether a process that carries this serial is to be left alone: let go, or never handed out.
    pub fn is_let_go(&self, serial: u32) -> bool {
        if serial >= SERIALS || serial >= self.header.next_serial.load(Ordering::SeqCst) {
            return true;
        }
        let bit = || self.let_go[serial as usize / 64].load(Ordering::SeqCst) >> (serial % 64) & 1 == 1;
        let being_released = |slot: &Slot| {
            let word = slot.load();
            word.serial() == serial && word.state() == Some(State::Freeing) && word.has(flags::LET_GO)
        };
        // The bit is asked for once more at the end: a release may set it and leave the slot while the slots are read.
        bit() || self.used().iter().any(being_released) || bit()
    }
}
