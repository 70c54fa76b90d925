'use strict';

// What `npm install` and `npm pack` make of this folder.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { PACKAGE, bare, checkout, folder, found, place } = require('./copies');
const { skip } = require('./stage');
const { version } = require('..');

const USE = `
const child = spawnOwned('sh', ['-c', 'exit 6'], { stdio: 'ignore' });
child.on('exit', (code) => console.log(code, version));`;

function npm(cwd, env, ...words) {
  const done = spawnSync('npm', words, { cwd, env, encoding: 'utf8' });
  return { ...done, unreachable: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(done.stderr) };
}

/** Installs the package into a project of its own, and uses it by `require` and by `import`. */
function use(context, source, env) {
  const project = folder(context);
  fs.writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
  const installed = npm(project, env, 'install', '--no-audit', '--no-fund', source);
  if (installed.unreachable) return skip(context, 'the package registry cannot be reached');
  assert.equal(installed.status, 0, installed.stderr);
  fs.writeFileSync(path.join(project, 'use.cjs'), `const { spawnOwned, version } = require('hermes-spawn');${USE}`);
  fs.writeFileSync(path.join(project, 'use.mjs'), `import { spawnOwned, version } from 'hermes-spawn';${USE}`);
  for (const file of ['use.cjs', 'use.mjs']) {
    const used = spawnSync(process.execPath, [file], { cwd: project, env, encoding: 'utf8' });
    assert.equal(used.stdout, `6 ${version}\n`, used.stderr);
  }
}

test('installed from the checkout', { timeout: 300_000 }, (context) => {
  if (!found('npm')) return skip(context, 'npm is missing');
  use(context, PACKAGE, process.env);
});

test('packed, it is complete in itself', { timeout: 300_000 }, (context) => {
  if (!found('npm')) return skip(context, 'npm is missing');
  // From a copy: no build is to be left inside this one.
  const base = folder(context);
  const copied = checkout(path.join(base, 'checkout'));
  place(path.join(base, 'checkout', 'target', 'release'));
  // Our own prepack script, which .npmrc holds back together with those of others.
  const packed = npm(copied, bare, 'pack', '--ignore-scripts=false', '--pack-destination', base);
  assert.equal(packed.status, 0, packed.stderr);
  fs.rmSync(path.join(base, 'checkout'), { recursive: true });
  use(context, path.join(base, `hermes-spawn-${version}.tgz`), bare);
});
