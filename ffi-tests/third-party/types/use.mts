// Compiled, not run: what a plugin's author writes in TypeScript, as an ES module.

import { HermesError, configure, ownProcessGroups, releaseProcessGroups, spawnOwned, status } from 'hermes-spawn';
import type { OwnedChild, SpawnOwnedOptions } from 'hermes-spawn';

configure({ graceMs: 1000, role: 'gateway' });
const options: SpawnOwnedOptions = { cwd: new URL('file:///tmp'), stdio: ['pipe', 'inherit', 3], passFds: [4] };
const child: OwnedChild = spawnOwned('server', ['--stdio'], options);
child.on('exit', (code, signal) => {
  const ended: [number | null, NodeJS.Signals | null] = [code, signal];
  console.log(ended);
});
child.on('error', (error) => {
  if (error instanceof HermesError) console.log(error.hermesCode.length, error.errno ?? 0);
});
child.stdin?.write('x');
if (child.kill('SIGTERM')) await child.stop({ graceMs: 100 });
ownProcessGroups(new Set([2]));
releaseProcessGroups([2]);
const why: string | null = status().guarantees['lifeline']!.why;
console.log(why);
// @ts-expect-error: there is no shell
spawnOwned('ls', { shell: true });
// @ts-expect-error: a signal has a name that exists
child.kill('SIGNOTHING');
