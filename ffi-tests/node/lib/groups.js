'use strict';

// Groups that somebody else has started.

const { ERR } = require('./abi');
const { HermesError } = require('./errors');
const { attempt, call } = require('./library');
const { isLate, later, now } = require('./patience');

const fits = (pgid) => Number.isInteger(pgid) && pgid >= -(2 ** 31) && pgid < 2 ** 31;

/**
 * Takes over process groups: from now on they die with this process. All of them, or none; twice is once.
 *
 * What is wrong is thrown at once. The promise is of importance when the supervisor was killed a moment ago: then it
 * settles when the groups are taken over; else they are when this returns.
 */
function ownProcessGroups(pgids) {
  const numbers = [...pgids];
  for (const pgid of numbers) {
    // An array of int32 would cut it down to another number.
    if (!fits(pgid)) {
      const message = `cannot own group ${pgid}: no process group has such a number`;
      throw new HermesError({ code: ERR.UNSAFE_GROUP, os_errno: 0, step: 'own_process_groups', message });
    }
  }
  const own = (limitMs) =>
    attempt('hermes_own_process_groups_within', Int32Array.from(numbers), numbers.length, limitMs);
  const failure = now(own);
  if (isLate(failure)) return later(own).then(check);
  check(failure);
  return Promise.resolve();
}

function check(failure) {
  if (failure) throw new HermesError(failure);
}

/** Lets groups go: they may outlive this process. An unknown number is no error. */
function releaseProcessGroups(pgids) {
  const numbers = [...pgids].filter(fits);
  call('hermes_release_process_groups', Int32Array.from(numbers), numbers.length);
}

/** Lets a group go when nothing that runs is left in it, and not before. An unknown number is no error. */
function releaseProcessGroupOnceEmpty(pgid) {
  if (fits(pgid)) call('hermes_release_process_group_once_empty', pgid);
}

module.exports = { ownProcessGroups, releaseProcessGroupOnceEmpty, releaseProcessGroups };
