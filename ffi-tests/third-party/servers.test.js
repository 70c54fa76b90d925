'use strict';

// A real language server and a real dev server, started by spawnOwned; their owner is killed with -9.

const assert = require('node:assert/strict');
const net = require('node:net');
const path = require('node:path');
const { Stage, scene } = require('../node/test/stage');

Stage.parts = path.join(__dirname, 'parts.js');

async function allGone(stage, processes, moment) {
  for (const process of processes) await stage.assertGone(process, moment, 'a process of the server');
}

scene('a language server, with the servers that it starts', async (stage) => {
  const owner = stage.owner('runsALanguageServer', stage.folder);
  const { capabilities } = await owner.hears();
  assert(capabilities.hoverProvider, 'it speaks');
  const processes = stage.started(owner);
  assert(processes.length >= 3, `itself and its helpers: ${processes.length}`);
  await allGone(stage, processes, await owner.kill());
});

scene('a dev server, with its compiler', async (stage) => {
  const owner = stage.owner('runsADevServer', stage.folder);
  const { port, html, script } = await owner.hears();
  assert.match(html, /hello from the dev server/);
  assert.match(script, /^const answer = 42;/, 'it compiles');
  const processes = stage.started(owner);
  assert(processes.length >= 2, `itself and its compiler: ${processes.length}`);
  await allGone(stage, processes, await owner.kill());
  // The port can be bound again.
  const server = net.createServer().listen(port, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  server.close();
});
