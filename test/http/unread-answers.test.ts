import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import type { Http } from '../../src/adapters/http/types.ts';
import { limitUnreadAnswers } from '../../src/adapters/http/unread-answers.ts';
import { aService } from '../support/service.ts';

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A connection to the server that reads nothing until it is resumed. */
async function aConnection(t: Test, http: Pick<Http, 'addresses'>): Promise<Socket> {
  const { port } = http.addresses()[0] as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1' });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  return socket;
}

async function aServer(t: Test, limits: Parameters<typeof limitUnreadAnswers>[1]) {
  const http = Fastify() as unknown as Http;
  limitUnreadAnswers(http, limits);
  const slow: (() => void)[] = [];
  http.get('/large', async () => 'x'.repeat(32 << 20));
  http.get('/small', async () => 'small');
  http.get('/slow', () => new Promise((resolve) => slow.push(() => resolve('slow'))));
  await http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(async () => {
    http.server.closeAllConnections();
    await http.close();
  });
  const accepted = new Promise<Socket>((resolve) => http.server.once('connection', resolve));
  return { http, slow, socket: await aConnection(t, http), accepted: await accepted };
}

t.test('a service closes a connection that asks for ever more and reads nothing', async (t) => {
  const { http } = await aService();
  await http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(async () => {
    http.server.closeAllConnections();
    await http.close();
  });
  const accepted = new Promise<Socket>((resolve) => http.server.once('connection', resolve));
  const socket = await aConnection(t, http);
  const closed = once(await accepted, 'close');
  socket.write(ask('/api/openapi.json').repeat(1_000));
  await closed;
});

t.test('a few requests at once are all answered', async (t) => {
  const { socket } = await aServer(t, { maxPipelined: 4 });
  socket.write(ask('/small').repeat(4));
  let text = '';
  socket.resume().setEncoding('utf8');
  for await (const chunk of socket) {
    text += chunk;
    if (text.match(/small/g)?.length === 4) break;
  }
  t.equal(text.match(/HTTP\/1.1 200/g)?.length, 4);
});

t.test('a connection is closed whose answer is not read', async (t) => {
  const { socket, accepted } = await aServer(t, { stallMs: 100 });
  const closed = once(accepted, 'close');
  socket.write(ask('/large'));
  await closed;
});

t.test('a request that takes long is waited for', async (t) => {
  const { socket, accepted, slow } = await aServer(t, { stallMs: 100 });
  socket.resume().write(ask('/slow'));
  await once(accepted, 'data');
  t.equal(accepted.timeout ?? 0, 0, 'nothing limits it while it is worked on');
  while (slow.length === 0) await new Promise(setImmediate);
  slow[0]?.();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  t.match(String(answer), /slow/);
});
