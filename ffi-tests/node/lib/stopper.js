'use strict';

// A worker that carries out one stop after the other.

const { parentPort } = require('node:worker_threads');
const { attempt } = require('./library');

parentPort.on('message', ({ handle, graceMs }) =>
  parentPort.postMessage(attempt('hermes_child_stop', handle, graceMs)),
);
