'use strict';

// What stands between a test and the owner processes that it starts, talks to and kills. An owner's part is a function
// in `parts.js`; it runs in a process of its own.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const readline = require('node:readline');
const test = require('node:test');
const { setTimeout: pause } = require('node:timers/promises');

const MARK = 'HERMES_TEST';
/** For what takes milliseconds on a machine at rest. */
const SOON_MS = 20_000;
/** From an owner's end to that of all it has started. */
const SOON_GONE_MS = 3_000;

// A test is an owner, too, and must not write into the home of whoever runs it.
if (!process.env[MARK]) {
  process.env.HERMES_HOME = fs.mkdtempSync(path.join(os.tmpdir(), 'hs-'));
  process.on('exit', () => fs.rmSync(process.env.HERMES_HOME, { recursive: true, force: true }));
}

/** The next event of that name, with its words. `events.once` would fail at an `error` event. */
const next = (emitter, name) => new Promise((resolve) => emitter.once(name, (...words) => resolve(words)));

/** Waits for what has no descriptor to wait on. */
async function eventually(what, condition, ms = SOON_MS) {
  for (const deadline = Date.now() + ms; !(await condition()); await pause(2)) {
    assert(Date.now() < deadline, `not within ${ms} ms: ${what}`);
  }
}

/** The fields of a `stat` file from the state on: what stands before the last `)` is a name of any kind. */
function statFields(file) {
  try {
    const text = fs.readFileSync(file, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** A process that a test has met while it lived, and can tell from a later one with its number. */
class Process {
  constructor(pid) {
    this.pid = pid;
    const fields = statFields(`/proc/${pid}/stat`);
    assert(fields, `process ${pid} is gone`);
    this.started = fields[19];
  }

  /** No thread of it runs. The main thread's line is not enough: it may have ended before the others. */
  isGone() {
    const fields = statFields(`/proc/${this.pid}/stat`);
    if (!fields || fields[19] !== this.started) return true;
    try {
      const tasks = fs.readdirSync(`/proc/${this.pid}/task`);
      const states = tasks.map((task) => statFields(`/proc/${this.pid}/task/${task}/stat`)?.[0]);
      return states.every((state) => state === undefined || state === 'Z' || state === 'X');
    } catch {
      return true;
    }
  }

  kill() {
    if (!this.isGone()) process.kill(this.pid, 'SIGKILL');
  }
}

const readable = (file) => {
  try {
    return fs.readFileSync(file, 'latin1');
  } catch {
    return '';
  }
};
const numbers = () =>
  fs
    .readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);

/** Running processes with this `NAME=value` in their environment. */
const carriers = (variable) =>
  numbers().filter((pid) => readable(`/proc/${pid}/environ`).split('\0').includes(variable));

/** What `ps` shows of them is their own name and their owner's number. */
const supervisors = (owner) =>
  numbers().filter((pid) => readable(`/proc/${pid}/cmdline`).startsWith(`spawn-supervisor\0${owner}\0`));

/** A process that plays one part. In a group of its own, so that it can be killed alone. */
class Owner {
  constructor(parts, part, words, env) {
    const args = ['--expose-gc', parts, part, JSON.stringify(words)];
    this.child = spawn(process.execPath, args, { env, detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
    this.ended = once(this.child, 'exit');
    this.process = new Process(this.child.pid);
    this.met = [];
    this.lines = readline.createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** The next thing that the owner says. */
  async hears() {
    const late = new AbortController();
    const silence = pause(3 * SOON_MS, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new Error('the owner says nothing');
    });
    const line = await Promise.race([this.lines.next(), silence]);
    late.abort();
    silence.catch(() => {});
    assert(!line.done, 'the owner has ended');
    return JSON.parse(line.value);
  }

  meet(pid) {
    this.met.push(new Process(pid));
    return this.met.at(-1);
  }

  async meets() {
    return this.meet((await this.hears()).pid);
  }

  /** `kill -9`, to it alone. Returns the moment. */
  async kill() {
    const moment = Date.now();
    this.child.kill('SIGKILL');
    await this.ended;
    return moment;
  }
}

class Stage {
  static parts = path.join(__dirname, 'parts.js');

  constructor() {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hs-'));
    this.value = crypto.randomUUID();
    this.mark = `${MARK}=${this.value}`;
    this.owners = [];
  }

  owner(part, ...words) {
    const { HERMES_SPAWN: _, ...env } = process.env;
    const home = path.join(this.folder, 'home');
    const owner = new Owner(Stage.parts, part, words, { ...env, HERMES_HOME: home, [MARK]: this.value });
    this.owners.push(owner);
    return owner;
  }

  /** All that runs and was started by an owner of this test, by whatever ways; met by `owner`. */
  started(owner) {
    const known = new Set(this.owners.flatMap(({ process, met }) => [process, ...met]).map(({ pid }) => pid));
    return carriers(this.mark)
      .filter((pid) => !known.has(pid))
      .map((pid) => owner.meet(pid));
  }

  async assertGone(process, moment, who = 'the child') {
    const left = moment + SOON_GONE_MS - Date.now();
    await eventually(`${who} (${process.pid}) is gone`, () => process.isGone(), left);
  }

  assertLives(process, who) {
    assert(!process.isGone(), `${who} (${process.pid}) is gone`);
  }

  /** Nothing of the test's stays, also when it has failed half way. */
  async clear() {
    for (const owner of this.owners) {
      owner.child.stdin.on('error', () => {});
      owner.child.kill('SIGKILL');
      for (const process of owner.met) process.kill();
    }
    await eventually("nothing carries the test's mark", () => {
      const left = carriers(this.mark);
      for (const pid of left) new Process(pid).kill();
      return left.length === 0;
    });
    for (const owner of this.owners) {
      await eventually('its supervisor has left', () => supervisors(owner.child.pid).length === 0);
    }
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 10 });
  }
}

/** A test with owners. Beside them lives another owner, whose child must not be touched by whatever happens. */
function scene(name, body) {
  test(name, { timeout: 180_000 }, async (context) => {
    const stage = new Stage();
    try {
      const control = stage.owner('keepsAChild');
      const child = await control.meets();
      await body(stage, context);
      stage.assertLives(control.process, 'the control owner');
      stage.assertLives(child, "the control owner's child");
    } finally {
      await stage.clear();
    }
  });
}

/** Loud; and a machine that is to show everything must not look as if it had. */
function skip(context, reason) {
  process.stderr.write(`SKIPPED ${context.name}: ${reason}\n`);
  if (process.env.CI) throw new Error(`skipped under CI: ${reason}`);
  context.skip(reason);
}

module.exports = { Process, Stage, eventually, next, scene, skip, statFields, supervisors };
