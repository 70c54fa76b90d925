'use strict';

// A hundred children, and the event loop and libuv's pool have as little to do as with none.

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs/promises');
const { readdirSync } = require('node:fs');
const test = require('node:test');
require('./stage');
const { spawnOwned } = require('..');

const ROUNDS = 300;
const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];

async function statTimes() {
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    await fs.stat(__filename);
    times.push(performance.now() - begun);
  }
  return times;
}

test('file access is not held up by a hundred children and their stops', async () => {
  await statTimes();
  const alone = median(await statTimes());
  const threads = () => readdirSync('/proc/self/task').length;
  const spawnTimes = [];
  const before = threads();
  const children = Array.from({ length: 100 }, () => {
    const begun = performance.now();
    const child = spawnOwned('sh', ['-c', "trap '' TERM; echo; cat; exec sleep 600"]);
    spawnTimes.push(performance.now() - begun);
    return child;
  });
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const beside = median(await statTimes());
  // The first use starts the library's two.
  assert(threads() <= before + 2, 'no thread for a child');
  assert(median(spawnTimes) < 5, `spawnOwned takes ${median(spawnTimes)} ms of the event loop`);
  assert(beside < 3 * alone + 1, `${beside} ms beside ${alone} ms`);

  const exits = children.map((child) => once(child, 'exit'));
  const begun = performance.now();
  const stops = children.map((child) => child.stop({ graceMs: 100 }));
  const asking = (performance.now() - begun) / children.length;
  assert(asking < 5, `stop takes ${asking} ms of the event loop`);
  const meanwhile = median(await statTimes());
  assert(meanwhile < 5 * alone + 5, `${meanwhile} ms while they are stopped, beside ${alone} ms`);
  await Promise.all([...stops, ...exits]);
});

test('a hundred codes come back exact', async () => {
  const children = Array.from({ length: 100 }, (_, code) => spawnOwned('sh', ['-c', `cat; exit ${code}`]));
  const exits = children.map((child) => once(child, 'exit'));
  for (const child of [...children].reverse()) child.stdin.end();
  assert.deepEqual(
    await Promise.all(exits),
    children.map((_, code) => [code, null]),
  );
});
