'use strict';

// A handle lives as long as its child's object: `stop` reaches the group after its leader has ended, too.

const { isMainThread } = require('node:worker_threads');
const { functions } = require('./library');

const held = new Set();

const registry = new FinalizationRegistry((handle) => {
  held.delete(handle);
  functions.hermes_child_free(handle);
});

function hold(child, handle) {
  held.add(handle);
  registry.register(child, handle);
}

// The process goes on when a worker ends, and nothing of the worker's is finalised then.
if (!isMainThread) process.on('exit', () => held.forEach((handle) => functions.hermes_child_free(handle)));

module.exports = { hold };
