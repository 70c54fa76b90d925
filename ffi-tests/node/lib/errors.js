'use strict';

const { getSystemErrorName } = require('node:util');
const { ERR } = require('./abi');

const NAMES = new Map(Object.entries(ERR).map(([name, number]) => [number, `HERMES_ERR_${name}`]));

/**
 * Whatever the library reports. `hermesCode` is its name for it. `code` is the same, or for a child that could not be
 * started what `child_process` says: `ENOENT` and so on, with `errno`, `syscall`, `path` and `spawnargs`.
 */
class HermesError extends Error {
  constructor(record) {
    super(record.message);
    this.name = 'HermesError';
    this.hermesCode = NAMES.get(record.code) ?? `HERMES_ERR ${record.code}`;
    this.code = this.hermesCode;
    this.step = record.step;
    if (record.os_errno) this.errno = -record.os_errno;
  }
}

/** The same for a child that could not be started. */
function spawnError(record, command, args) {
  const error = new HermesError(record);
  if (record.code === ERR.SPAWN || record.code === ERR.OS) {
    error.code = getSystemErrorName(error.errno);
    error.syscall = `spawn ${command}`;
    error.path = command;
    error.spawnargs = args;
  }
  return error;
}

/** As Node's own errors about arguments. */
function invalid(what, value, why) {
  const error = new TypeError(
    `${what} is ${typeof value === 'string' ? JSON.stringify(value) : String(value)}, ${why}`,
  );
  error.code = 'ERR_INVALID_ARG_VALUE';
  return error;
}

/** Options are an object, and what is not known is refused: one that is misspelt would be ignored. */
function checkOptions(what, options, known) {
  if (options === null || typeof options !== 'object' || Array.isArray(options)) {
    throw invalid(what, options, `and must be an object with some of: ${[...known].join(', ')}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (!known.has(name) && value !== undefined) {
      throw invalid(`option ${name}`, value, `and not known; these are: ${[...known].join(', ')}`);
    }
  }
}

module.exports = { HermesError, checkOptions, invalid, spawnError };
