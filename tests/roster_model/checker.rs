//! Depth first through every order of steps. A state that was seen before is not entered again.

use super::atomic::{self, Left, Seen};
use super::stage::{Ghost, Memory, Stage};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    Owner,
    /// The kernel that carries out a clone, and the child until its exec: outlives the owner's threads.
    Kernel,
    /// With its generation.
    Supervisor(u8),
    /// Deaths, as they are decided by the outside.
    Fate,
}

pub struct Actor {
    pub name: &'static str,
    pub role: Role,
    pub play: Box<dyn Fn(&Stage)>,
}

pub fn actor<R>(name: &'static str, role: Role, play: impl Fn(&Stage) -> R + 'static) -> Actor {
    Actor { name, role, play: Box::new(move |stage| drop(play(stage))) }
}

#[derive(Clone)]
struct State {
    memory: Memory,
    ghost: Ghost,
    /// What each thread has seen, and whether it has come to its end.
    threads: Vec<(Vec<Seen>, bool)>,
    path: Vec<u8>,
}

impl State {
    /// Two hashes with different beginnings: 128 bits, so that a collision hides nothing in practice.
    fn fingerprint(&self) -> (u64, u64) {
        let hash = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, &self.memory, &self.ghost, &self.threads).hash(&mut hasher);
            hasher.finish()
        };
        (hash(1), hash(2))
    }
}

#[derive(Debug)]
pub struct Explored {
    pub states: usize,
    /// States in which nobody has a step left.
    pub ends: usize,
    pub violation: Option<String>,
}

enum Outcome {
    Blocked,
    Paused,
    Finished,
}

/// Tries everything from the stage as it stands. `at_end` judges the states in which nothing is left to happen.
pub fn explore(stage: &Stage, cast: &[Actor], at_end: impl Fn(&Stage) -> Result<(), String>) -> Explored {
    let threads = vec![(Vec::new(), false); cast.len()];
    let first = State { memory: stage.memory(), ghost: stage.ghost(), threads, path: Vec::new() };
    let mut explored = Explored { states: 1, ends: 0, violation: None };
    let mut known = HashSet::from([first.fingerprint()]);
    let mut todo = vec![first];
    while let Some(state) = todo.pop() {
        let mut is_end = true;
        for (index, actor) in cast.iter().enumerate() {
            if state.threads[index].1 || !state.ghost.may_run(actor.role) {
                continue;
            }
            stage.restore(&state.memory, &state.ghost);
            let (outcome, log) = advance(stage, actor, state.threads[index].0.clone());
            if matches!(outcome, Outcome::Blocked) {
                continue;
            }
            is_end = false;
            stage.judge_step(&state.memory, actor.role, index as u8);
            let mut next = State { memory: stage.memory(), ghost: stage.ghost(), ..state.clone() };
            next.threads[index] = (log, matches!(outcome, Outcome::Finished));
            next.path.push(index as u8);
            if let Some(what) = &next.ghost.violation {
                explored.violation = Some(format!("{what}\nafter {}", tell(cast, &next.path)));
                return explored;
            }
            if known.insert(next.fingerprint()) {
                explored.states += 1;
                todo.push(next);
            }
        }
        if is_end {
            explored.ends += 1;
            stage.restore(&state.memory, &state.ghost);
            if let Err(what) = at_end(stage) {
                explored.violation = Some(format!("at the end: {what}\nafter {}", tell(cast, &state.path)));
                return explored;
            }
        }
    }
    explored
}

fn advance(stage: &Stage, actor: &Actor, log: Vec<Seen>) -> (Outcome, Vec<Seen>) {
    atomic::begin(log);
    let run = catch_unwind(AssertUnwindSafe(|| (actor.play)(stage)));
    let log = atomic::end();
    let outcome = match run {
        Ok(()) => Outcome::Finished,
        Err(left) => match left.downcast::<Left>().map(|left| *left) {
            Ok(Left::Paused) => Outcome::Paused,
            Ok(Left::Blocked) => Outcome::Blocked,
            Err(panic) => resume_unwind(panic),
        },
    };
    (outcome, log)
}

/// `owner x3, supervisor x2, ...`
fn tell(cast: &[Actor], path: &[u8]) -> String {
    let runs = path.chunk_by(|a, b| a == b);
    runs.map(|run| format!("{} x{}", cast[run[0] as usize].name, run.len())).collect::<Vec<_>>().join(", ")
}
