'use strict';

const { fileURLToPath } = require('node:url');
const { isMainThread } = require('node:worker_threads');
const { SPAWN, STDIO, record } = require('./abi');
const { OwnedChild } = require('./child');
const { close, duplicate, makeBlocking, pipe } = require('./descriptors');
const { checkOptions, invalid, spawnError } = require('./errors');
const { attempt } = require('./library');
const { isLate, later, now } = require('./patience');

const FLAGS = { groupOnly: SPAWN.GROUP_ONLY, keepSession: SPAWN.KEEP_SESSION, controllingTty: SPAWN.CONTROLLING_TTY };
// Options of child_process.spawn that say what is so anyway, or nothing on Linux.
const MOOT = ['detached', 'windowsHide', 'windowsVerbatimArguments'];
const KNOWN = new Set([...Object.keys(FLAGS), ...MOOT, 'cwd', 'env', 'stdio', 'family', 'signal', 'passFds']);

/**
 * Starts a long-lived child in a session and process group of its own. It cannot outlive this process.
 *
 * As `child_process.spawn`: what is wrong with the arguments is thrown; a child that cannot be started is an `error`
 * event. The child exists, with its `pid`, when this returns; but if the supervisor was killed a moment ago, only at its
 * `spawn` event, for the event loop is not held up until there is the next one.
 */
function spawnOwned(command, args, options) {
  if (!Array.isArray(args)) [args, options] = [[], args ?? options];
  options ??= {};
  checkOptions('the options', options, KNOWN);
  if (command === '') throw invalid('the command', command, 'which names no program');
  const argv = [command, ...args].map((word) => plain('an argument', word));
  const streams = normalised(options.stdio ?? 'pipe');
  const passed = Int32Array.from(descriptors(options.passFds ?? []));
  const { signal } = options;
  // Before there is a child that nobody would hold.
  if (signal != null && !(signal instanceof AbortSignal)) throw invalid('signal', signal, 'and must be an AbortSignal');
  const wanted = record('hermes_spawn_options', {
    flags: Object.entries(FLAGS).reduce((flags, [name, flag]) => (options[name] ? flags | flag : flags), 0),
    program: null,
    argv: [...argv, null],
    envp: environment(options.env),
    cwd:
      options.cwd == null ? null : plain('cwd', options.cwd instanceof URL ? fileURLToPath(options.cwd) : options.cwd),
    stdin_fd: streams[0],
    stdout_fd: streams[1],
    stderr_fd: streams[2],
    pass_fd_count: passed.length,
    pass_fds: passed.length ? passed : null,
    family: options.family == null ? null : plain('family', options.family),
    wait_limit_ms: 0,
    reserved: 0,
  });
  if (signal?.aborted) return OwnedChild.neverStarted(argv, streams, signal);
  streams.forEach((stream, index) => {
    if (stream === STDIO.INHERIT || stream >= 0) makeBlocking(stream === STDIO.INHERIT ? index : stream);
  });
  const out = [null];
  const start = (limitMs) => attempt('hermes_spawn_owned', { ...wanted, wait_limit_ms: limitMs }, out);
  let failure = now(start);
  // Numbers that the child is to have cannot be kept for it once this has returned, so that is waited for.
  const child = isLate(failure) && !passed.length ? startLater(argv, streams, wanted, signal) : undefined;
  if (child) return child;
  if (isLate(failure)) failure = start(0);
  if (failure) return OwnedChild.failed(argv, streams, spawnError(failure, command, argv.slice(1)));
  return OwnedChild.started(argv, streams, out[0], signal);
}

/**
 * What the caller may change once it has the child is kept as it is: descriptors, directory and environment.
 * `undefined` if there are no descriptors left for that.
 */
function startLater(argv, streams, wanted, signal) {
  const given = ownEnds(streams);
  if (!given) return undefined;
  const kept = {
    stdin_fd: given[0].theirs,
    stdout_fd: given[1].theirs,
    stderr_fd: given[2].theirs,
    cwd: wanted.cwd ?? currentFolder(),
    envp: wanted.envp ?? environment(process.env),
  };
  const ends = given.map(({ ours }) => ours);
  const child = OwnedChild.awaited(argv, streams, ends, signal);
  const out = [null];
  const start = (limitMs) => attempt('hermes_spawn_owned', { ...wanted, ...kept, wait_limit_ms: limitMs }, out);
  later(start, (timer) => OwnedChild.staysFor(child, timer)).then((failure) => {
    given.forEach(({ theirs }) => theirs >= 0 && close(theirs));
    if (failure) OwnedChild.notStarted(child, spawnError(failure, argv[0], argv.slice(1)));
    else OwnedChild.begun(child, out[0]);
  });
  return child;
}

/** Of each stream the child's end, in a descriptor of its own; of a pipe ours, too. */
function ownEnds(streams) {
  const made = [];
  try {
    streams.forEach((wanted, index) => {
      if (wanted === STDIO.PIPE) made.push(pipe(index > 0));
      else made.push({ theirs: wanted >= 0 ? duplicate(wanted) : wanted });
    });
    return made;
  } catch {
    for (const { ours, theirs } of made) [ours, theirs].forEach((fd) => fd >= 0 && close(fd));
    return undefined;
  }
}

/** `null`, which is the same, if it is gone. */
function currentFolder() {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/** C would end it at a NUL, and mean something else. */
function plain(what, word) {
  const text = String(word);
  if (typeof word === 'object' || word === undefined || text.includes('\0')) {
    throw invalid(what, word, 'and must be a string without null bytes');
  }
  return text;
}

function environment(env) {
  // A worker thread has an environment of its own, which the library does not see.
  if (env == null && isMainThread) return null;
  const lines = [];
  for (const [name, value] of Object.entries(env ?? process.env)) {
    if (value === undefined) continue;
    if (name === '' || name.includes('=')) throw invalid('an environment variable', name, 'which is no name');
    lines.push(plain('an environment variable', `${name}=${value}`));
  }
  return [...lines, null];
}

/** An array of int32 would cut them down to other numbers. */
function descriptors(passFds) {
  const numbers = typeof passFds === 'string' ? [passFds] : [...passFds];
  for (const fd of numbers) {
    if (!isDescriptor(fd)) throw invalid('passFds', fd, 'and must be descriptors');
  }
  return new Set(numbers);
}

const isDescriptor = (fd) => Number.isInteger(fd) && fd >= 0 && fd <= 0x7fffffff;

function normalised(stdio) {
  const list = typeof stdio === 'string' ? [stdio, stdio, stdio] : stdio;
  if (!Array.isArray(list)) throw invalid('stdio', stdio, 'and must be a string or an array');
  if (list.length > 3) throw invalid('stdio', list, 'which has more than three streams: see passFds');
  return [0, 1, 2].map((index) => stream(list[index], index));
}

function stream(wanted, index) {
  switch (wanted) {
    case undefined:
    case null:
    case 'pipe':
    case 'overlapped':
      return STDIO.PIPE;
    case 'ignore':
      return STDIO.NULL;
    case 'inherit':
      return STDIO.INHERIT;
  }
  const fd = typeof wanted === 'number' ? wanted : (wanted.fd ?? wanted._handle?.fd);
  if (!isDescriptor(fd)) {
    throw invalid(
      `stdio[${index}]`,
      wanted,
      "and must be 'pipe', 'ignore', 'inherit', a descriptor or a stream with one",
    );
  }
  return fd;
}

module.exports = { spawnOwned };
