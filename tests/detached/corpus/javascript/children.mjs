import { spawn, exec as run } from 'node:child_process';
import * as cp from 'child_process';
import { execa } from 'execa';
import { promisify } from 'node:util';
import { spawnOwned } from 'hermes-spawn';

const child = spawn('server');
child.unref(); // finds: unref
spawn('server').unref(); // finds: unref
let later;
later = cp.fork('./worker.mjs');
later.unref(); // finds: unref
class Server {
  start() {
    this.child = spawn('server');
    this.child.unref(); // finds: unref
  }
}
function made() {
  return spawn('server');
}
const viaFunction = made();
viaFunction.unref(); // finds: unref
spawn('server').on('error', () => {}).unref(); // finds: unref

const name = process.argv[2];
const execAsync = promisify(run);
run('nohup server'); // finds: detaching-command
run(`setsid ${name}`); // finds: detaching-command
await execAsync('server &'); // finds: background-job
cp.execSync('server & disown'); // finds: background-job
run(name); // finds: unknown-command?
run((name ? 'nohup' : 'nice') + ' server'); // finds: detaching-command
run((name ? 'npm' : 'yarn') + ' install');
spawn('setsid', ['server']); // finds: detaching-command
spawn('/usr/bin/nohup', ['server']); // finds: detaching-command
spawn('sh', ['-c', `${name} &`]); // finds: background-job
spawn('sh', ['-c', ['nohup', name].join(' ')]); // finds: detaching-command
spawn('server &', { shell: true }); // finds: background-job
spawn('nohup', ['server'], { shell: true }); // finds: detaching-command
execa('systemd-run', ['--user', 'server']); // finds: detaching-command
for (const either of ['server', 'nohup server']) run(either); // finds: detaching-command
for (const [program, how] of [['server', true]]) spawn(program, [], { detached: how }); // finds: detached-option?
for (const computed of lines()) run(computed); // finds: unknown-command?
for (const line of ['server', 'client']) run(line);

const timer = setInterval(() => {}, 1000);
timer.unref();
setTimeout(() => {}, 10).unref();
server.listen(0).unref();
const owned = spawnOwned('server', []);
owned.unref();
spawnOwned('server', [], { detached: true });
run('git log');
run(`git show ${name}`);
run('server 2>&1 && echo "a & b"');
spawn('echo', ['setsid', '&']);
const found = /x/.exec('nohup server &');
console.log(`${found} setsid`, 'nohup x &');
