//! What the threads of owner, kernel and supervisor do with the roster, in the order in which they do it.

use super::atomic::Ordering::SeqCst;
use super::roster::request::{self, Request};
use super::roster::{Side, Slot, State, Word, flags};
use super::stage::{Stage, identity_of, pid_of};

/// The owner's way to start a child in slot `index`: slot, clone, then commit, or abandon when the exec failed.
/// `None`: the slot is taken, or the exec failed.
pub fn spawn(stage: &Stage, index: usize) -> Option<Word> {
    let serial = stage.roster.next_serial().expect("there are plenty");
    let word = stage.roster.take(index, State::Starting, serial, flags::SPAWNED)?;
    let slot = &stage.roster.slots[index];
    slot.since.store(1, SeqCst);
    // Into the kernel: until the child has executed its program this thread does nothing, and may die in there.
    stage.wait_until(|_| true);
    stage.note(|ghost| ghost.tenants[serial as usize].cloning = true);
    stage.wait_until(|ghost| ghost.tenants[serial as usize].executed || ghost.tenants[serial as usize].failed);
    let failed = stage.ask(|ghost| ghost.tenants[serial as usize].failed);
    if failed {
        slot.abandon(word);
        return None;
    }
    slot.since.store(2, SeqCst);
    Some(slot.commit(word))
}

/// The kernel's part of that clone, and the child's until its exec succeeds or fails.
pub fn clone_and_exec(stage: &Stage, index: usize, serial: u32, succeeds: bool) {
    let slot = &stage.roster.slots[index];
    stage.wait_until(|ghost| ghost.tenants[serial as usize].cloning);
    slot.pid.store(pid_of(serial), SeqCst);
    stage.note(|ghost| ghost.tenants[serial as usize].exists = true);
    slot.identity.store(identity_of(serial), SeqCst);
    stage.wait_until(|_| true);
    stage.note(|ghost| {
        let tenant = &mut ghost.tenants[serial as usize];
        (tenant.executed, tenant.failed) = (succeeds, !succeeds);
        tenant.empty = !succeeds;
    });
}

/// `own_process_groups` for one group that exists already.
pub fn own(stage: &Stage, index: usize, accepted: bool) -> Option<Word> {
    let serial = stage.roster.next_serial().expect("there are plenty");
    let word = stage.roster.take(index, State::Claimed, serial, 0)?;
    stage.note(|ghost| ghost.tenants[serial as usize].exists = true);
    let slot = &stage.roster.slots[index];
    slot.pid.store(pid_of(serial), SeqCst);
    slot.since.store(1, SeqCst);
    if accepted {
        return Some(slot.commit(word));
    }
    slot.abandon(word);
    None
}

/// The owner lets a tenant go.
pub fn release(stage: &Stage, slot: &Slot, serial: u32) -> bool {
    let word = slot.load();
    word.serial() == serial && stage.roster.release(slot, word)
}

/// A thread that asks for the end of a group, and comes to look for the answer when the slot is being freed, or is.
pub fn ask_for_kill(stage: &Stage, slot: &Slot, serial: u32) {
    let asked = request::encode(Request::Signal(9));
    let is_ours = |word: Word| word.serial() == serial && word.is_held();
    if is_ours(slot.load()) && slot.request.compare_exchange(0, asked, SeqCst, SeqCst).is_ok() {
        stage.wait_until(|ghost| ghost.tenants[serial as usize].freed > 0);
        let said = slot.request.load(SeqCst);
        let done = stage.ask(|ghost| ghost.tenants[serial as usize].request_done);
        if done && !request::is_answer(said) {
            stage.note(|ghost| ghost.fail(format!("tenant {serial} was signalled, and nobody says so")));
        }
    }
}

