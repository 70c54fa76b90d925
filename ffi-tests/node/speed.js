'use strict';

// What a start costs the event loop: `spawnOwned` beside `child_process.spawn(detached)`, in turns, in one run.
//
//   node speed.js [MEGABYTES] [ROUNDS]       500 MB, 300 rounds
//
// Prints both medians and their ratio. Exits with 1 if ours takes more than half the time.

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { setTimeout: pause } = require('node:timers/promises');
const { spawnOwned } = require('.');

const LIMIT = 0.5;
const PROGRAM = '/bin/true';
// For what both leave to be done afterwards, so that it does not fall into the other's time.
const REST_MS = 2;

const ways = {
  spawnOwned: () => spawnOwned(PROGRAM, [], { stdio: 'ignore' }),
  // detached-spawn: ok - the peer that is measured
  spawn: () => spawn(PROGRAM, [], { stdio: 'ignore', detached: true }),
};

async function timed(start) {
  const begun = performance.now();
  const child = start();
  const us = (performance.now() - begun) * 1000;
  await once(child, 'exit');
  await pause(REST_MS);
  return us;
}

async function main(megabytes = 500, rounds = 300) {
  // Touched, so that it is there.
  const ballast = Buffer.alloc(megabytes << 20, 1);
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (const start of Object.values(ways)) await timed(start);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, start] of Object.entries(ways)) times[name].push(await timed(start));
  }
  const percentile = (name, percent) => times[name].sort((a, b) => a - b)[Math.floor((rounds * percent) / 100)];
  for (const name of Object.keys(ways)) {
    const [median, tenth] = [50, 10].map((percent) => percentile(name, percent).toFixed(0).padStart(7));
    console.log(`${name.padEnd(12)} median ${median} us   10th percentile ${tenth} us`);
  }
  const [ratio, undisturbed] = [50, 10].map((percent) => percentile('spawnOwned', percent) / percentile('spawn', percent));
  console.log(
    `ratio ${ratio.toFixed(2)}, undisturbed ${undisturbed.toFixed(2)}, to be ${LIMIT.toFixed(2)} at most; ` +
      `host of ${ballast.length >> 20} MB, ${rounds} rounds`,
  );
  process.exitCode = ratio > LIMIT ? 1 : 0;
}

main(...process.argv.slice(2).map(Number));
