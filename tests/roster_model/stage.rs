//! The roster's memory as the checker keeps it, what is known beside it, and the laws that hold after every step.

use super::atomic::{self, is_live};
use super::checker::Role;
use super::roster::{Roster, State, Word, flags};
use std::cell::RefCell;

/// Slots that the scenarios use. Two are enough for a race on one and a life beside it.
pub const SLOTS: usize = 2;
/// Tenants that a scenario may have.
pub const TENANTS: usize = 5;

/// The words of the roster that the transitions touch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    next_serial: u64,
    high_water: u64,
    let_go: u64,
    /// word, pid, request, since, identity
    slots: [[u64; 5]; SLOTS],
}

/// What really is the case, whatever the roster says.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Ghost {
    pub violation: Option<String>,
    /// The keeper is gone: the supervisor reads EOF. Other threads of the owner may still run.
    pub eof: bool,
    /// The owner's pidfd is readable: no thread of it runs any more.
    pub owner_gone: bool,
    /// Generations of supervisors that were killed.
    pub dead_supervisors: Vec<u8>,
    pub tenants: [Tenant; TENANTS],
    /// Who moved the slot to `Freeing`.
    freer: [Option<(Role, u8)>; SLOTS],
}

#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Tenant {
    /// A clone for it is under way in the kernel.
    pub cloning: bool,
    /// Its process exists; it has executed its program; it has failed to.
    pub exists: bool,
    pub executed: bool,
    pub failed: bool,
    /// The compare-exchange of a release has happened.
    pub released: bool,
    /// Its group is empty: whoever sees that may free the slot.
    pub empty: bool,
    /// How often its slot was freed.
    pub freed: u8,
    /// The supervisor has signalled it after the owner's death.
    pub signalled: bool,
    /// What was asked for it was carried out.
    pub request_done: bool,
}

impl Ghost {
    /// The dead do nothing.
    pub fn may_run(&self, role: Role) -> bool {
        match role {
            Role::Owner => !self.owner_gone,
            Role::Supervisor(generation) => !self.dead_supervisors.contains(&generation),
            Role::Kernel | Role::Fate => true,
        }
    }

    pub fn fail(&mut self, what: impl Into<String>) {
        self.violation.get_or_insert(what.into());
    }
}

pub struct Stage {
    pub roster: &'static Roster,
    ghost: RefCell<Ghost>,
}

/// The number of a tenant's process and group. No two tenants share one.
pub fn pid_of(serial: u32) -> i32 {
    1000 + serial as i32
}

pub fn identity_of(serial: u32) -> u64 {
    5000 + serial as u64
}

impl Stage {
    pub fn new() -> Stage {
        let layout = std::alloc::Layout::new::<Roster>();
        // SAFETY: the layout is not empty, and for a roster, which is made of atomics, all bytes zero is a value. Never
        // freed: 18 MiB of addresses, of which a few pages are ever touched.
        #[allow(unsafe_code, reason = "too big for a stack, and most of it is never touched")]
        let roster: &'static Roster = unsafe { &*std::alloc::alloc_zeroed(layout).cast() };
        Stage { roster, ghost: RefCell::default() }
    }

    pub fn ghost(&self) -> Ghost {
        self.ghost.borrow().clone()
    }

    pub fn memory(&self) -> Memory {
        let slots = std::array::from_fn(|i| {
            let slot = &self.roster.slots[i];
            [slot.word.peek(), slot.pid.peek(), slot.request.peek(), slot.since.peek(), slot.identity.peek()]
        });
        let header = &self.roster.header;
        Memory {
            next_serial: header.next_serial.peek(),
            high_water: header.high_water.peek(),
            let_go: self.roster.let_go[0].peek(),
            slots,
        }
    }

    pub fn restore(&self, memory: &Memory, ghost: &Ghost) {
        self.roster.header.next_serial.poke(memory.next_serial);
        self.roster.header.high_water.poke(memory.high_water);
        self.roster.let_go[0].poke(memory.let_go);
        for (slot, [word, pid, request, since, identity]) in self.roster.slots.iter().zip(memory.slots) {
            slot.word.poke(word);
            slot.pid.poke(pid);
            slot.request.poke(request);
            slot.since.poke(since);
            slot.identity.poke(identity);
        }
        self.ghost.replace(ghost.clone());
    }

    /// Notes something about the world, together with the operation that was just made. Not in a replay.
    pub fn note(&self, change: impl FnOnce(&mut Ghost)) {
        if is_live() {
            change(&mut self.ghost.borrow_mut());
        }
    }