/// The supervisor looks into a mailbox: KILL empties the group.
pub fn carry_out(stage: &Stage, slot: &Slot, serial: u32) {
    let word = slot.load();
    let asked = slot.request.load(SeqCst);
    if word.serial() == serial && word.is_held() && request::is_open(asked) {
        stage.note(|ghost| {
            let tenant = &mut ghost.tenants[serial as usize];
            (tenant.request_done, tenant.empty) = (true, true);
        });
        let _ = slot.request.compare_exchange(asked, request::encode(Request::Answer(0)), SeqCst, SeqCst);
    }
}

/// Either side frees a slot whose group it has seen empty.
pub fn vacate_if_empty(stage: &Stage, slot: &Slot, serial: u32, by: Side) -> bool {
    stage.wait_until(|ghost| ghost.tenants[serial as usize].empty);
    let word = slot.load();
    word.serial() == serial && slot.vacate(word, by)
}

/// What a supervisor does once the owner's end is confirmed: signals what it finds, and looks once more when no
/// thread of the owner can register anything any more.
pub fn endgame(stage: &Stage) {
    stage.wait_until(|ghost| ghost.eof);
    look_and_signal(stage);
    stage.wait_until(|ghost| ghost.owner_gone);
    look_and_signal(stage);
}

pub fn look_and_signal(stage: &Stage) {
    for slot in stage.roster.used() {
        let word = slot.load();
        if word.is_held() || word.state() == Some(State::Starting) {
            let pid = slot.pid.load(SeqCst);
            if pid != 0 {
                signal(stage, slot, word, pid);
            }
        }
    }
}

/// The identity is confirmed before anything is sent: a number that was read a moment ago proves nothing.
fn signal(stage: &Stage, slot: &Slot, word: Word, pid: i32) {
    let identity = slot.identity.load(SeqCst);
    let serial = word.serial();
    if slot.load().serial() != serial {
        return;
    }
    stage.note(|ghost| {
        // A slot that is being freed or was freed at this moment is no longer anybody's: the read before was older.
        if pid != pid_of(serial) {
            ghost.fail(format!("tenant {serial} was taken for process {pid}, identity {identity}"));
        }
        ghost.tenants[serial as usize].signalled = true;
    });
}

/// Whether a process with this mark is to be left alone, as the supervisor asks it in the endgame.
pub fn judge_mark(stage: &Stage, serial: u32) {
    let let_go_before = stage.ask(|ghost| ghost.tenants[serial as usize].released);
    let let_go = stage.roster.is_let_go(serial);
    if let_go_before && !let_go {
        stage.note(|ghost| ghost.fail(format!("tenant {serial} was released, and its mark is still taken for ours")));
    }
}

/// The keeper dies, and some time later the last thread of the owner, but never in the middle of a clone.
pub fn owner_dies(stage: &Stage) {
    stage.wait_until(|_| true);
    stage.note(|ghost| ghost.eof = true);
    stage.wait_until(|ghost| ghost.tenants.iter().all(|tenant| !tenant.cloning || tenant.exists));
    stage.note(|ghost| ghost.owner_gone = true);
}

pub fn supervisor_dies(stage: &Stage, generation: u8) {
    stage.wait_until(|_| true);
    stage.note(|ghost| ghost.dead_supervisors.push(generation));
}

pub fn group_ends(stage: &Stage, serial: u32) {
    stage.wait_until(|ghost| ghost.tenants[serial as usize].exists);
    stage.note(|ghost| ghost.tenants[serial as usize].empty = true);
}

/// At the end no group lives on without its owner, unless `excused` knows why.
pub fn all_covered_but(stage: &Stage, excused: impl Fn(usize) -> bool) -> Result<(), String> {
    let ghost = stage.ghost();
    for (serial, tenant) in ghost.tenants.iter().enumerate() {
        let forgotten = tenant.exists && !tenant.failed && tenant.freed == 0 && !tenant.signalled;
        if ghost.owner_gone && forgotten && !excused(serial) {
            return Err(format!("tenant {serial} outlives its owner"));
        }
    }
    Ok(())
}
