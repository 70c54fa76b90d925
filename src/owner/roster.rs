//! Taking and finding slots of the roster.

use std::sync::atomic::Ordering;

use super::lock;
use super::runtime::{Runtime, chores};
use crate::error::{Error, ErrorCode, Result};
use crate::roster::{SLOTS, Side, Slot, State, Word, flags, request};
use crate::sys::futex;

/// A slot and the word by which it is this tenant's.
#[derive(Clone, Copy)]
pub(crate) struct Tenancy {
    pub slot: &'static Slot,
    pub word: Word,
}

impl Tenancy {
    /// Still this tenant's, whatever its state.
    pub(crate) fn current(&self) -> Option<Word> {
        Some(self.slot.load()).filter(|word| word.serial() == self.word.serial() && word.state() != Some(State::Free))
    }

    /// The word, if the group is covered.
    pub(crate) fn held(&self) -> Option<Word> {
        self.current().filter(|word| word.is_held())
    }
}

impl Runtime {
    /// Takes a free slot. Low slots come first, so that what the supervisor reads stays short.
    pub(crate) fn take_slot(&self, state: State, flags: u8, step: &'static str) -> Result<Tenancy> {
        let serial = self.roster.next_serial().ok_or_else(|| {
            let told = "this process has started or owned 2^27 groups and has no serial left for another; restart it";
            Error::new(ErrorCode::RosterFull, step, told)
        })?;
        let used = self.roster.used().len();
        let begin = self.next_slot.load(Ordering::Relaxed).min(used);
        let again_from_the_start = (begin..used).chain(0..begin).chain(used..SLOTS);
        // A thread that has asked for the end of the last tenant may still have to read that it came. Nobody reads the
        // answer to a stop that was given up, so when nothing else is left such a slot is taken, too.
        let with_answers = again_from_the_start.clone().map(|index| (index, true));
        for (index, answers_too) in again_from_the_start.map(|index| (index, false)).chain(with_answers) {
            let slot = &self.roster.slots[index];
            if slot.load().state() != Some(State::Free) {
                continue;
            }
            let _mail = lock(&self.mail);
            if request::is_answer(slot.request.load(Ordering::SeqCst)) && !answers_too {
                continue;
            }
            if let Some(word) = self.roster.take(index, state, serial, flags) {
                // A request for the last tenant may have come just after that one's end; and a supervisor that was
                // killed while it proved that one may have left who that was.
                slot.request.store(0, Ordering::SeqCst);
                slot.identity.store(0, Ordering::SeqCst);
                self.next_slot.store(index + 1, Ordering::Relaxed);
                return Ok(Tenancy { slot, word });
            }
        }
        let told = format!("all {SLOTS} slots are in use; release or stop groups first");
        Err(Error::new(ErrorCode::RosterFull, step, told))
    }

    /// The covered group of this number.
    pub(crate) fn find_group(&self, pgid: i32) -> Option<Tenancy> {
        self.roster.used().iter().find_map(|slot| {
            let word = slot.load();
            let found = word.is_held() && slot.pid.load(Ordering::SeqCst) == pgid && slot.load() == word;
            found.then_some(Tenancy { slot, word })
        })
    }

    /// The slots taken by the `own` call that holds the registry.
    pub(crate) fn claimed(&self) -> impl Iterator<Item = Tenancy> {
        self.roster.used().iter().filter_map(|slot| {
            let word = slot.load();
            (word.state() == Some(State::Claimed)).then_some(Tenancy { slot, word })
        })
    }

    /// A slot was freed: it is the next to be taken, and the keeper looks whether it was the last. A thread that stops
    /// the group meanwhile sleeps on its mailbox, and nobody else is left to answer.
    pub(crate) fn freed(&self, slot: &Slot) {
        futex::wake(&slot.request);
        let first = std::ptr::from_ref(&self.roster.slots[0]).addr();
        let index = (std::ptr::from_ref(slot).addr() - first) / size_of::<Slot>();
        self.next_slot.fetch_min(index, Ordering::Relaxed);
        self.ring(0);
    }

    /// A group is to be let go, at once if it is empty, and else when it is.
    ///
    /// Its slot is not freed under a request: the supervisor may have carried that out just now (the group may be empty
    /// because of it), and whoever asked waits for the answer. The supervisor frees the slot after it has answered.
    pub(crate) fn let_go_once_empty(&self, tenancy: Tenancy, is_empty: bool) {
        let Some(word) = tenancy.held() else { return };
        let Tenancy { slot, .. } = tenancy;
        let vacated = is_empty && {
            let _mail = lock(&self.mail);
            !request::is_open(slot.request.load(Ordering::SeqCst)) && slot.vacate(word, Side::Owner)
        };
        if vacated {
            self.freed(slot);
        } else if slot.until_empty(word) {
            self.ring(chores::LOOK);
        }
    }

    pub(crate) fn slots_in_use(&self) -> u32 {
        let in_use = |slot: &&Slot| slot.load().state() != Some(State::Free);
        self.roster.used().iter().filter(in_use).count() as u32
    }

    /// Groups that are known by their number only.
    pub(crate) fn weak_groups(&self) -> u32 {
        let weak = |slot: &&Slot| {
            let word = slot.load();
            word.is_held() && word.has(flags::WEAK)
        };
        self.roster.used().iter().filter(weak).count() as u32
    }
}
