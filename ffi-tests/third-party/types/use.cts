// The same package by `require`.

import hermes = require('hermes-spawn');

const child = hermes.spawnOwned('true', { signal: AbortSignal.timeout(100) });
const pid: number | undefined = child.pid;
console.log(pid, hermes.version);
