//! The races that the roster has to stand, each over all interleavings.

use super::cast::{
    all_covered_but, ask_for_kill, carry_out, clone_and_exec, endgame, group_ends, judge_mark, own, owner_dies,
    release, spawn, supervisor_dies, vacate_if_empty,
};
use super::checker::{Actor, Explored, Role, actor, explore};
use super::roster::{Side, State};
use super::stage::Stage;

/// All interleavings hold, and there were at least this many states to look at: a scenario in which nothing can
/// happen proves nothing.
#[track_caller]
pub fn holds(stage: &Stage, cast: &[Actor], at_least: usize) {
    check(stage, cast, at_least, |stage| all_covered_but(stage, |_| false));
}

#[track_caller]
fn check(stage: &Stage, cast: &[Actor], at_least: usize, at_end: impl Fn(&Stage) -> Result<(), String>) {
    let explored = explore(stage, cast, at_end);
    eprintln!("{} states, {} ends", explored.states, explored.ends);
    assert!(explored.violation.is_none(), "{}", explored.violation.unwrap_or_default());
    assert!(explored.states >= at_least && explored.ends > 0, "{explored:?}");
}

/// A stage on which the first tenant, serial 0, is held in slot 0 by a spawn that is over.
pub fn with_one_tenant() -> Stage {
    let stage = Stage::new();
    let everything = [actor("owner", Role::Owner, |s| spawn(s, 0)), kernel(0, 0, true)];
    // One interleaving after the other leads here; the last one looked at is as good as any.
    let Explored { violation, .. } = explore(&stage, &everything, |_| Ok(()));
    assert_eq!(violation, None);
    assert_eq!(stage.roster.slots[0].load().state(), Some(State::Owned));
    stage
}

fn kernel(index: usize, serial: u32, succeeds: bool) -> Actor {
    actor("kernel and child", Role::Kernel, move |s| clone_and_exec(s, index, serial, succeeds))
}

fn death() -> Actor {
    actor("the owner's death", Role::Fate, owner_dies)
}

fn reader() -> Actor {
    actor("supervisor", Role::Supervisor(1), endgame)
}

#[test]
fn a_spawn_in_flight_is_seen_by_a_supervisor_at_eof() {
    let cast = [actor("owner", Role::Owner, |s| spawn(s, 0)), kernel(0, 0, true), death(), reader()];
    holds(&Stage::new(), &cast, 300);
}

#[test]
fn a_failing_spawn_leaves_nothing_to_a_supervisor_at_eof() {
    let owner = actor("owner", Role::Owner, |s| {
        spawn(s, 0);
        spawn(s, 0);
    });
    holds(&Stage::new(), &[owner, kernel(0, 0, false), kernel(0, 1, true), death(), reader()], 500);
}

#[test]
fn two_threads_that_register_and_eof() {
    // Which of them gets serial 0 is open.
    let kernel = actor("kernel and child", Role::Kernel, |s| {
        s.wait_until(|ghost| ghost.tenants.iter().any(|t| t.cloning));
        let cloning = s.ask(|ghost| ghost.tenants[1].cloning);
        clone_and_exec(s, 0, cloning.into(), true);
    });
    let cast = [
        actor("owner spawns", Role::Owner, |s| spawn(s, 0)),
        actor("owner takes over", Role::Owner, |s| own(s, 1, true)),
        kernel,
        death(),
        reader(),
    ];
    let claimed = |s: &Stage, serial: usize| s.roster.slots[1].peek_is(State::Claimed, serial as u32);
    check(&Stage::new(), &cast, 1000, move |stage| all_covered_but(stage, |serial| claimed(stage, serial)));
}

#[test]
fn released_by_the_owner_or_freed_by_the_supervisor_but_once() {
    let cast = [
        actor("owner", Role::Owner, |s| release(s, &s.roster.slots[0], 0)),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
        actor("supervisor", Role::Supervisor(1), |s| {
            vacate_if_empty(s, &s.roster.slots[0], 0, Side::Supervisor);
        }),
        actor("next tenant", Role::Owner, |s| own(s, 0, true)),
    ];
    holds(&with_one_tenant(), &cast, 500);
}

#[test]
fn three_ways_to_free_a_slot_and_an_immediate_new_tenant() {
    let cast = [
        actor("owner releases", Role::Owner, |s| release(s, &s.roster.slots[0], 0)),
        actor("owner vacates", Role::Owner, |s| vacate_if_empty(s, &s.roster.slots[0], 0, Side::Owner)),
        actor("supervisor vacates", Role::Supervisor(1), |s| {
            vacate_if_empty(s, &s.roster.slots[0], 0, Side::Supervisor);
        }),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
        actor("next tenant", Role::Owner, |s| spawn(s, 0)),
        kernel(0, 1, true),
    ];
    holds(&with_one_tenant(), &cast, 3000);
}

