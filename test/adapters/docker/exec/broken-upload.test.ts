import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { dockerPrograms } from '../../../../src/adapters/docker/exec/container-programs.ts';
import { shellFiles } from '../../../../src/adapters/scripts/files/container-files.ts';
import { dockerOf, frame } from '../../../support/engine/printing-engine.ts';

/** Files at an engine whose first program is ready for an upload, and whose connection breaks as the file arrives. */
async function breaking(t: Test) {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (request.url?.endsWith('/_ping')) response.end('OK');
    else if (request.url?.endsWith('/json')) response.end('{"Running":false,"ExitCode":0}');
    else response.writeHead(201).end('{"Id":"one"}');
  });
  server.on('upgrade', (_request, socket: Socket) => {
    count += 1;
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    if (count > 1) socket.end();
    else socket.once('data', () => socket.resetAndDestroy()).write(frame(1, 'ready\n'));
  });
  const programs = dockerPrograms(engineCalls(await dockerOf(t, server)));
  return shellFiles(programs, async (handle) => handle.runtimeId);
}

t.test('a connection that breaks during a small upload fails this upload alone', async (t) => {
  const files = await breaking(t);
  const content = new Readable({ read() {} });
  content.push(Buffer.alloc(100));
  const handle = { node: 'test', runtimeId: 'a'.repeat(64) };
  await t.rejects(files.write(handle, ['name'], content, 1_000_000), { code: 'ECONNRESET' });
});
