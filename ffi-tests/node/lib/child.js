'use strict';

const { EventEmitter } = require('node:events');
const net = require('node:net');
const { constants } = require('node:os');
const { KIND, STDIO, record } = require('./abi');
const { HermesError, checkOptions, invalid } = require('./errors');
const { hold } = require('./handles');
const { attempt, functions } = require('./library');
const { stop } = require('./stopping');

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
const RECORD_BYTES = 16;
const LONGEST_GRACE_MS = 0xffffff;
const STOP_OPTIONS = new Set(['graceMs']);

/**
 * An owned child, in the shape of `ChildProcess`: its leader, and the group that the leader began.
 *
 * Losing it stops nothing: the child stays owned.
 */
class OwnedChild extends EventEmitter {
  #handle;
  /** What the event loop stays for: the timer of a start that has to wait, then the pipe that tells the end. */
  #exit;
  #stays = true;
  /** Of a child whose start has to wait. */
  #start;
  #noteStart;
  #signalsOwed = [];
  #open = 1;
  #stopListening = () => {};
  #noteEnd;
  #end = new Promise((resolve) => (this.#noteEnd = resolve));

  pid;
  pgid;
  exitCode = null;
  signalCode = null;
  /** It has ended, and somebody else took its status: `exit` has neither code nor signal. */
  statusUnknown = false;
  killed = false;
  spawnfile;
  spawnargs;
  stdin;
  stdout;
  stderr;

  constructor(argv, streams, ends) {
    super();
    this.spawnfile = argv[0];
    this.spawnargs = argv;
    [this.stdin, this.stdout, this.stderr] = streams.map((wanted, index) =>
      wanted === STDIO.PIPE ? this.#stream(ends[index], index) : null,
    );
    this.stdio = [this.stdin, this.stdout, this.stderr];
  }

  static started(argv, streams, handle, signal) {
    // Before anything else: a child whose end could not be noticed would be lost.
    const exit = [-1];
    const failure = exitDescriptor(handle, exit);
    if (failure) return OwnedChild.failed(argv, streams, failure);
    const takes = ['stdin', 'stdout', 'stderr'].map((name) => functions[`hermes_child_take_${name}_fd`]);
    const ends = streams.map((wanted, index) => (wanted === STDIO.PIPE ? takes[index](handle) : undefined));
    const child = new OwnedChild(argv, streams, ends);
    child.#begin(handle, exit[0]);
    if (signal) child.#heed(signal);
    return child;
  }

  static failed(argv, streams, error) {
    const child = new OwnedChild(argv, streams, []);
    child.#fail(error);
    return child;
  }

  /** One that has its streams, and is started later: `begun` or `notStarted` follows. */
  static awaited(argv, streams, ends, signal) {
    const child = new OwnedChild(argv, streams, ends);
    child.#start = new Promise((resolve) => (child.#noteStart = resolve));
    if (signal) child.#heed(signal);
    return child;
  }

