'use strict';

// What Node has no words for, from the C library that this program itself uses.

const fs = require('node:fs');
const { getSystemErrorName } = require('node:util');
const koffi = require('koffi');

const F_GETFL = 3;
const F_SETFL = 4;
const F_DUPFD_CLOEXEC = 1030;
const O_CLOEXEC = 0o2000000;
// Above those of the standard streams, which a child's own would overwrite.
const LOWEST = 3;

const library = koffi.load(null);
const fcntl = library.func('int fcntl(int fd, int command, ...)');
const pipe2 = library.func('int pipe2(_Out_ int *ends, int flags)');

/**
 * libuv makes the pipes and terminals that it works with non-blocking, and a child that gets one expects to wait: it
 * would take "try again" for an error. child_process undoes that in the child, and so for whoever shares the open file;
 * this does the same. One that is not open is left for the spawn to report.
 */
function makeBlocking(fd) {
  const flags = fcntl(fd, F_GETFL);
  if (flags !== -1 && flags & fs.constants.O_NONBLOCK) fcntl(fd, F_SETFL, 'int', flags & ~fs.constants.O_NONBLOCK);
}

/** A copy that a program which this process executes does not get. */
function duplicate(fd) {
  return checked(fcntl(fd, F_DUPFD_CLOEXEC, 'int', LOWEST), 'fcntl');
}

/** As `duplicate` in this respect. */
function pipe(isOutput) {
  const ends = [-1, -1];
  checked(pipe2(ends, O_CLOEXEC), 'pipe2');
  const [reader, writer] = ends;
  return isOutput ? { ours: reader, theirs: writer } : { ours: writer, theirs: reader };
}

function checked(result, call) {
  if (result === -1) throw new Error(`${call}: ${getSystemErrorName(-koffi.errno())}`);
  return result;
}

module.exports = { close: fs.closeSync, duplicate, makeBlocking, pipe };
