'use strict';

// An owner's side of the tests: `node PARTS NAME WORDS` plays one part of the file PARTS.

const fs = require('node:fs');
const { spawnOwned } = require('..');

const say = (words) => fs.writeSync(1, `${JSON.stringify(words)}\n`);

const sleeper = () => spawnOwned('sleep', ['600'], { stdio: 'ignore' });

/** The owner that lives beside each test. */
const keepsAChild = () => say({ pid: sleeper().pid });

/** Plays the part, and lives on until it is killed; or until the test has gone, so that nothing is left behind. */
async function play(parts) {
  const [part, words] = process.argv.slice(2);
  process.stdin.on('end', () => process.exit(0)).resume();
  await { keepsAChild, ...parts }[part](...JSON.parse(words));
}

module.exports = { play, say, sleeper };
