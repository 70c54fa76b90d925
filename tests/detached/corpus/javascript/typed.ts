import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import cp = require('child_process');

interface Options {
  detached: true;
}
type Detached = { detached: boolean };
const options: SpawnOptions = { detached: true, stdio: 'ignore' }; // finds: detached-option
const child: ChildProcess = spawn('server', [], options as SpawnOptions);
child!.unref(); // finds: unref
cp.spawn('server', [], {
  cwd: '/',
  detached: true as const, // finds: detached-option
} satisfies SpawnOptions);
export function start(detached: boolean): ChildProcess {
  return spawn('server', [], { detached }); // finds: detached-option?
}
export function all(given: SpawnOptions): ChildProcess {
  return spawn('server', [], given); // finds: unknown-options?
}
export class Runner<T extends Detached> {
  private child?: ChildProcess;
  start(this: Runner<T>): void {
    this.child = spawn('server', []);
    this.child?.unref(); // finds: unref
  }
}
spawn('server', [], { detached: false } as SpawnOptions);
const said: string = 'detached: true';
export type { Options };
console.log(said);
