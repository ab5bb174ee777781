import { once } from 'node:events';
import { createServer, request as dial, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Test } from 'tap';

export type FaultyEngine = {
  /** As a DOCKER_HOST value. */
  readonly endpoint: string;
  /** From now on paths that match are answered 500; null for none. */
  fail(path: RegExp | null): void;
  /** Method and path of each call that was failed, or that the engine has answered. */
  readonly failed: readonly string[];
  readonly answered: readonly string[];
};

/** The engine of a unix socket, behind a line on which some calls fail. */
export async function faultyEngine(t: Test, endpoint: string, broken: RegExp): Promise<FaultyEngine> {
  let failing: RegExp | null = broken;
  const open = new Set<Socket>();
  const failed: string[] = [];
  const answered: string[] = [];
  const server = createServer((request, response) => {
    if (failing?.test(request.url ?? '')) {
      failed.push(`${request.method} ${request.url}`);
      request.resume();
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"message":"disk on fire"}');
      return;
    }
    const far = forward(request);
    far.once('response', (answer) => {
      answered.push(`${request.method} ${request.url}`);
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    response.once('close', () => far.destroy());
    request.pipe(far);
  });
  const forward = ({ method, url, headers }: IncomingMessage) =>
    dial({ socketPath: endpoint.replace('unix://', ''), method, path: url, headers })
      .on('error', () => {})
      .on('socket', (far) => open.add(far));
  server.on('upgrade', (request: IncomingMessage, near: Socket, head: Buffer) => {
    const far = forward(request);
    far.once('upgrade', (answer, socket: Socket, rest: Buffer) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      near.write(`HTTP/1.1 101 UPGRADED\r\n${lines.join('')}\r\n`);
      near.write(rest);
      socket.write(head);
      near.pipe(socket).pipe(near);
      near.on('error', () => {}).once('close', () => socket.destroy());
      socket.on('error', () => {}).once('close', () => near.destroy());
    });
    near.on('error', () => {}).once('close', () => far.destroy());
    request.pipe(far);
  });
  server.on('connection', (near: Socket) => open.add(near));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const each of open) each.destroy();
  });
  return {
    endpoint: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (path) => {
      failing = path;
    },
    failed,
    answered,
  };
}
