// detached: true in a comment, and /* spawn('setsid') */
const cp = require('node:child_process');
const { spawn, fork: start, execFile } = require('child_process');
const crossSpawn = require('cross-spawn');
const { promisify } = require('util');
const other = require('./options');

const DETACH = true;
const options = { detached: true, stdio: 'ignore' }; // finds: detached-option
const attached = { detached: false, stdio: 'ignore' };

cp.spawn('server', [], { detached: true }); // finds: detached-option
spawn('server', { detached: DETACH }); // finds: detached-option
start('./worker.js', [], {
  stdio: 'ignore',
  detached: true, // finds: detached-option
});
crossSpawn('server', [], { detached: true }); // finds: detached-option
execFile('server', [], { detached: !0 }); // finds: detached-option
spawn('server', [], options);
spawn('server', [], { ...attached, detached: true }); // finds: detached-option
spawn('server', [], { 'detached': true }); // finds: detached-option
spawn('server', [], { detached: process.platform !== 'win32' }); // finds: detached-option?
spawn('server', [], other); // finds: unknown-options?
spawn('server', [], { stdio: 'ignore', ...other }); // finds: unknown-options?
const built = { stdio: 'ignore' };
built.detached = true; // finds: detached-option
spawn('server', [], built);
const detached = true;
spawn('server', [], { detached }); // finds: detached-option
spawn('server', [], Object.assign({}, attached, { detached: true })); // finds: detached-option
(await import('node:child_process')).spawn('server', [], { detached: true }); // finds: detached-option
this.spawner.spawn('server', [], { detached: true }); // finds: detached-option
function forSomebody() {
  return { stdio: 'ignore', detached: true }; // finds: detached-option
}
new Deno.Command('server', { detached: true }); // finds: detached-option
Bun.spawn(['server'], { detached: true }); // finds: detached-option
Bun.spawn({ cmd: ['setsid', 'server'] }); // finds: detaching-command

spawn('server', [], { detached: false });
spawn('server', [], attached);
spawn('server');
spawn('server', ['--detached=true']);
mount({ detached: true });
effectScope({ detached: true });
element.detached = isDetached();
console.log('spawn("x", { detached: true })', `detached: true`);
const pattern = /detached: true/.exec('x');
promisify(cp.exec)('git log');
cp.exec('git log', whenDone);
execFile('git', ['log'], this.callback);
