import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type Docker from 'dockerode';
import type { Test } from 'tap';
import {
  dockerAt,
  type EngineCalls,
  engineCalls,
} from '../../../src/adapters/docker/engine/engine-client.ts';
import { portOf } from '../listen.ts';

/** One frame of an engine's multiplexed stream; `kind` is 1 for stdout and 2 for stderr. */
export function frame(kind: number, data: string | Buffer): Buffer {
  const header = Buffer.alloc(8);
  header[0] = kind;
  header.writeUInt32BE(Buffer.byteLength(data), 4);
  return Buffer.concat([header, Buffer.from(data)]);
}

/** An engine whose every command prints `output` and ends. Clients may read it all at once. */
export async function printingEngine(t: Test, output: Buffer): Promise<EngineCalls> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    const path = request.url ?? '';
    if (path.endsWith('/_ping')) response.end('OK');
    else if (path.endsWith('/json')) response.end('{"Running":false,"ExitCode":0}');
    else response.writeHead(201).end('{"Id":"one"}');
  });
  server.on('upgrade', (_request, socket: Socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    socket.end(output);
  });
  return engineCalls(await dockerOf(t, server));
}

/** A client of an engine that this server takes the place of. */
export const dockerOf = async (t: Test, server: Server): Promise<Docker> =>
  dockerAt({ host: '127.0.0.1', port: await portOf(t, server), tls: null });
