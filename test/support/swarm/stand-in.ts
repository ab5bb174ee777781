import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Test } from 'tap';
import { dockerAt } from '../../../src/adapters/docker/engine/engine-client.ts';
import { COUNTED } from '../../../src/adapters/docker/volumes/container-volumes.ts';
import { swarmRuntime } from '../../../src/adapters/swarm/containers/container-runtime.ts';
import { openSwarm, type SwarmSettings } from '../../../src/adapters/swarm/swarm.ts';
import { type Answer, type Route, routesOf } from './stand-in-routes.ts';
import { NODE, type SwarmState, swarmState } from './stand-in-state.ts';

async function answerOf(
  routes: readonly Route[],
  requests: string[],
  request: IncomingMessage,
): Promise<Answer> {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://swarm');
  const path = decodeURIComponent(pathname);
  requests.push(`${path}?${query.get('filters')}`);
  const text = (await request.setEncoding('utf8').toArray()).join('');
  for (const [method, pattern, reply] of routes) {
    const match = pattern.exec(path);
    if (method === request.method && match !== null)
      return reply({ name: match[1] ?? '', body: JSON.parse(text || '{}'), query });
  }
  return { status: 501, body: { message: `the stand-in knows no ${request.method} ${path}` } };
}

async function reply(
  routes: readonly Route[],
  { requests }: SwarmState,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { status, body } = await answerOf(routes, requests, request);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/** The program of an exec: it ends when its input does, unless programs hang. */
function runProgram({ execs, behaviour }: SwarmState, socket: Duplex, head: Buffer): void {
  const input: Buffer[] = [head];
  socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
  socket.on('error', () => {});
  socket.on('data', (data: Buffer) => void input.push(data));
  socket.on('end', () => {
    execs.push(Buffer.concat(input).toString());
    if (!behaviour.hangs) socket.end();
  });
}

export type StandIn = Awaited<ReturnType<typeof standInSwarm>>;

/** A swarm of one node that answers Docker's API until `t` ends. What it cannot show is tested on real swarms. */
export async function standInSwarm(t: Pick<Test, 'teardown'>, nodeId = NODE) {
  const state = swarmState(nodeId);
  const routes = routesOf(state);
  const server = createServer((request, response) => void reply(routes, state, request, response));
  const programs = new Set<Duplex>();
  server.on('upgrade', (_request, socket, head) => {
    programs.add(socket);
    runProgram(state, socket, head);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.teardown(async () => {
    server.closeAllConnections();
    for (const program of programs) program.destroy();
    server.close();
    await once(server, 'close');
  });
  return { ...state, address: { host: '127.0.0.1', port, tls: null }, url: `http://127.0.0.1:${port}` };
}

/** An installation's runtime on such a swarm, as in a process that starts now. */
export function runtimeOn({ address, url }: StandIn, over: Partial<SwarmSettings> = {}) {
  const swarm = openSwarm(dockerAt(address), {
    instanceId: 'an-installation',
    node: 'local',
    addresses: { template: url, byNode: {}, certPath: null },
    disk: COUNTED,
    processLimits: { nofile: 1024, sigpending: 1024, msgqueue: 1024, memlock: 1024 },
    toolsImage: null,
    ...over,
  });
  return { ...swarmRuntime(swarm), swarm };
}