#[test]
fn once_empty_and_release_and_the_supervisors_look() {
    let cast = [
        actor("owner: once empty", Role::Owner, |s| {
            let slot = &s.roster.slots[0];
            slot.until_empty(slot.load());
        }),
        actor("owner releases", Role::Owner, |s| release(s, &s.roster.slots[0], 0)),
        actor("supervisor", Role::Supervisor(1), |s| {
            let slot = &s.roster.slots[0];
            slot.weaken(slot.load());
            vacate_if_empty(s, slot, 0, Side::Supervisor);
        }),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
    ];
    holds(&with_one_tenant(), &cast, 300);
}

#[test]
fn a_supervisor_killed_while_it_frees_and_its_successor_and_a_new_tenant() {
    let cast = [
        actor("supervisor", Role::Supervisor(1), |s| {
            vacate_if_empty(s, &s.roster.slots[0], 0, Side::Supervisor);
        }),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
        actor("the supervisor's death", Role::Fate, |s| supervisor_dies(s, 1)),
        actor("successor", Role::Supervisor(2), |s| {
            s.wait_until(|ghost| ghost.dead_supervisors.contains(&1));
            s.roster.used().iter().for_each(|slot| slot.finish_vacate());
        }),
        actor("owner releases", Role::Owner, |s| release(s, &s.roster.slots[0], 0)),
        actor("next tenant", Role::Owner, |s| own(s, 0, true)),
    ];
    holds(&with_one_tenant(), &cast, 1000);
}

#[test]
fn an_answer_is_there_for_its_reader_when_the_slot_has_gone() {
    let cast = [
        actor("caller", Role::Owner, |s| ask_for_kill(s, &s.roster.slots[0], 0)),
        actor("supervisor", Role::Supervisor(1), |s| {
            let slot = &s.roster.slots[0];
            carry_out(s, slot, 0);
            vacate_if_empty(s, slot, 0, Side::Supervisor);
        }),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
        actor("the supervisor's death", Role::Fate, |s| supervisor_dies(s, 1)),
        actor("successor", Role::Supervisor(2), |s| {
            s.wait_until(|ghost| ghost.dead_supervisors.contains(&1));
            s.roster.used().iter().for_each(|slot| slot.finish_vacate());
            let slot = &s.roster.slots[0];
            carry_out(s, slot, 0);
            vacate_if_empty(s, slot, 0, Side::Supervisor);
        }),
    ];
    holds(&with_one_tenant(), &cast, 300);
}

#[test]
fn own_all_or_nothing_and_eof() {
    for accepted in [true, false] {
        let owner = actor("owner", Role::Owner, move |s| {
            own(s, 0, accepted);
            own(s, 0, true);
        });
        // A group that was claimed and not committed yet is not ours: it is neither signalled nor missed.
        let claimed = |s: &Stage, serial: usize| s.roster.slots[0].peek_is(State::Claimed, serial as u32);
        check(&Stage::new(), &[owner, death(), reader()], 100, |stage| {
            all_covered_but(stage, |serial| claimed(stage, serial))
        });
    }
}

#[test]
fn a_released_mark_is_nobodys_from_the_exchange_on() {
    let cast = [
        actor("owner releases", Role::Owner, |s| release(s, &s.roster.slots[0], 0)),
        actor("supervisor", Role::Supervisor(1), |s| judge_mark(s, 0)),
        actor("next tenant", Role::Owner, |s| own(s, 0, true)),
    ];
    holds(&with_one_tenant(), &cast, 100);
}

#[test]
fn a_release_that_races_with_the_end_of_its_group_still_lets_the_mark_go() {
    let cast = [
        actor("owner releases", Role::Owner, |s| {
            let slot = &s.roster.slots[0];
            let word = slot.load();
            if word.is_held() {
                s.roster.release(slot, word);
                s.note(|ghost| ghost.tenants[0].released = true);
            }
        }),
        actor("the group's end", Role::Fate, |s| group_ends(s, 0)),
        actor("supervisor", Role::Supervisor(1), |s| {
            let slot = &s.roster.slots[0];
            slot.weaken(slot.load());
            vacate_if_empty(s, slot, 0, Side::Supervisor);
        }),
    ];
    check(&with_one_tenant(), &cast, 100, |stage| {
        if stage.ghost().tenants[0].released && !stage.roster.is_let_go(0) {
            return Err("its mark is still taken for ours".into());
        }
        match stage.roster.slots[0].load().state() {
            Some(State::Free) => Ok(()),
            state => Err(format!("the slot is {state:?}")),
        }
    });
}
