'use strict';

// The shape of ChildProcess: what happens, in which order, and what is refused.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { pathToFileURL } = require('node:url');
const { Process, eventually, next, supervisors } = require('./stage');
const { HermesError, spawnOwned, status } = require('..');

const read = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
};

test('events come in the order of ChildProcess', async () => {
  const child = spawnOwned('sh', ['-c', 'cat; exit 3']);
  const events = [];
  for (const name of ['spawn', 'exit', 'close']) child.on(name, (...words) => events.push([name, ...words]));
  child.stdout.on('end', () => events.push(['end']));
  assert(child.pid > 1 && child.pid === child.pgid);
  assert.deepEqual([child.exitCode, child.signalCode, child.killed], [null, null, false]);
  child.stdin.end('hello');
  assert.equal(await read(child.stdout), 'hello');
  await once(child, 'close');
  assert.deepEqual(
    events.filter(([name]) => name !== 'end'),
    [['spawn'], ['exit', 3, null], ['close', 3, null]],
  );
  assert(events.findIndex(([name]) => name === 'end') < 3, 'close comes after the streams have ended');
  assert.deepEqual([child.exitCode, child.signalCode, child.spawnfile], [3, null, 'sh']);
  assert.equal(child.kill(), false);
});

test('signals are told by name, and kill goes to the leader', async () => {
  for (const [signal, name] of [
    ['SIGTERM', 'SIGTERM'],
    [9, 'SIGKILL'],
    [undefined, 'SIGTERM'],
  ]) {
    const child = spawnOwned('sleep', ['600'], { stdio: 'ignore' });
    assert.equal(child.kill(0), true);
    assert.equal(child.killed, false);
    assert.equal(child.kill(signal), true);
    assert.deepEqual(await once(child, 'exit'), [null, name]);
    assert.deepEqual([child.killed, child.signalCode, child.exitCode], [true, name, null]);
  }
  const child = spawnOwned('true', { stdio: 'ignore' });
  assert.throws(() => child.kill('SIGNOTHING'), { code: 'ERR_INVALID_ARG_VALUE' });
  assert.throws(() => child.kill(65), { code: 'ERR_INVALID_ARG_VALUE' });
  await once(child, 'close');
});

test('a child that reads nothing and one that says much', async () => {
  const deaf = spawnOwned('true');
  deaf.stdin.on('error', () => {});
  deaf.stdin.write(Buffer.alloc(1 << 20));
  assert.deepEqual(await once(deaf, 'close'), [0, null]);
  const loud = spawnOwned('head', ['-c', String(4 << 20), '/dev/zero']);
  let bytes = 0;
  loud.stdout.on('data', (part) => (bytes += part.length));
  await once(loud, 'close');
  assert.equal(bytes, 4 << 20);
});

test('streams: files, numbers, null, the same environment, directory, descriptors', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hs-'));
  const file = path.join(folder, 'out');
  const fd = fs.openSync(file, 'w+');
  const passed = fs.openSync(file, 'r');
  const script = 'echo "$A$HOME"; pwd; echo ${HERMES_SPAWN%%:*}; cat; ls /proc/self/fd >&2; : </dev/fd/$0';
  const env = { A: 'ü', PATH: process.env.PATH, GONE: undefined };
  const child = spawnOwned('sh', ['-c', script, passed], {
    stdio: ['ignore', fd, 'pipe'],
    env,
    cwd: pathToFileURL('/usr'),
    passFds: [passed],
    family: 'test',
  });
  assert.deepEqual([child.stdin, child.stdout], [null, null]);
  const descriptors = (await read(child.stderr)).trim().split('\n').map(Number);
  if (child.exitCode === null) await once(child, 'exit');
  assert.equal(child.exitCode, 0);
  assert.equal(fs.readFileSync(file, 'utf8'), 'ü\n/usr\nv1\n');
  // One more is the folder that ls reads.
  assert.equal(descriptors.length, 5);
  assert(descriptors.includes(passed));
  const stream = fs.createWriteStream(null, { fd, autoClose: false });
  const second = spawnOwned('sh', ['-c', 'echo more'], { stdio: ['inherit', stream, 'inherit'] });
  assert.deepEqual(await once(second, 'close'), [0, null]);
  assert(fs.readFileSync(file, 'utf8').endsWith('more\n'));
  fs.closeSync(fd);
  fs.closeSync(passed);
  fs.rmSync(folder, { recursive: true });
});

