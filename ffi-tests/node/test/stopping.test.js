'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { spawn } = require('node:child_process');
const path = require('node:path');
const { setImmediate: immediate } = require('node:timers/promises');
const test = require('node:test');
const { Process, next } = require('./stage');
const { spawnOwned } = require('..');

const STUBBORN = ['-c', "trap '' TERM; echo; while :; do sleep 600; done"];

/** After an `immediate`, timers, by which a stop is asked after, come before descriptors, which tell a child's end. */
function stayBusy() {
  const until = performance.now() + 30;
  while (performance.now() < until);
}

/** A child that ignores TERM, in position. */
async function stubborn(options) {
  const child = spawnOwned('sh', STUBBORN, { stdio: ['ignore', 'pipe', 'ignore'], ...options });
  await once(child.stdout, 'data');
  return child;
}

test('stop ends the whole group, also when the leader has gone before', async () => {
  const child = spawnOwned('sh', ['-c', 'sleep 600 & echo $!; exit 5'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [[pid], [code]] = await Promise.all([once(child.stdout, 'data'), once(child, 'exit')]);
  const member = new Process(Number(pid));
  assert.equal(code, 5);
  assert(!member.isGone());
  await child.stop();
  assert(member.isGone());
  // Again is no error.
  await child.stop();
});

test('stop gives time to comply, and no more', async () => {
  const obeys = spawnOwned('sleep', ['600'], { stdio: 'ignore' });
  const exit = once(obeys, 'exit');
  const begun = performance.now();
  await obeys.stop();
  assert(performance.now() - begun < 2500, 'one that complies is not waited for');
  assert.deepEqual(await exit, [null, 'SIGTERM']);
  const ignores = await stubborn();
  const killed = once(ignores, 'exit');
  const again = performance.now();
  await ignores.stop({ graceMs: 200 });
  assert(performance.now() - again >= 200);
  assert.deepEqual(await killed, [null, 'SIGKILL']);
});

test('when a stop settles, the end is known and was told', async () => {
  const children = Array.from({ length: 20 }, () => spawnOwned('sleep', ['600'], { stdio: 'ignore' }));
  for (const child of children) {
    let told;
    child.on('exit', (...end) => (told = end));
    await immediate();
    const stopped = child.stop();
    stayBusy();
    await stopped;
    assert.deepEqual(told, [null, 'SIGTERM']);
    assert.equal(child.signalCode, 'SIGTERM');
  }
});

test('many stops at once do not wait for each other', async () => {
  const children = await Promise.all(Array.from({ length: 50 }, () => stubborn()));
  const begun = performance.now();
  await Promise.all(children.map((child) => child.stop({ graceMs: 500 })));
  assert(performance.now() - begun < 10 * 500);
  const obey = Array.from({ length: 100 }, () => spawnOwned('sleep', ['600'], { stdio: 'ignore' }));
  const exits = obey.map((child) => once(child, 'exit'));
  await Promise.all(obey.map((child) => child.stop()));
  assert.deepEqual(await Promise.all(exits), Array(100).fill([null, 'SIGTERM']));
});

test('a grace that is none is refused', async () => {
  const child = spawnOwned('true', { stdio: 'ignore' });
  for (const graceMs of [-1, 0.5, 2 ** 24, '1', null])
    await assert.rejects(child.stop({ graceMs }), { code: 'ERR_INVALID_ARG_VALUE' });
  for (const options of [{ grace: 200 }, { graceMs: 200, signal: 'SIGINT' }, 200, null, [200], 'SIGTERM'])
    await assert.rejects(child.stop(options), { code: 'ERR_INVALID_ARG_VALUE', message: /graceMs/ });
  await once(child, 'close');
});

test('the process ends when its stops are done, also of a child that it does not stay for', async () => {
  const library = JSON.stringify(path.dirname(__dirname));
  for (const before of ['', 'child.unref();']) {
    const script = `
      const child = require(${library}).spawnOwned('sleep', ['600'], { stdio: 'ignore' });
      ${before}
      child.stop().then(() => console.log(child.signalCode));
      (${stayBusy})();`;
    const host = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = host.stdout.setEncoding('utf8').toArray();
    assert.deepEqual(await once(host, 'exit'), [0, null]);
    assert.equal((await said).join(''), 'SIGTERM\n', before);
  }
});

test('two stops of one child are one', async () => {
  const child = await stubborn();
  await Promise.all([child.stop({ graceMs: 100 }), child.stop(), child.stop()]);
  await child.stop();
});

test('an aborted signal stops the group', async () => {
  const controller = new AbortController();
  const child = await stubborn({ signal: controller.signal });
  const [error, exit] = [next(child, 'error'), next(child, 'exit')];
  const reason = new Error('enough');
  controller.abort(reason);
  const [abort] = await error;
  assert.deepEqual([abort.name, abort.code, abort.cause], ['AbortError', 'ABORT_ERR', reason]);
  assert.deepEqual(await exit, [null, 'SIGKILL']);
});

test('a signal aborted before starts nothing, one aborted after the end says nothing', async () => {
  const child = spawnOwned('sleep', ['600'], { signal: AbortSignal.abort() });
  assert.equal(child.pid, undefined);
  const [[error]] = await Promise.all([next(child, 'error'), next(child, 'close')]);
  assert.equal(error.name, 'AbortError');
  const controller = new AbortController();
  const done = spawnOwned('true', { signal: controller.signal, stdio: 'ignore' });
  done.on('error', assert.fail);
  await once(done, 'close');
  controller.abort();
});
