const { spawn } = require('child_process');
spawn('x', [], { detached: true }).unref(); // detached-spawn: ok - one marker for the line
/* detached-spawn: ok - a block */
spawn('x', [], { detached: true });