test('a child reads from what this process has made non-blocking', async () => {
  const script = `
    const { spawnOwned } = require(${JSON.stringify(path.dirname(__dirname))});
    process.stdin.once('data', () => {});
    process.stdin.pause();
    spawnOwned('cat', { stdio: 'inherit' }).on('exit', (code) => process.exit(code));
    console.error('started');`;
  const host = spawn(process.execPath, ['-e', script], { stdio: 'pipe' });
  await once(host.stderr, 'data');
  host.stdin.end('x');
  const [said, exit] = await Promise.all([read(host.stdout), once(host, 'exit')]);
  assert.deepEqual([said, ...exit], ['x', 0, null]);
});

test('what cannot be started is told as child_process tells it', async () => {
  const slots = status().slotsInUse;
  const cases = [
    ['/no/such/program', [], {}, 'execve'],
    ['hs-no-such-program', ['a', 'b'], {}, 'execve'],
    ['/etc/passwd', [], {}, 'execve'],
    [os.tmpdir(), [], {}, 'execve'],
    ['true', [], { cwd: '/no/such/folder' }, 'chdir'],
  ];
  for (const [command, args, options, step] of cases) {
    const theirs = spawn(command, args, options);
    const ours = spawnOwned(command, args, options);
    assert.deepEqual([ours.pid, ours.kill()], [undefined, false]);
    ours.stdout.on('data', assert.fail);
    ours.stdin.on('error', () => {}).write('into the void');
    const [[expected], [error], closed] = await Promise.all([
      next(theirs, 'error'),
      next(ours, 'error'),
      next(ours, 'close'),
    ]);
    assert(error instanceof HermesError);
    for (const name of ['code', 'errno', 'syscall', 'path', 'spawnargs'])
      assert.deepEqual(error[name], expected[name], name);
    assert.deepEqual([error.hermesCode, error.step], ['HERMES_ERR_SPAWN', step]);
    assert.deepEqual(closed, [error.errno, null]);
  }
  assert.equal(status().slotsInUse, slots);
});

test('a program that is being written holds nobody up', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hs-'));
  const program = path.join(folder, 'program');
  fs.copyFileSync('/bin/true', program);
  fs.chmodSync(program, 0o755);
  // The first start is another matter.
  await next(spawnOwned('true', { stdio: 'ignore' }), 'close');
  const writer = fs.openSync(program, 'r+');
  const begun = performance.now();
  const child = spawnOwned(program, { stdio: 'ignore' });
  const ms = performance.now() - begun;
  fs.closeSync(writer);
  assert.deepEqual((await next(child, 'error'))[0].code, 'ETXTBSY');
  assert(ms < 200, `it took ${ms} ms of the event loop`);
  fs.rmSync(folder, { recursive: true });
});

test('arguments that are none are thrown', () => {
  for (const [...words] of [
    [''],
    [undefined],
    ['a\0b'],
    ['true', ['\0']],
    ['true', [{}]],
    ['true', [], { cwd: '\0' }],
    ['true', [], { env: { A: '\0' } }],
    ['true', [], { env: { 'A=B': 'C' } }],
    ['true', [], { stdio: 'loud' }],
    ['true', [], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] }],
    ['true', [], { stdio: [-1] }],
    ['true', [], { shell: true }],
    ['true', [], { uid: 0 }],
    ['true', 'words'],
    ['true', [], { signal: 'SIGTERM' }],
    ['true', [], { signal: {} }],
    ['true', [], { passFds: [1.5] }],
    ['true', [], { passFds: ['abc'] }],
    ['true', [], { passFds: [2 ** 32 + 1] }],
    ['true', [], { passFds: '12' }],
    ['true', [], 5],
  ]) {
    assert.throws(() => spawnOwned(...words), { code: 'ERR_INVALID_ARG_VALUE' }, JSON.stringify(words));
  }
});

test('a child that is not referenced does not keep the process', async () => {
  const script = `
    const { spawnOwned } = require(${JSON.stringify(path.dirname(__dirname))});
    const child = spawnOwned('sleep', ['600'], { stdio: 'ignore' });
    child.unref();
    console.log(child.pid);
    // The test looks at the child while it lives.
    process.stdin.once('end', () => {}).resume();`;
  const host = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const child = new Process(Number((await once(host.stdout, 'data'))[0]));
  host.stdin.end();
  assert.deepEqual(await once(host, 'exit'), [0, null]);
  await eventually('the child dies with the host', () => child.isGone());
  await eventually('its supervisor has left', () => supervisors(host.pid).length === 0);
});
