'use strict';

// A supervisor that was killed a moment ago: the event loop does not stand still until there is the next one, which the
// library starts after a pause that grows from one death to the next.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { eventually, next } = require('./stage');
const { ownProcessGroups, releaseProcessGroups, spawnOwned, status } = require('..');

/** 5 ms of waiting, and what a call takes on a machine with much to do. */
const LONGEST_MS = 25;

const sleeper = () => spawnOwned('sleep', ['600'], { stdio: 'ignore' });

/** Killed young, it is replaced after a pause only; one that has lived for long at once, and then that one is killed. */
async function killSupervisor() {
  for (const deadline = performance.now() + 20_000; ; ) {
    await eventually('there is a supervisor', () => status().supervisorPid > 0);
    const killed = status().supervisorPid;
    process.kill(killed, 'SIGKILL');
    // Not by timers: what is looked for may be over by the next one.
    while (status().supervisorPid === killed) assert(performance.now() < deadline, 'its death was not noticed');
    if (status().supervisorPid === 0) return;
  }
}

/** How long the event loop stood still at most, in ms. */
async function longestStandstill(body) {
  let [worst, last] = [0, performance.now()];
  const tick = () => {
    const moment = performance.now();
    [worst, last] = [Math.max(worst, moment - last), moment];
  };
  const ticking = setInterval(tick, 1);
  await body();
  tick();
  clearInterval(ticking);
  return worst;
}

test('spawns do not hold the event loop', async () => {
  const covering = sleeper();
  const standstills = [];
  for (let round = 0; round < 5; round += 1) {
    await killSupervisor();
    let child;
    standstills.push(
      await longestStandstill(async () => {
        child = spawnOwned('cat');
        assert.equal(child.pid, undefined, 'this is about a start that has to wait');
        child.stdin.end('hello');
        const [[said]] = await Promise.all([once(child.stdout, 'data'), once(child, 'spawn')]);
        assert.equal(said.toString(), 'hello');
      }),
    );
    assert(child.pid > 1 && child.pid === child.pgid);
    if (child.exitCode === null) await once(child, 'close');
    assert.equal(child.exitCode, 0);
  }
  const median = standstills.sort((a, b) => a - b)[2];
  assert(median < LONGEST_MS, `it stood still for ${standstills.map((ms) => ms.toFixed(1))} ms`);
  await covering.stop();
});

test('groups are taken over without holding the event loop', async () => {
  const covering = sleeper();
  const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  await killSupervisor();
  const before = status().slotsInUse;
  const standstill = await longestStandstill(async () => {
    const owned = ownProcessGroups([stranger.pid]);
    assert.equal(status().slotsInUse, before);
    await owned;
  });
  assert.equal(status().slotsInUse, before + 1);
  assert(standstill < 2 * LONGEST_MS, `it stood still for ${standstill} ms`);
  await killSupervisor();
  const gone = ownProcessGroups([stranger.pid]);
  stranger.kill('SIGKILL');
  await once(stranger, 'exit');
  releaseProcessGroups([stranger.pid]);
  await assert.rejects(gone, { code: 'HERMES_ERR_NO_SUCH_GROUP' });
  await covering.stop();
});

test('what is asked of a child before it is started is done, and what it was given is kept', async () => {
  const covering = sleeper();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hs-'));
  const fd = fs.openSync(path.join(folder, 'out'), 'w+');
  await killSupervisor();
  process.env.HS_BEFORE = 'as it was';
  const writes = spawnOwned('sh', ['-c', 'echo $HS_BEFORE'], { stdio: ['ignore', fd, 'inherit'] });
  fs.closeSync(fd);
  delete process.env.HS_BEFORE;
  const [signalled, stopped, aborted] = [sleeper(), sleeper(), new AbortController()];
  const given = spawnOwned('sleep', ['600'], { stdio: 'ignore', signal: aborted.signal });
  const lost = spawnOwned('/no/such/program', ['a']);
  const waits = [writes, signalled, stopped, given, lost];
  assert(waits.every(({ pid }) => pid === undefined));

  assert.deepEqual([signalled.kill(0), signalled.killed], [true, false]);
  assert.deepEqual([signalled.kill('SIGUSR1'), signalled.killed], [true, true]);
  const abortion = next(given, 'error');
  aborted.abort();
  const [, exit, abort, [error], closed] = await Promise.all([
    stopped.stop(),
    next(signalled, 'exit'),
    abortion,
    next(lost, 'error'),
    next(lost, 'close'),
  ]);
  assert.deepEqual(exit, [null, 'SIGUSR1']);
  assert.equal(stopped.signalCode, 'SIGTERM');
  assert.equal(abort[0].name, 'AbortError');
  if (given.signalCode === null) await next(given, 'exit');
  assert.equal(given.signalCode, 'SIGTERM');
  assert.deepEqual([error.code, error.spawnargs, closed], ['ENOENT', ['a'], [error.errno, null]]);
  assert.equal(lost.kill(), false);
  if (writes.exitCode === null) await next(writes, 'exit');
  assert.equal(fs.readFileSync(path.join(folder, 'out'), 'utf8'), 'as it was\n');
  fs.rmSync(folder, { recursive: true });
  await covering.stop();
});

test('descriptors under their own numbers are waited for', async () => {
  const covering = sleeper();
  await killSupervisor();
  const passed = fs.openSync('/dev/null', 'r');
  const child = spawnOwned('sh', ['-c', ': </dev/fd/$0', passed], { stdio: 'ignore', passFds: [passed] });
  fs.closeSync(passed);
  assert(child.pid > 1);
  assert.deepEqual(await next(child, 'exit'), [0, null]);
  await covering.stop();
});

test('a start that has to wait keeps the process, unless the child is not to', async () => {
  for (const [before, says] of [
    ['', /^[1-9]\d+\n$/],
    ['child.unref();', /^$/],
  ]) {
    const script = `
      const { spawnOwned, status } = require(${JSON.stringify(path.dirname(__dirname))});
      const covering = spawnOwned('sleep', ['600'], { stdio: 'ignore' });
      covering.unref();
      // Who ends while a killed supervisor is being replaced leaves its children uncovered.
      process.on('exit', () => covering.kill('SIGKILL'));
      process.kill(status().supervisorPid, 'SIGKILL');
      while (status().supervisorPid);
      const child = spawnOwned('true', { stdio: 'ignore' });
      child.on('spawn', () => console.log(child.pid));
      ${before}`;
    const host = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = host.stdout.setEncoding('utf8').toArray();
    assert.deepEqual(await once(host, 'exit'), [0, null]);
    assert.match((await said).join(''), says);
  }
});
