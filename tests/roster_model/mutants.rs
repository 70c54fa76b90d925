//! Mistakes that the design avoids. The checker must find each of them, or its silence is worth nothing.

use super::atomic::Ordering::SeqCst;
use super::cast::{
    all_covered_but, ask_for_kill, carry_out, clone_and_exec, group_ends, look_and_signal, own, owner_dies, spawn,
    supervisor_dies, vacate_if_empty,
};
use super::checker::{Actor, Role, actor, explore};
use super::roster::{Side, Slot, State, Word, flags};
use super::scenarios::with_one_tenant;
use super::stage::Stage;

#[track_caller]
fn is_found_out(stage: &Stage, cast: &[Actor], how: &str) {
    let violation =
        explore(stage, cast, |stage| all_covered_but(stage, |_| false)).violation.expect("the mistake is found");
    assert!(violation.contains(how), "{violation}");
}

fn zero(slot: &Slot) {
    slot.pid.store(0, SeqCst);
    slot.request.store(0, SeqCst);
    slot.since.store(0, SeqCst);
    slot.identity.store(0, SeqCst);
}

fn exchange(slot: &Slot, from: Word, to: Word) -> bool {
    slot.word.compare_exchange(from.0, to.0, SeqCst, SeqCst).is_ok()
}

fn free(word: Word) -> Word {
    Word::new(word.serial(), 0, State::Free)
}

/// The group ends, and its slot is freed like this by the supervisor, beside an owner that does the same.
fn double_free(how: fn(&Slot, Word)) -> Vec<Actor> {
    let free_empty = move |s: &Stage| {
        s.wait_until(|ghost| ghost.tenants[0].empty);
        let slot = &s.roster.slots[0];
        let word = slot.load();
        if word.serial() == 0 && word.is_held() {
            how(slot, word);
        }
    };
    vec![
        actor("owner frees", Role::Owner, move |s| vacate_if_empty(s, &s.roster.slots[0], 0, Side::Owner)),
        actor("supervisor frees", Role::Supervisor(1), free_empty),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
        actor("next tenant", Role::Owner, |s| own(s, 0, true)),
    ]
}

#[test]
fn zeroing_before_the_exchange() {
    let cast = double_free(|slot, word| {
        zero(slot);
        exchange(slot, word, free(word));
    });
    is_found_out(&with_one_tenant(), &cast, "slot");
}

#[test]
fn zeroing_after_the_exchange() {
    let cast = double_free(|slot, word| {
        if exchange(slot, word, free(word)) {
            zero(slot);
        }
    });
    is_found_out(&with_one_tenant(), &cast, "slot");
}

#[test]
fn freeing_without_an_exchange() {
    let cast = double_free(|slot, word| {
        slot.word.store(word.with(State::Freeing, flags::BY_SUPERVISOR).0, SeqCst);
        zero(slot);
        slot.word.store(free(word).0, SeqCst);
    });
    is_found_out(&with_one_tenant(), &cast, "");
}

#[test]
fn an_answer_that_is_zeroed_with_the_slot() {
    let cast = [
        actor("caller", Role::Owner, |s| ask_for_kill(s, &s.roster.slots[0], 0)),
        actor("supervisor", Role::Supervisor(1), |s| {
            let slot = &s.roster.slots[0];
            carry_out(s, slot, 0);
            s.wait_until(|ghost| ghost.tenants[0].empty);
            let word = slot.load();
            if exchange(slot, word, word.with(State::Freeing, flags::BY_SUPERVISOR)) {
                zero(slot);
                slot.word.store(free(word).0, SeqCst);
            }
        }),
    ];
    is_found_out(&with_one_tenant(), &cast, "nobody says so");
}

#[test]
fn a_successor_that_finishes_what_the_owner_has_begun() {
    let cast = [
        actor("owner frees", Role::Owner, |s| vacate_if_empty(s, &s.roster.slots[0], 0, Side::Owner)),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
        actor("the supervisor's death", Role::Fate, |s| supervisor_dies(s, 1)),
        actor("successor", Role::Supervisor(2), |s| {
            s.wait_until(|ghost| ghost.dead_supervisors.contains(&1));
            let slot = &s.roster.slots[0];
            let word = slot.load();
            if word.state() == Some(State::Freeing) {
                zero(slot);
                slot.word.store(free(word).0, SeqCst);
            }
        }),
        actor("next tenant", Role::Owner, |s| own(s, 0, true)),
    ];
    is_found_out(&with_one_tenant(), &cast, "slot");
}

#[test]
fn a_supervisor_that_looks_only_once() {
    let cast = [
        actor("owner", Role::Owner, |s| spawn(s, 0)),
        actor("kernel and child", Role::Kernel, |s| clone_and_exec(s, 0, 0, true)),
        actor("the owner's death", Role::Fate, owner_dies),
        actor("supervisor", Role::Supervisor(1), |s| {
            s.wait_until(|ghost| ghost.eof);
            look_and_signal(s);
        }),
    ];
    is_found_out(&Stage::new(), &cast, "tenant 0 outlives its owner");
}

/// The one that is looked at last may be the one that was taken last.
#[test]
fn a_high_water_mark_raised_after_the_slot_was_taken() {
    let cast = [
        actor("owner", Role::Owner, |s| {
            let serial = s.roster.next_serial().expect("there are plenty");
            let slot = &s.roster.slots[0];
            let word = slot.take(State::Claimed, serial, 0).expect("free");
            s.note(|ghost| ghost.tenants[0].exists = true);
            slot.pid.store(super::stage::pid_of(serial), SeqCst);
            slot.since.store(1, SeqCst);
            slot.commit(word);
            s.roster.header.high_water.fetch_max(1, SeqCst);
        }),
        actor("the owner's death", Role::Fate, owner_dies),
        actor("supervisor", Role::Supervisor(1), super::cast::endgame),
    ];
    is_found_out(&Stage::new(), &cast, "tenant 0 outlives its owner");
}

#[test]
fn a_release_that_says_so_only_in_the_bitmap_and_only_afterwards() {
    let cast = [
        actor("owner releases", Role::Owner, |s| {
            let slot = &s.roster.slots[0];
            let word = slot.load();
            if slot.vacate(word, Side::Owner) {
                s.note(|ghost| ghost.tenants[0].released = true);
                s.roster.let_go(0);
            }
        }),
        actor("supervisor", Role::Supervisor(1), |s| super::cast::judge_mark(s, 0)),
    ];
    is_found_out(&with_one_tenant(), &cast, "was released");
}

#[test]
fn a_look_at_the_bitmap_and_then_at_the_slots_and_no_more() {
    let cast = [
        actor("owner releases", Role::Owner, |s| super::cast::release(s, &s.roster.slots[0], 0)),
        actor("supervisor", Role::Supervisor(1), |s| {
            let before = s.ask(|ghost| ghost.tenants[0].released);
            let bit = s.roster.let_go[0].load(SeqCst) & 1 == 1;
            let let_go = bit || s.roster.slots[0].load().has(flags::LET_GO);
            if before && !let_go {
                s.note(|ghost| ghost.fail("tenant 0 was released, and its mark is still taken for ours"));
            }
        }),
    ];
    is_found_out(&with_one_tenant(), &cast, "was released");
}
