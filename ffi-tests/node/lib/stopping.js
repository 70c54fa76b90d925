'use strict';

// The library's own `stop` waits until a group is empty. Here it is begun, and then asked after by timers: neither the
// event loop nor a thread of libuv's pool waits for it.

const { setTimeout: pause } = require('node:timers/promises');
const { ERR } = require('./abi');
const { HermesError } = require('./errors');
const { attempt, call } = require('./library');

/** What complies does so within milliseconds; what does not has its grace. */
const LONGEST_PAUSE_MS = 20;

// The end of a stop is told once, so those who ask for a second one share the first. Also keeps the child's object, and
// so its handle, until then.
const underWay = new Map();

function stop(child, handle, graceMs) {
  if (!underWay.has(child)) {
    underWay.set(
      child,
      carryOut(handle, graceMs).finally(() => underWay.delete(child)),
    );
  }
  return underWay.get(child);
}

async function carryOut(handle, graceMs) {
  call('hermes_child_stop_begin', handle, graceMs);
  for (let ms = 1; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    await pause(ms);
    const failure = attempt('hermes_child_stop_poll', handle);
    if (!failure) return;
    if (failure.code !== ERR.TIMEOUT) throw new HermesError(failure);
  }
}

module.exports = { stop };
