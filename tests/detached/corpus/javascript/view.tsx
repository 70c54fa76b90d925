import { spawn } from 'child_process';

export const View = () => <div title="detached: true">setsid nohup &amp; {'detached: true'}</div>;
export const start = () => spawn('server', [], { detached: true }); // finds: detached-option
