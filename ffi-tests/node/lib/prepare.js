'use strict';

// What npm runs when it installs this folder, or packs it: afterwards the package is complete. npm links to a folder
// outside of the project that it installs into, and does not install what a folder that it links to needs.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { IN_PACKAGE, PACKAGE, checkoutBuilds, hasKoffi } = require('./places');

const built = checkoutBuilds().find((file) => fs.existsSync(file));
if (!built) {
  console.error('hermes-spawn: there is no build in the checkout: cargo build --release --no-default-features');
  process.exit(1);
}
// Not written over: a process may have it loaded.
const copy = `${IN_PACKAGE}.${process.pid}`;
if (built !== IN_PACKAGE) {
  fs.mkdirSync(path.dirname(IN_PACKAGE), { recursive: true });
  fs.copyFileSync(built, copy);
  const { atime, mtime } = fs.statSync(built);
  fs.utimesSync(copy, atime, mtime);
  fs.renameSync(copy, IN_PACKAGE);
}

// A packed one gets it where it is installed.
if (process.env.npm_command !== 'pack' && !hasKoffi()) {
  const words = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--global=false'];
  const { status } = spawnSync('npm', [...words, '--prefix', PACKAGE], { cwd: PACKAGE, stdio: 'inherit' });
  process.exit(status ?? 1);
}