  static staysFor(child, timer) {
    child.#exit = timer;
    if (!child.#stays) timer.unref();
  }

  static begun(child, handle) {
    const exit = [-1];
    const failure = exitDescriptor(handle, exit);
    if (failure) return OwnedChild.notStarted(child, failure);
    child.#begin(handle, exit[0]);
    child.#start = undefined;
    for (const number of child.#signalsOwed) attempt('hermes_child_signal_leader', handle, number);
    child.#noteStart();
  }

  static notStarted(child, error) {
    child.#start = child.#exit = undefined;
    child.#stopListening();
    for (const stream of child.stdio) stream?.destroy();
    child.#fail(error);
    child.#noteStart();
  }

  static neverStarted(argv, streams, signal) {
    return OwnedChild.failed(argv, streams, aborted(signal));
  }

  /** To the leader alone. Whether it was sent. */
  kill(signal = 'SIGTERM') {
    const number = typeof signal === 'number' ? signal : constants.signals[signal];
    if (!Number.isInteger(number) || number < 0 || number > 64) throw invalid('signal', signal, 'which is no signal');
    if (this.#start) {
      // As soon as there is somebody to get it.
      if (number !== 0) this.#signalsOwed.push(number);
      this.killed ||= number !== 0;
      return true;
    }
    if (this.#handle === undefined || this.exitCode !== null || this.signalCode !== null) return false;
    if (number === 0) return true;
    const failure = attempt('hermes_child_signal_leader', this.#handle, number);
    if (failure) {
      const error = new HermesError(failure);
      if (error.hermesCode === 'HERMES_ERR_NOT_FOUND') return false;
      throw error;
    }
    this.killed = true;
    return true;
  }

  /** Ends the whole group: SIGTERM, time to comply, SIGKILL. Settles when nothing in it runs and `exit` was emitted. */
  async stop(options = {}) {
    checkOptions("stop's argument", options, STOP_OPTIONS);
    const { graceMs = 3000 } = options;
    if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > LONGEST_GRACE_MS) {
      throw invalid('graceMs', graceMs, `and must be 0 to ${LONGEST_GRACE_MS}`);
    }
    await this.#start;
    if (this.#handle === undefined) return;
    await stop(this, this.#handle, graceMs);
    // The record of its end is on its way: an event loop that was not to stay for the child stays for that.
    this.#exit.ref();
    await this.#end;
  }

  /** Whether the event loop stays for this child. */
  ref() {
    this.#stays = true;
    this.#exit?.ref();
  }

  unref() {
    this.#stays = false;
    this.#exit?.unref();
  }

  #begin(handle, exitFd) {
    this.#handle = handle;
    hold(this, handle);
    this.pid = functions.hermes_child_pid(handle);
    this.pgid = functions.hermes_child_pgid(handle);
    this.#awaitExit(exitFd);
    if (!this.#stays) this.#exit.unref();
    process.nextTick(() => this.emit('spawn'));
  }

  #fail(error) {
    this.exitCode = error.errno ?? -1;
    process.nextTick(() => {
      this.emit('error', error);
      this.#oneClosed();
    });
  }

  /** Of a child that was not started there is nothing to read or write. */
  #stream(fd, index) {
    const stream = new net.Socket(fd === undefined ? {} : { fd, readable: index > 0, writable: index === 0 });
    if (fd === undefined) {
      stream.destroy();
      return stream;
    }
    this.#open += 1;
    stream.on('close', () => this.#oneClosed());
    return stream;
  }

  /** A pipe that delivers the exit record: the event loop watches it as any other, and no thread waits. */
  #awaitExit(fd) {
    this.#exit = new net.Socket({ fd, readable: true, writable: false });
    const parts = [];
    this.#exit.on('data', (part) => parts.push(part));
    this.#exit.on('close', () => this.#ended(Buffer.concat(parts)));
  }

  #ended(bytes) {
    const kind = bytes.length === RECORD_BYTES ? bytes.readInt32LE(4) : KIND.UNKNOWN;
    const code = kind === KIND.UNKNOWN ? null : bytes.readInt32LE(8);
    if (kind === KIND.EXITED) this.exitCode = code;
    else if (kind === KIND.SIGNALLED) this.signalCode = SIGNAL_NAMES.get(code) ?? `SIG${code}`;
    else this.statusUnknown = true;
    this.#stopListening();
    // The library hears of it here, and lets the group go if it is empty.
    attempt('hermes_child_wait', this.#handle, 0, record('hermes_exit_status', { kind: 0, code: 0, core_dumped: 0 }));
    // Nothing can be written to it any more.
    this.stdin?.destroy();
    // Who waits for it goes on after the listeners of `exit`, whatever these throw.
    this.#noteEnd();
    this.emit('exit', this.exitCode, this.signalCode);
    this.#oneClosed();
    // Streams that nobody reads would never end.
    for (const stream of [this.stdout, this.stderr]) {
      if (stream && stream.readableFlowing === null && stream.listenerCount('readable') === 0) stream.resume();
    }
  }

  #oneClosed() {
    this.#open -= 1;
    if (this.#open === 0) this.#closed();
  }

  #closed() {
    this.emit('close', this.exitCode, this.signalCode);
  }

  #heed(signal) {
    const abort = () => {
      this.stop().catch((error) => this.emit('error', error));
      this.emit('error', aborted(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#stopListening = () => signal.removeEventListener('abort', abort);
  }
}

/** Puts it into `exit`; if there is none, the child is ended and the reason returned. */
function exitDescriptor(handle, exit) {
  const failure = attempt('hermes_child_exit_fd', handle, exit);
  if (!failure) return undefined;
  attempt('hermes_child_signal_leader', handle, constants.signals.SIGKILL);
  functions.hermes_child_free(handle);
  return new HermesError(failure);
}

/** As Node's own. */
function aborted(signal) {
  const error = new Error('The operation was aborted', { cause: signal.reason });
  error.name = 'AbortError';
  error.code = 'ABORT_ERR';
  return error;
}

module.exports = { OwnedChild };
