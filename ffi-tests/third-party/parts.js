'use strict';

// Owners of real servers.

const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { spawnOwned } = require('../node');
const { play, say } = require('../node/test/play');

const INSTALLED = process.env.HERMES_THIRD_PARTY;
const program = (name) => path.join(INSTALLED, 'node_modules', '.bin', name);

/** One message of the language server protocol. */
function send(server, message) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** The answer to request `id`; what else it says is of no interest. */
async function answer(server, id) {
  let text = Buffer.alloc(0);
  for await (const part of server.stdout) {
    text = Buffer.concat([text, part]);
    for (;;) {
      const head = /^Content-Length: (\d+)\r\n(?:[^\r]+\r\n)*\r\n/.exec(text.toString('latin1'));
      const end = head && head[0].length + Number(head[1]);
      if (!head || text.length < end) break;
      const message = JSON.parse(text.subarray(head[0].length, end));
      text = text.subarray(end);
      if (message.id === id && 'result' in message) return message.result;
    }
  }
  throw new Error('the server has ended');
}

play({
  async runsALanguageServer(folder) {
    fs.writeFileSync(path.join(folder, 'a.ts'), 'const answer: number = 42;\n');
    const server = spawnOwned(program('typescript-language-server'), ['--stdio'], { family: 'lsp', cwd: folder });
    server.stderr.resume();
    const tsserver = { path: path.join(INSTALLED, 'node_modules', 'typescript', 'lib') };
    const rootUri = `file://${folder}`;
    const params = { processId: process.pid, rootUri, capabilities: {}, initializationOptions: { tsserver } };
    send(server, { id: 1, method: 'initialize', params });
    const { capabilities } = await answer(server, 1);
    say({ capabilities });
  },

  async runsADevServer(folder) {
    fs.writeFileSync(path.join(folder, 'index.html'), '<p>hello from the dev server</p>');
    fs.writeFileSync(path.join(folder, 'a.ts'), 'const answer: number = 42;\nexport default answer;\n');
    const server = spawnOwned(program('vite'), ['--host', '127.0.0.1', '--port', '0'], {
      family: 'dev-server',
      cwd: folder,
    });
    server.stderr.resume();
    let said = '';
    let address;
    for await (const part of server.stdout) {
      // Its colours are between the letters.
      said += String(part).replace(/\x1b\[\d+m/g, '');
      address = /http:\/\/127\.0\.0\.1:(\d+)\//.exec(said);
      if (address) break;
    }
    const read = async (file) => (await fetch(address[0] + file)).text();
    say({ port: Number(address[1]), html: await read(''), script: await read('a.ts') });
  },
});
