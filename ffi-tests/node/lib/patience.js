'use strict';

// Calls that need a supervisor. While a killed one is being replaced, the event loop does not stand still: the call is
// made again by timers.

const { constants } = require('node:os');
const { ERR } = require('./abi');

/** Of the event loop's time. */
const LONGEST_WAIT_MS = 5;
const WAIT_AGAIN_MS = 1;
const PAUSE_MS = 5;
/** As long as the library itself waits for one that is being started. */
const LONGEST_START_MS = 10_000;

let supervised = false;

/** It may succeed later; what cannot succeed at all is told otherwise, and at once. */
const isLate = (failure) => failure?.code === ERR.SUPERVISOR && failure.os_errno === constants.errno.ETIMEDOUT;

/**
 * `call` is given the milliseconds that it may wait (0: as long as need be), and returns its failure.
 *
 * This thread's first call is waited for, so that what needs no patience afterwards needs none in the beginning.
 */
function now(call) {
  let failure = call(LONGEST_WAIT_MS);
  if (isLate(failure) && !supervised) failure = call(0);
  supervised ||= !failure;
  return failure;
}

/** Calls until it is no longer too early. `keep` is given each timer. */
async function later(call, keep = () => {}) {
  for (const end = performance.now() + LONGEST_START_MS; ; ) {
    await new Promise((resolve) => keep(setTimeout(resolve, PAUSE_MS)));
    const failure = call(WAIT_AGAIN_MS);
    if (!isLate(failure) || performance.now() > end) return failure;
  }
}

module.exports = { isLate, later, now };
