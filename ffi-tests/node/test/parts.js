'use strict';

// What owners do in the tests. Each tells what happened with `say`, and then lives until it is killed.

const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { spawn } = require('node:child_process');
const { Worker } = require('node:worker_threads');
const hermes = require('..');
const { play, say, sleeper } = require('./play');

const FAMILY = `
sh -c 'trap "" TERM; echo stubborn $$; while :; do sleep 600; done' &
(setsid sh -c 'echo escaped $$; exec sleep 600' &)
echo leader $$
wait
`;

play({
  async startsAFamily() {
    hermes.configure({ graceMs: 400 });
    const child = hermes.spawnOwned('sh', ['-c', FAMILY]);
    const said = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const family = {};
    for (let i = 0; i < 3; i += 1) {
      const [name, pid] = (await said.next()).value.split(' ');
      family[name] = Number(pid);
    }
    say(family);
  },

  /** A wrapper that leaves somebody with its stdout. */
  async startsALeaderThatLeavesSomebody() {
    const child = hermes.spawnOwned('sh', ['-c', 'sleep 600 & echo $!; exit 3'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const begun = performance.now();
    const [[first], [code]] = await Promise.all([once(child.stdout, 'data'), once(child, 'exit')]);
    say({ code, ms: performance.now() - begun, left: Number(first) });
  },

  async spawnsInAWorkerThatEnds() {
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       const child = require(workerData).spawnOwned('sleep', ['600'], { stdio: 'ignore' });
       child.unref();
       parentPort.postMessage(child.pid);`,
      { eval: true, workerData: path.dirname(__dirname) },
    );
    const [pid] = await once(worker, 'message');
    await once(worker, 'exit');
    say({ pid });
  },

  takesGroupsOver() {
    const [taken, released, lingering] = Array.from({ length: 3 }, () => {
      const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
      return child.pid;
    });
    hermes.ownProcessGroups([taken, released, lingering]);
    hermes.ownProcessGroups(new Set([taken]));
    const before = hermes.status().slotsInUse;
    hermes.releaseProcessGroups([released]);
    hermes.releaseProcessGroupOnceEmpty(lingering);
    say({ taken, released, lingering, slots: [before, hermes.status().slotsInUse] });
  },

  async dropsAChild() {
    say({ pid: sleeper().pid });
    global.gc();
    await new Promise(setImmediate);
    global.gc();
    say({ collected: true });
  },

  /** 1,000 rounds, and what they leave behind. */
  async spawnsAThousandTimes() {
    const round = async (number) => {
      const child = hermes.spawnOwned('sh', ['-c', `exit ${number % 256}`]);
      for (const stream of [child.stdout, child.stderr]) stream.resume();
      const [code] = await once(child, 'close');
      return code === number % 256;
    };
    const settled = async () => {
      while (hermes.status().slotsInUse > 0) await new Promise(setImmediate);
      for (let i = 0; i < 10; i += 1) {
        global.gc();
        await new Promise(setImmediate);
      }
      const tasks = fs.readdirSync('/proc/self/task');
      const children = tasks.flatMap(
        (task) => fs.readFileSync(`/proc/self/task/${task}/children`, 'utf8').match(/\d+/g) ?? [],
      );
      // The host's table, and the private ones of the library's two threads.
      const tables = tasks.map((task) => fs.readdirSync(`/proc/self/task/${task}/fd`).length);
      return { descriptors: Math.max(...tables), tasks: tasks.length, children: children.length };
    };
    for (let number = 0; number < 300; number += 1) await round(number);
    const before = await settled();
    const memory = process.memoryUsage();
    const wrong = [];
    for (let number = 0; number < 1000; number += 1) if (!(await round(number))) wrong.push(number);
    const after = await settled();
    const now = process.memoryUsage();
    say({
      wrong,
      before,
      after,
      heapKiB: (now.heapUsed - memory.heapUsed) / 1024,
      rssKiB: (now.rss - memory.rss) / 1024,
    });
  },

  configures() {
    const values = [{ graceMs: -1 }, { idleMs: 1.5 }, { role: 'king' }, { home: 'not/absolute' }];
    const shapes = [{ grace: 5 }, { threads: false }, 5, null, [], 'gateway'];
    const accepted = [...values, ...shapes].filter((wrong) => {
      try {
        hermes.configure(wrong);
        return true;
      } catch (error) {
        return error.code !== (wrong?.home ? 'HERMES_ERR_INVALID_ARGUMENT' : 'ERR_INVALID_ARG_VALUE');
      }
    });
    hermes.configure({ graceMs: 1234, idleMs: 5678, role: 'gateway', home: process.env.HERMES_HOME });
    const { graceMs, idleMs } = hermes.status();
    let late;
    try {
      hermes.configure();
    } catch (error) {
      late = error.code;
    }
    say({ accepted, graceMs, idleMs, late });
  },
});
