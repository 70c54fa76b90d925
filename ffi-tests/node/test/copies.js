'use strict';

// Copies of the package and of the library, for tests of what is found where.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { name: LIBRARY } = require('../lib/library');

const PACKAGE = path.dirname(__dirname);
const CRATE = path.resolve(PACKAGE, '..', '..');

/** The environment without what points at this checkout's builds, and without what npm tells the programs it runs. */
const OURS = /^(npm_.*|CARGO_TARGET_DIR|HERMES_SPAWN_LIBRARY)$/;
const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name)));

const found = (program) => spawnSync(program, ['--version']).error === undefined;

function folder(context) {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'hs-'));
  context.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

function place(directory, name = 'libhermes_spawn.so') {
  fs.mkdirSync(directory, { recursive: true });
  const file = path.join(directory, name);
  fs.copyFileSync(LIBRARY, file);
  return file;
}

/** The package as it is cloned: nothing that was built or installed, no checkout around it. */
function clone(directory) {
  for (const name of [...require('../package.json').files, 'package.json', 'package-lock.json', '.npmrc']) {
    const source = path.join(PACKAGE, name);
    if (name !== 'native') fs.cpSync(source, path.join(directory, name), { recursive: true });
  }
  return directory;
}

/** A clone with the koffi that is installed here. */
function copy(directory) {
  clone(directory);
  const [modules] = require.resolve('koffi').match(/.*\/node_modules(?=\/)/);
  fs.symlinkSync(modules, path.join(directory, 'node_modules'));
  return directory;
}

/** A checkout as far as the package looks: itself and a mark. */
function checkout(base, make = copy) {
  fs.mkdirSync(path.join(base, 'supervisor'), { recursive: true });
  fs.writeFileSync(path.join(base, 'supervisor', 'layout.ld'), '');
  return make(path.join(base, 'ffi-tests', 'node'));
}

module.exports = { CRATE, PACKAGE, bare, checkout, clone, copy, folder, found, place };
