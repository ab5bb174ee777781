import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { workOneAtATime } from '../../src/adapters/http/connections/one-request-at-a-time.ts';
import { limitUnreadAnswers } from '../../src/adapters/http/connections/unread-replies.ts';
import type { Http } from '../../src/adapters/http/fastify-types.ts';
import { waitFor as until } from '../support/patience.ts';

const MIB = 1_048_576;
const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A connection to the server that reads nothing until it is resumed, and its other end. */
async function aConnection(t: Test, http: Pick<Http, 'addresses' | 'server'>) {
  const { port } = http.addresses()[0] as AddressInfo;
  const accepted = new Promise<Socket>((resolve) => http.server.once('connection', resolve));
  const socket = connect({ port, host: '127.0.0.1' });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {}).pause();
  return { socket, accepted: await accepted };
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}

async function aServer(t: Test, limits: Parameters<typeof limitUnreadAnswers>[1] = {}, maxPipelined = 8) {
  const http = Fastify() as unknown as Http;
  workOneAtATime(http, maxPipelined);
  limitUnreadAnswers(http, { sweepMs: 10, ...limits });
  const slow: (() => void)[] = [];
  http.get('/large', async () => 'x'.repeat(32 * MIB));
  http.get('/endless', (_request, reply) => reply.send(Readable.from(endless(), { objectMode: false })));
  http.get('/quiet', (_request, reply) => {
    const quiet = new Readable({ read() {} });
    quiet.push('begun');
    slow.push(() => quiet.push('done'));
    return reply.send(quiet);
  });
  http.get('/small', async () => 'small');
  http.get('/slow', () => new Promise((resolve) => slow.push(() => resolve('slow'))));
  await http.listen({ port: 0, host: '127.0.0.1' });
  t.teardown(async () => {
    http.server.closeAllConnections();
    await http.close();
  });
  return { http, slow, ...(await aConnection(t, http)) };
}

t.test('a few requests at once are answered one after the other', async (t) => {
  const { socket, slow } = await aServer(t, {}, 4);
  socket.write(ask('/slow').repeat(3) + ask('/small'));
  let text = '';
  socket.resume().on('data', (chunk) => {
    text += chunk;
  });
  for (let begun = 1; begun <= 3; begun += 1) {
    await until(() => slow.length === begun);
    for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
    t.equal(slow.length, begun, 'no other one is begun meanwhile');
    slow.at(-1)?.();
  }
  await until(() => text.endsWith('small'));
  t.equal(text.match(/HTTP\/1.1 200/g)?.length, 4);
});

t.test('nothing of a closed connection is begun', async (t) => {
  const { http, socket, accepted, slow } = await aServer(t);
  socket.write(ask('/slow').repeat(3));
  await until(() => slow.length === 1);
  socket.destroy();
  await once(accepted, 'close');
  slow[0]?.();
  const next = await aConnection(t, http);
  next.socket.resume().write(ask('/small'));
  await once(next.socket, 'data');
  t.equal(slow.length, 1);
});

t.test('a connection that asks for an upgrade before it has its answer is closed', async (t) => {
  const { socket, accepted, slow } = await aServer(t);
  const closed = once(accepted, 'close');
  socket.write(
    `${ask('/slow')}GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  await closed;
  t.equal(slow.length, 1);
});

for (const paths of [['/large'], ['/endless'], ['/small', '/large']]) {
  t.test(`a connection is closed whose answer is not read: ${paths}`, async (t) => {
    const { socket, accepted } = await aServer(t, { stallSweeps: 20 });
    const closed = once(accepted, 'close');
    socket.write(`${paths.map(ask).join('')}GET / HTTP/1.1\r\nX: `);
    // What is sent is no sign of reading.
    const timer = setInterval(() => socket.write('x'), 20);
    await closed.finally(() => clearInterval(timer));
  });
}

t.test('all unread answers are kept within a total: what stands still for longest is closed', async (t) => {
  const { http, socket, accepted } = await aServer(t, {
    stallSweeps: Number.POSITIVE_INFINITY,
    totalBytes: 40 * MIB,
  });
  const [second, third] = [await aConnection(t, http), await aConnection(t, http)];
  socket.write(ask('/large'));
  await until(() => accepted.writableLength > 0);
  const closed = Promise.race([accepted, second.accepted, third.accepted].map((each) => once(each, 'close')));
  second.socket.write(ask('/large'));
  third.socket.resume().write(ask('/endless'));
  await closed;
  t.ok(accepted.destroyed);
  t.notOk(second.accepted.destroyed, 'the one that began later stays');
  t.notOk(third.accepted.destroyed, 'and so does one that reads');
});

t.test('an answer in which nothing happens has no limit', async (t) => {
  const { http, socket, slow } = await aServer(t, { stallSweeps: 2 });
  for (const path of ['/slow', '/quiet']) {
    slow.length = 0;
    socket.resume().write(ask(path));
    await until(() => slow.length === 1);
    // One whose answer is not read, and which began later, reaches its limit meanwhile.
    const other = await aConnection(t, http);
    other.socket.write(ask('/large'));
    await once(other.accepted, 'close');
    const answered = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => /slow|done/.test(String(chunk)) && resolve());
    });
    slow[0]?.();
    await answered;
    t.pass(path);
  }
});
