'use strict';

// Groups that somebody else has started.

const { ERR } = require('./abi');
const { HermesError } = require('./errors');
const { call } = require('./library');

const fits = (pgid) => Number.isInteger(pgid) && pgid >= -(2 ** 31) && pgid < 2 ** 31;

/** Takes over process groups: from now on they die with this process. All of them, or none; twice is once. */
function ownProcessGroups(pgids) {
  const numbers = [...pgids];
  for (const pgid of numbers) {
    // An array of int32 would cut it down to another number.
    if (!fits(pgid)) {
      const message = `cannot own group ${pgid}: no process group has such a number`;
      throw new HermesError({ code: ERR.UNSAFE_GROUP, os_errno: 0, step: 'own_process_groups', message });
    }
  }
  call('hermes_own_process_groups', Int32Array.from(numbers), numbers.length);
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
