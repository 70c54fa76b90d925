'use strict';

// libuv makes the pipes and terminals that it works with non-blocking, and a child that gets one expects to wait: it would
// take "try again" for an error. child_process undoes that in the child, and so for whoever shares the open file; this
// does the same.

const fs = require('node:fs');
const koffi = require('koffi');

const F_GETFL = 3;
const F_SETFL = 4;

// Of the C library that this program itself uses.
const fcntl = koffi.load(null).func('int fcntl(int fd, int command, ...)');

/** One that is not open is left for the spawn to report. */
function makeBlocking(fd) {
  const flags = fcntl(fd, F_GETFL);
  if (flags !== -1 && flags & fs.constants.O_NONBLOCK) fcntl(fd, F_SETFL, 'int', flags & ~fs.constants.O_NONBLOCK);
}

module.exports = { makeBlocking };
