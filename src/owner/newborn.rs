//! Who the children are that were started a moment ago.
//!
//! A number is not enough: it may be given out again. Where the kernel has pidfs, the inode of a pidfd names a process
//! for the whole boot. It is written into the slot by the keeper and not by the child on its way to exec, for whom its
//! parent waits: it would take a tenth of a spawn.
//!
//! Whatever has the number now and is a child of this process is the one that was started: it is looked for within
//! milliseconds, and the host would have had to reap ours and start another as the leader of a group in that time. If
//! this process is killed before it is looked for, the supervisor tells the child by its mark or its start.

use std::sync::atomic::Ordering;

use super::lock;
use super::roster::Tenancy;
use super::runtime::Runtime;
use crate::roster::{Side, State, features, flags};
use crate::sys::pidfd;

impl Runtime {
    /// Before the supervisor is woken: what it finds then is complete.
    pub(super) fn identify_newborns(&self) {
        // As the supervisor found, which is to compare. The first child is seen once there is a supervisor.
        if self.roster.header.features.load(Ordering::SeqCst) & features::PIDFS == 0 {
            return;
        }
        for slot in self.roster.used() {
            let word = slot.load();
            let is_newborn = word.state() == Some(State::Owned)
                && word.has(flags::SPAWNED)
                && slot.identity.load(Ordering::SeqCst) == 0;
            if is_newborn {
                self.identify(Tenancy { slot, word });
            }
        }
    }

    fn identify(&self, newborn: Tenancy) {
        let Tenancy { slot, word } = newborn;
        match pidfd::inode_of_child(slot.pid.load(Ordering::SeqCst)) {
            Ok(inode) => {
                // No slot is taken while this is held.
                let _mail = lock(&self.mail);
                slot.identify(word, inode);
            }
            // The number was given out again. As long as anybody is in the group it would not have been.
            Err(libc::ECHILD) => {
                if slot.vacate(word, Side::Owner) {
                    self.freed(slot);
                }
            }
            // It has been reaped already: its group, if there is one left, is known by its number.
            Err(_) => {}
        }
    }
}
