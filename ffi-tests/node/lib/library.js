'use strict';

// Loading libhermes_spawn, and calling it.

const fs = require('node:fs');
const path = require('node:path');
const koffi = require('koffi');
const { ABI_VERSION, records, signatures } = require('./abi');
const { HermesError } = require('./errors');
const { FILE, IN_PACKAGE, VARIABLE, checkoutBuilds } = require('./places');

function load() {
  const wanted = process.env[VARIABLE];
  // A library that was asked for by name is not silently replaced by another.
  const builds = checkoutBuilds();
  const names = wanted ? [wanted] : [...(builds.length ? builds : [IN_PACKAGE]), `${FILE}.${ABI_VERSION}`];
  const looked = wanted ? [] : [`${VARIABLE}: not set`];
  for (const name of names) {
    try {
      return { name, functions: open(name) };
    } catch (error) {
      const missing = path.isAbsolute(name) && !fs.existsSync(name);
      looked.push(`${name}: ${missing ? 'not there' : error.message}`);
    }
  }
  throw new Error(
    `hermes-spawn cannot load ${FILE}. It looked at:\n${looked.map((place) => `  ${place}\n`).join('')}` +
      'Build it with `cargo build --release --no-default-features` in the checkout, ' +
      `or set ${VARIABLE} to its path.`,
  );
}

function open(name) {
  const library = koffi.load(name);
  const declare = ([symbol, [result, parameters]]) => [symbol, library.func(symbol, result, parameters)];
  const functions = Object.fromEntries(Object.entries(signatures).map(declare));
  const found = functions.hermes_abi_version();
  if (found !== ABI_VERSION) throw new Error(`has ABI version ${found}; this package needs ${ABI_VERSION}`);
  return functions;
}

const { name, functions } = load();

const ERROR_BYTES = koffi.sizeof(records.hermes_error);
// One for all calls of this thread: filled on failure only, and read before the next call.
const errorMemory = Buffer.alloc(ERROR_BYTES);
errorMemory.writeUInt32LE(ERROR_BYTES);

/** Calls a function whose last argument is an error record. Returns that record if it has failed. */
function attempt(symbol, ...args) {
  return functions[symbol](...args, errorMemory) === 0 ? undefined : koffi.decode(errorMemory, records.hermes_error);
}

/** Calls such a function, and throws what it reports. */
function call(symbol, ...args) {
  const failure = attempt(symbol, ...args);
  if (failure) throw new HermesError(failure);
}

module.exports = { attempt, call, functions, name };
