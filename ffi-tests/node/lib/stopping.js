'use strict';

// The library's `stop` waits until a group is empty. It does so in workers of ours: on the event loop it would hold up
// everything, and in libuv's pool four of them would hold up all file access.

const path = require('node:path');
const { Worker } = require('node:worker_threads');
const { HermesError } = require('./errors');

/** Stops beyond this many at once wait for one that is done. */
const MOST_WORKERS = 16;
/** Kept for the next stop, so that a loop of stops does not start a worker each. */
const KEPT_IDLE = 1;

const waiting = [];
const idle = [];
let busy = 0;

function stop(handle, graceMs) {
  return new Promise((resolve, reject) => {
    waiting.push({ handle, graceMs, resolve, reject });
    dispatch();
  });
}

function dispatch() {
  while (waiting.length > 0 && (idle.length > 0 || busy < MOST_WORKERS)) {
    const worker = idle.pop() ?? hire();
    const job = waiting.shift();
    busy += 1;
    worker.job = job;
    // The event loop stays for a stop, and not for a worker that has nothing to do.
    worker.ref();
    worker.postMessage({ handle: job.handle, graceMs: job.graceMs });
  }
  while (waiting.length === 0 && idle.length > KEPT_IDLE) idle.pop().terminate();
}

function hire() {
  // Not the host's flags: a `--require` of its would be run again in here.
  const worker = new Worker(path.join(__dirname, 'stopper.js'), { execArgv: [], name: 'hermes-spawn stop' });
  worker.on('message', (failure) => {
    finish(worker, failure && new HermesError(failure));
    idle.push(worker);
    dispatch();
  });
  worker.on('error', (error) => {
    finish(worker, error);
    dispatch();
  });
  return worker;
}

function finish(worker, error) {
  const { resolve, reject } = worker.job;
  worker.job = undefined;
  worker.unref();
  busy -= 1;
  if (error) reject(error);
  else resolve();
}

module.exports = { stop };
