'use strict';

// Finding the library, and agreeing with it on every byte.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const koffi = require('koffi');
const { CRATE, bare, checkout, copy, folder, found, place } = require('./copies');
const { skip } = require('./stage');
const abi = require('../lib/abi');
const { checkSystem } = require('../lib/places');
const { version } = require('..');

const HEADER = path.join(CRATE, 'include', 'hermes_spawn.h');
const FILE = 'libhermes_spawn.so';

const WHICH = "require(process.argv[1]); console.log(require(process.argv[1] + '/lib/library').name)";

function run(copied, env = {}, script = WHICH) {
  return spawnSync(process.execPath, ['-e', script, copied], { env: { ...bare, ...env }, encoding: 'utf8', cwd: '/' });
}

function loads(copied, library, env) {
  const { stdout, stderr } = run(copied, env);
  assert.equal(stdout.trim(), library, stderr);
}

function refuses(copied, says, env) {
  const { status, stderr } = run(copied, env);
  assert.notEqual(status, 0);
  for (const text of says) assert(stderr.includes(text), `${JSON.stringify(text)} is not in: ${stderr}`);
}

test("records and constants are the header's", (context) => {
  if (!found('cc')) return skip(context, 'cc is missing');
  const lines = ['#include <stdio.h>', `#include "${HEADER}"`, 'int main(void) {'];
  const expected = [];
  const tell = (text, expression, value) => {
    lines.push(`printf("${text} %ld\\n", (long)(${expression}));`);
    expected.push(`${text} ${value}`);
  };
  for (const [name, type] of Object.entries(abi.records)) {
    tell(name, `sizeof(struct ${name})`, koffi.sizeof(type));
    for (const [field, { type: kind, offset }] of Object.entries(koffi.type(type).members)) {
      tell(`${name}.${field}`, `offsetof(struct ${name}, ${field})`, offset);
      tell(`${name}.${field} bytes`, `sizeof(((struct ${name} *)0)->${field})`, koffi.sizeof(kind));
    }
  }
  const constants = { STDIO: abi.STDIO, SPAWN: abi.SPAWN, ROLE: abi.ROLE, ERR: abi.ERR };
  for (const [prefix, values] of Object.entries(constants)) {
    for (const [name, value] of Object.entries(values)) tell(name, `HERMES_${prefix}_${name}`, value);
  }
  for (const [name, value] of Object.entries(abi.KIND)) tell(name, `HERMES_${name}`, value);
  for (const name of ['ABI_VERSION', 'GUARANTEES']) tell(name, `HERMES_${name}`, abi[name]);
  lines.push('}');
  const built = path.join(folder(context), 'layout');
  const options = { input: lines.join('\n'), encoding: 'utf8' };
  const compiled = spawnSync('cc', ['-xc', '-std=c99', '-Wall', '-Werror', '-', '-o', built], options);
  assert.equal(compiled.status, 0, compiled.stderr);
  assert.deepEqual(spawnSync(built, { encoding: 'utf8' }).stdout.trim().split('\n'), expected);
  assert(expected.length > 90);
});

test('every error code of the header is known, and there is one version', () => {
  const text = fs.readFileSync(HEADER, 'utf8');
  const codes = [...text.matchAll(/HERMES_ERR_(\w+) = (-\d+)/g)].map(([, name, number]) => [name, Number(number)]);
  assert.deepEqual(Object.fromEntries(codes), abi.ERR);
  const cargo = fs.readFileSync(path.join(CRATE, 'Cargo.toml'), 'utf8').match(/^version = "(.+)"/m)[1];
  assert.deepEqual([version, require('../package.json').version], [cargo, cargo]);
});

test('the library is looked for in order', (context) => {
  const base = folder(context);
  const copied = copy(path.join(base, 'lib', 'package'));
  const inPackage = path.join(copied, 'native', FILE);
  refuses(copied, ['HERMES_SPAWN_LIBRARY: not set', `${inPackage}: not there`, `${FILE}.1`, 'cargo build --release']);
  const system = place(path.join(base, 'system'), `${FILE}.1`);
  const env = { LD_LIBRARY_PATH: path.dirname(system) };
  loads(copied, `${FILE}.1`, env);
  place(path.dirname(inPackage));
  loads(copied, inPackage, env);
  const elsewhere = place(path.join(base, 'elsewhere'), 'of-mine.so');
  loads(copied, elsewhere, { ...env, HERMES_SPAWN_LIBRARY: elsewhere });
  // What was asked for is not replaced.
  const missing = path.join(base, 'missing.so');
  refuses(copied, [`${missing}: not there`], { HERMES_SPAWN_LIBRARY: missing });
});

test('the newest build of the checkout', (context) => {
  const base = folder(context);
  const crate = path.join(base, 'checkout');
  const copied = checkout(crate);
  const release = place(path.join(crate, 'target', 'release'));
  loads(copied, release);
  const debug = place(path.join(crate, 'target', 'debug'));
  fs.utimesSync(release, 1, 1);
  loads(copied, debug);
  fs.utimesSync(debug, 0, 0);
  loads(copied, release);
  // The copy that an installation puts into the package grows old.
  const copy = place(path.join(copied, 'native'));
  fs.utimesSync(copy, 0, 0);
  loads(copied, release);
  fs.utimesSync(copy, 2, 2);
  loads(copied, copy);
  fs.rmSync(copy);
  const moved = place(path.join(base, 'moved', 'debug'));
  loads(copied, moved, { CARGO_TARGET_DIR: path.join(base, 'moved') });
});

test('what is no such library, and another system', (context) => {
  const base = folder(context);
  const copied = copy(path.join(base, 'package'));
  const text = path.join(base, 'text.so');
  fs.writeFileSync(text, 'not a library\n'.repeat(1000));
  refuses(copied, [text, 'invalid ELF header'], { HERMES_SPAWN_LIBRARY: text });
  refuses(copied, ['libc.so.6', 'hermes_abi_version'], { HERMES_SPAWN_LIBRARY: 'libc.so.6' });
  const elsewhere = /works on Linux on x86_64 and aarch64 only; this is (darwin on arm64|linux on riscv64)/;
  assert.throws(() => checkSystem('darwin', 'arm64'), elsewhere);
  assert.throws(() => checkSystem('linux', 'riscv64'), elsewhere);
  const patched = `Object.defineProperty(process, 'platform', { value: 'darwin' }); require(process.argv[1])`;
  assert.match(run(copied, {}, patched).stderr, /this is darwin on/);
});