    /// A step that is possible only while `condition` holds.
    pub fn wait_until(&self, condition: impl Fn(&Ghost) -> bool) {
        atomic::step(|| condition(&self.ghost.borrow()).then_some((true, 0)));
    }

    /// A question about the world, answered as of this step.
    pub fn ask(&self, question: impl Fn(&Ghost) -> bool) -> bool {
        atomic::step(|| Some((true, question(&self.ghost.borrow()) as u64))).1 == 1
    }

    /// The laws, for the step that led from `before` to here.
    pub fn judge_step(&self, before: &Memory, role: Role, thread: u8) {
        let after = self.memory();
        let mut ghost = self.ghost.borrow_mut();
        for index in 0..SLOTS {
            let (old, new) = (Word(before.slots[index][0]), Word(after.slots[index][0]));
            if old != new {
                judge_move(&mut ghost, index, old, new, role, thread);
            }
            judge_slot(&mut ghost, index, &after.slots[index]);
        }
    }
}

/// The table of the roster's first page: who may move a slot from where to where.
fn judge_move(ghost: &mut Ghost, index: usize, old: Word, new: Word, role: Role, thread: u8) {
    use State::{Claimed, Free, Freeing, OnceEmpty, Owned, Starting};
    let (Some(from), Some(to)) = (old.state(), new.state()) else {
        return ghost.fail(format!("slot {index}: not a word: {old:?} -> {new:?}"));
    };
    let owner = role == Role::Owner;
    let supervisor = matches!(role, Role::Supervisor(_));
    let weakened = from == to && old.serial() == new.serial() && new.flags() == old.flags() | flags::WEAK;
    let legal = match (from, to) {
        (Free, Starting | Claimed) => owner,
        (Starting | Claimed, Owned | Freeing) | (Owned, OnceEmpty) => owner && old.serial() == new.serial(),
        (Owned | OnceEmpty, Freeing) => old.serial() == new.serial() && (owner != new.has(flags::BY_SUPERVISOR)),
        (Freeing, Free) => old.serial() == new.serial() && new.flags() == 0,
        (Owned | OnceEmpty, _) if weakened => supervisor,
        _ => false,
    };
    if !legal {
        ghost.fail(format!("slot {index}: {role:?} moved {from:?} of {} to {to:?} of {}", old.serial(), new.serial()));
    }
    if to == Freeing {
        ghost.freer[index] = Some((role, thread));
        let tenant = &mut ghost.tenants[new.serial() as usize];
        tenant.freed += 1;
        tenant.released |= new.has(flags::LET_GO);
        if tenant.freed > 1 {
            ghost.fail(format!("tenant {} was freed twice", new.serial()));
        }
    }
    if (from, to) == (Freeing, Free) {
        let finished_by_successor = old.has(flags::BY_SUPERVISOR) && supervisor;
        if ghost.freer[index] != Some((role, thread)) && !finished_by_successor {
            ghost.fail(format!("slot {index}: {role:?} finished what {:?} had begun", ghost.freer[index]));
        }
    }
    if to == Starting && ghost.tenants[new.serial() as usize] != Tenant::default() {
        ghost.fail(format!("serial {} was handed out twice", new.serial()));
    }
}

/// What every slot is like at every moment.
fn judge_slot(ghost: &mut Ghost, index: usize, slot: &[u64; 5]) {
    let [word, pid, _, since, identity] = *slot;
    let (word, pid) = (Word(word), pid as i32);
    let own_pid = pid_of(word.serial());
    let wrong = match word.state() {
        // Its mailbox may hold an answer that nobody has read yet, or a request that came just after the end.
        Some(State::Free) if pid != 0 || since != 0 || identity != 0 => "a free slot is not empty",
        Some(State::Starting | State::Claimed) if pid != 0 && pid != own_pid => "an old pid in a new tenant's slot",
        Some(State::Owned | State::OnceEmpty) if pid != own_pid => "a held slot has lost its pid",
        Some(State::Owned | State::OnceEmpty) if since == 0 => "a held slot has lost its time",
        Some(State::Starting | State::Owned | State::OnceEmpty)
            if identity != 0 && identity != identity_of(word.serial()) =>
        {
            "another tenant's identity"
        }
        _ => return,
    };
    ghost.fail(format!("slot {index}, {word:?}: {wrong}: {slot:?}"));
}

impl super::roster::Slot {
    /// Past the checker.
    pub fn peek_is(&self, state: State, serial: u32) -> bool {
        let word = Word(self.word.peek());
        word.state() == Some(state) && word.serial() == serial
    }
}
