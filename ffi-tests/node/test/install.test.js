'use strict';

// What `npm install` and `npm pack` make of this folder.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { bare, checkout, clone, folder, found, place } = require('./copies');
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
function use(context, source, env, ...options) {
  const project = folder(context);
  fs.writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
  const installed = npm(project, env, 'install', '--no-audit', '--no-fund', ...options, source);
  if (installed.unreachable) return skip(context, 'the package registry cannot be reached');
  assert.equal(installed.status, 0, installed.stderr);
  fs.writeFileSync(path.join(project, 'use.cjs'), `const { spawnOwned, version } = require('hermes-spawn');${USE}`);
  fs.writeFileSync(path.join(project, 'use.mjs'), `import { spawnOwned, version } from 'hermes-spawn';${USE}`);
  for (const file of ['use.cjs', 'use.mjs']) {
    const used = spawnSync(process.execPath, [file], { cwd: project, env, encoding: 'utf8' });
    assert.equal(used.stdout, `6 ${version}\n`, used.stderr);
  }
}

/** A checkout as somebody has cloned and built it. */
function built(context) {
  const base = path.join(folder(context), 'checkout');
  place(path.join(base, 'target', 'release'));
  return checkout(base, clone);
}

// By default npm 9.2 packs a folder outside of the project, and others link to it: both, whichever npm this is.
for (const option of ['--no-install-links', '--install-links']) {
  test(`installed from a checkout, ${option}`, { timeout: 300_000 }, (context) => {
    if (!found('npm')) return skip(context, 'npm is missing');
    use(context, built(context), bare, option);
  });
}

test('packed, it is complete in itself', { timeout: 300_000 }, (context) => {
  if (!found('npm')) return skip(context, 'npm is missing');
  const cloned = built(context);
  const to = folder(context);
  // Our own script, which .npmrc holds back together with those of others.
  const packed = npm(cloned, bare, 'pack', '--ignore-scripts=false', '--pack-destination', to);
  assert.equal(packed.status, 0, packed.stderr);
  fs.rmSync(path.resolve(cloned, '..', '..'), { recursive: true });
  use(context, path.join(to, `hermes-spawn-${version}.tgz`), bare);
});

test('what is missing is told together with what to do', (context) => {
  const cloned = built(context);
  const used = spawnSync(process.execPath, ['-e', 'require(process.argv[1])', cloned], { env: bare, encoding: 'utf8' });
  assert.match(used.stderr, /needs koffi, which is not installed .*npm ci --omit=dev/);
  fs.rmSync(path.resolve(cloned, '..', '..', 'target'), { recursive: true });
  const prepared = spawnSync(process.execPath, ['lib/prepare.js'], { cwd: cloned, env: bare, encoding: 'utf8' });
  assert.match(prepared.stderr, /no build in the checkout: cargo build --release/);
  assert.equal(prepared.status, 1);
});
