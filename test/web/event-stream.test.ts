import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { EventStream, type News } from '../../web/src/events/stream.ts';
import { platformSocket } from '../../web/src/terminal/connection/browser-socket.ts';
import { waitFor } from '../support/patience.ts';

type Accept = (socket: WebSocket, after: string | null, tries: number) => void;

/** A service on loopback (null: it refuses upgrades) and a stream from it, with short delays. */
async function serve(t: Test, accept: Accept | null, silentAfterMs = 30_000, overdueAfterMs = silentAfterMs) {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    handleProtocols: () => 'berth.events.v1',
    verifyClient: () => accept !== null,
  });
  await once(server, 'listening');
  const afters: (string | null)[] = [];
  const protocols: string[] = [];
  server.on('connection', (socket, request) => {
    const after = new URL(request.url ?? '', 'http://x').searchParams.get('after');
    afters.push(after);
    protocols.push(request.headers['sec-websocket-protocol'] ?? '');
    accept?.(socket, after, afters.length);
  });
  const heard: (News | boolean)[] = [];
  const reached: boolean[] = [];
  const stream = new EventStream(
    {
      origin: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      openSocket: platformSocket,
      token: async () => 'jwt',
      backoff: { firstMs: 5, maxMs: 20 },
      times: { pingEveryMs: () => 20, overdueAfterMs, silentAfterMs },
    },
    {
      news: (news) => heard.push(news),
      live: (isLive) => heard.push(isLive),
      answers: (answers) => reached.push(answers !== null),
    },
  );
  t.teardown(() => {
    stream.close();
    for (const client of server.clients) client.terminate();
    server.close();
  });
  stream.open();
  const until = (check: () => boolean): Promise<void> =>
    waitFor(check, { what: () => `${check} ${JSON.stringify(heard)}` });
  return { stream, heard, reached, afters, protocols, until };
}

const event = (id: string): string =>
  JSON.stringify({
    type: 'container_started',
    id,
    data: { id: 'r', db_id: 'd', name: 'n', status: 'running' },
  });
const NEWS: News = { id: 'r', dbId: 'd' };
/** How many news were heard. */
const newsOf = (heard: readonly (News | boolean)[]): number =>
  heard.filter((one) => typeof one !== 'boolean').length;

t.test('after a lost line it asks for what came after the last event', async (t) => {
  let cut = (): void => {};
  const { heard, afters, protocols, until } = await serve(t, (socket, _after, tries) => {
    cut = () => socket.terminate();
    if (tries < 3) socket.send(event(`e${tries}`));
  });
  for (const tries of [1, 2]) {
    await until(() => newsOf(heard) === tries);
    cut();
  }
  await until(() => afters.length === 3 && heard.at(-1) === true);
  t.same(afters, [null, 'e1', 'e2']);
  t.match(protocols[0], /^berth\.events\.v1, ?bearer\.jwt$/);
  t.same(heard, [true, NEWS, false, true, NEWS, false, true]);
});

t.test('resync is news of everything, and the old place is forgotten', async (t) => {
  let cut = (): void => {};
  const { heard, afters, until } = await serve(t, (socket, _after, tries) => {
    cut = () => socket.terminate();
    if (tries === 1) socket.send(event('old'));
    if (tries === 2) socket.send(JSON.stringify({ type: 'resync' }));
  });
  for (const tries of [1, 2]) {
    await until(() => newsOf(heard) === tries);
    cut();
  }
  await until(() => afters.length === 3);
  t.same(afters, [null, 'old', null]);
  t.ok(heard.includes(null));
});

t.test('a line on which nobody answers is given up', async (t) => {
  const silent = await serve(t, () => {}, 40);
  await silent.until(() => silent.afters.length >= 2);
  t.ok(silent.heard.includes(false));
  const alive = await serve(t, (socket) => {
    socket.on('message', (data) => {
      const { t } = JSON.parse(String(data));
      socket.send(JSON.stringify({ type: 'pong', t }));
      pongs += 1;
    });
  });
  let pongs = 0;
  await alive.until(() => pongs > 3 && alive.reached.length > 2);
  t.same(alive.heard, [true], 'and one that answers is kept; a pong is no news');
  t.notOk(alive.reached.includes(false));
});

t.test('that nobody answers is told before the line is given up', async (t) => {
  const { heard, reached, until } = await serve(t, () => {}, 30_000, 30);
  await until(() => reached.includes(false));
  t.same(heard, [true]);
});

t.test(
  'an answer after the browser went offline shows that the service is reached all the same',
  async (t) => {
    const { stream, reached, heard, until } = await serve(t, (socket) => {
      socket.on('message', (data) => {
        const { t } = JSON.parse(String(data));
        socket.send(JSON.stringify({ type: 'pong', t }));
      });
    });
    await until(() => heard.at(-1) === true);
    stream.doubt();
    t.equal(reached.at(-1), false, 'the notice of the browser counts at once');
    await until(() => reached.at(-1) === true);
  },
);

t.test('while the service refuses it says so once, and tries again', async (t) => {
  const { heard, stream, until } = await serve(t, null);
  await until(() => heard.length > 0);
  stream.nudge();
  t.same(heard, [false]);
});

t.test('what is not understood is passed over', async (t) => {
  const { heard, until } = await serve(t, (socket) => {
    for (const text of ['{', 'null', '7', '{}']) socket.send(text);
    socket.send(event('e'));
  });
  await until(() => heard.length >= 2);
  t.same(heard, [true, NEWS]);
});

t.test('a service that ends says when to come back, which is no news', async (t) => {
  const { heard, afters, until } = await serve(t, (socket, _after, tries) => {
    if (tries > 1) return;
    socket.send(JSON.stringify({ type: 'restarting', retry_ms: 17 }));
    socket.close(4012, 'service restarting');
  });
  await until(() => afters.length === 2 && heard.at(-1) === true);
  t.same(heard, [true, false, true]);
});
