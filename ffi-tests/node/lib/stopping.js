'use strict';

// The library's `stop` waits until a group is empty. It does so in workers of ours: on the event loop it would hold up
// everything, and in libuv's pool four of them would hold up all file access.

const path = require('node:path');
const { Worker } = require('node:worker_threads');
const { HermesError } = require('./errors');
const { attemptInPool } = require('./library');

/** Stops beyond this many at once wait for one that is done. */
const MOST_WORKERS = 16;
/** Kept for the next stop, so that a loop of stops does not start a worker each. */
const KEPT_IDLE = 1;

const waiting = [];
const idle = [];
let workers = 0;
let hiring = false;

function stop(handle, graceMs) {
  return new Promise((resolve, reject) => {
    waiting.push({ handle, graceMs, resolve, reject });
    dispatch();
  });
}

function dispatch() {
  while (waiting.length > 0 && idle.length > 0) assign(idle.pop());
  while (waiting.length === 0 && idle.length > KEPT_IDLE) dismiss(idle.pop());
  if (waiting.length === 0 || workers === MOST_WORKERS || hiring) return;
  assign(hire());
  // Starting one takes a millisecond or two of the event loop: no more than one a turn.
  hiring = true;
  setImmediate(() => {
    hiring = false;
    dispatch();
  });
}

function assign(worker) {
  worker.job = waiting.shift();
  // The event loop stays for a stop, and not for a worker that has nothing to do.
  worker.ref();
  worker.postMessage({ handle: worker.job.handle, graceMs: worker.job.graceMs });
}

function hire() {
  workers += 1;
  // Not the host's flags: a `--require` of its would be run again in here.
  const worker = new Worker(path.join(__dirname, 'stopper.js'), { execArgv: [], name: 'hermes-spawn stop' });
  worker.on('message', (failure) => {
    settle(worker.job, failure);
    worker.job = undefined;
    worker.unref();
    idle.push(worker);
    dispatch();
  });
  // It could not start: no worker does in a directory that was removed. Better in the pool than not at all.
  worker.on('error', () => {
    workers -= 1;
    const { job } = worker;
    attemptInPool('hermes_child_stop', [job.handle, job.graceMs], (failure) => settle(job, failure));
    dispatch();
  });
  return worker;
}

function dismiss(worker) {
  workers -= 1;
  worker.terminate();
}

function settle({ resolve, reject }, failure) {
  if (failure) reject(new HermesError(failure));
  else resolve();
}

module.exports = { stop };
