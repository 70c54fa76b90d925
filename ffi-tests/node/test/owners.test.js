'use strict';

// An owner in Node dies by `kill -9`: what it has started is gone, and nothing else is touched.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { HermesError, ownProcessGroups, releaseProcessGroupOnceEmpty, releaseProcessGroups } = require('..');
const { scene, skip, statFields } = require('./stage');

scene('a family dies whole', async (stage) => {
  const owner = stage.owner('startsAFamily');
  const family = Object.entries(await owner.hears()).map(([name, pid]) => [name, owner.meet(pid)]);
  assert.equal(family.length, 3);
  const moment = await owner.kill();
  for (const [name, process] of family) await stage.assertGone(process, moment, name);
});

scene('the leader counts, not who holds its stdout', async (stage) => {
  const owner = stage.owner('startsALeaderThatLeavesSomebody');
  const { code, ms, left } = await owner.hears();
  assert.equal(code, 3);
  assert(ms < 5000, `${ms} ms`);
  const process = owner.meet(left);
  stage.assertLives(process, 'the grandchild');
  await stage.assertGone(process, await owner.kill(), 'the grandchild');
});

scene('a worker thread that spawned may end', async (stage) => {
  const owner = stage.owner('spawnsInAWorkerThatEnds');
  const child = await owner.meets();
  stage.assertLives(child, 'the child, after its thread');
  await stage.assertGone(child, await owner.kill());
});

scene('a lost object stops nothing', async (stage) => {
  const owner = stage.owner('dropsAChild');
  const child = await owner.meets();
  assert((await owner.hears()).collected);
  stage.assertLives(child, 'the child');
  await stage.assertGone(child, await owner.kill());
});

scene('groups are taken over, let go, and let go once empty', async (stage) => {
  const owner = stage.owner('takesGroupsOver');
  const said = await owner.hears();
  const [taken, released, lingering] = ['taken', 'released', 'lingering'].map((name) => owner.meet(said[name]));
  assert.deepEqual(said.slots, [3, 2]);
  const moment = await owner.kill();
  await stage.assertGone(taken, moment, 'the group taken over');
  await stage.assertGone(lingering, moment, 'the group that was not empty yet');
  stage.assertLives(released, 'the group that was let go');
});

scene('a thousand rounds leave nothing', async (stage) => {
  const owner = stage.owner('spawnsAThousandTimes');
  const { wrong, before, after, heapKiB, rssKiB } = await owner.hears();
  assert.deepEqual(wrong, []);
  assert.deepEqual(after, before);
  assert.equal(after.children, 0);
  // A leak of one object a round would be more; V8's own bookkeeping comes and goes.
  assert(heapKiB < 1000, `${heapKiB} KiB of heap`);
  assert(rssKiB < 20_000, `${rssKiB} KiB`);
});

scene('settings hold, and cannot be changed in use', async (stage) => {
  const owner = stage.owner('configures');
  const said = await owner.hears();
  assert.deepEqual(said, { accepted: [], graceMs: 1234, idleMs: 5678, late: 'HERMES_ERR_INVALID_ARGUMENT' });
});

scene('groups that are refused', async (stage, context) => {
  const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  const own = Number(statFields('/proc/self/stat')[2]);
  const unsafe = [0, 1, -5, 2 ** 31, 2 ** 32 + stranger.pid, 1.5, own];
  for (const pgid of unsafe) {
    const refused = () => ownProcessGroups([stranger.pid, pgid]);
    assert.throws(refused, (error) => error instanceof HermesError && error.code === 'HERMES_ERR_UNSAFE_GROUP', pgid);
  }
  // Nothing of it was stored, and what is unknown may be let go.
  releaseProcessGroups([...unsafe, stranger.pid]);
  releaseProcessGroupOnceEmpty(2 ** 40);
  stranger.kill();
  if (process.getuid() !== 0) return skip(context, 'only root can start a group as another user');
  const other = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', uid: 65534 });
  assert.throws(() => ownProcessGroups([other.pid]), { code: 'HERMES_ERR_PERMISSION' });
  other.kill();
});
