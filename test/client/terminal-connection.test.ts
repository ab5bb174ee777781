import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Backoff } from '../../src/client/backoff.ts';
import { platformSocket } from '../../src/client/socket/socket.ts';
import { Connection } from '../../src/client/terminal/connection.ts';
import type { ConnectionState, LineHealth, Probe } from '../../src/client/terminal/connection-types.ts';
import type { Resumed } from '../../src/client/terminal/resume.ts';
import type { ServerFrame } from '../../src/protocol/terminal-frames.ts';
import { outputQueue } from '../../web/src/terminal/output-queue.ts';
import { waitFor as until } from '../support/patience.ts';

type Accept = (socket: WebSocket, query: URLSearchParams, tries: number) => void;
type World = {
  readonly token?: string | null;
  readonly probe?: Probe;
  readonly overdueAfterMs?: number;
  readonly silentAfterMs?: number;
  readonly backoff?: Backoff;
};

const ready = (stream: string, offset = 0, inputOffset = 0): string =>
  JSON.stringify({ type: 'ready', stream, offset, input_offset: inputOffset, owner: true });

/** A WebSocket service on loopback (null: it refuses upgrades) and a connection to it, with short delays. */
async function serve(test: { teardown(work: () => void): void }, accept: Accept | null, world: World = {}) {
  const verifyClient = (): boolean => accept !== null;
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', verifyClient });
  await once(server, 'listening');
  let tries = 0;
  server.on('connection', (socket, request) => {
    tries += 1;
    accept?.(socket, new URL(request.url ?? '', 'http://x').searchParams, tries);
  });
  const states: ConnectionState[] = [];
  const healths: LineHealth[] = [];
  const resumed: Resumed[] = [];
  const output: Uint8Array[] = [];
  const frames: ServerFrame[] = [];
  const connection = new Connection(
    { containerId: 'c1', connectionId: 'main', size: { cols: 90, rows: 30 } },
    {
      origin: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      openSocket: platformSocket,
      token: async () => (world.token === undefined ? 'jwt' : world.token),
      probe: async () => world.probe ?? 'ok',
      backoff: world.backoff ?? { firstMs: 5, maxMs: 20 },
      times: {
        handshakeMs: 15_000,
        pingEveryMs: () => 30,
        overdueAfterMs: world.overdueAfterMs ?? 15_000,
        silentAfterMs: world.silentAfterMs ?? 15_000,
      },
    },
    {
      state: (state) => states.push(state),
      health: (health) => healths.push(health),
      resumed: (how) => resumed.push(how),
      bytes: (data) => output.push(data.slice()),
      frame: (frame) => frames.push(frame),
    },
  );
  test.teardown(() => {
    connection.close();
    for (const client of server.clients) client.terminate();
    server.close();
  });
  connection.open();
  const last = (): ConnectionState | undefined => states.at(-1);
  const over = (): boolean => last()?.kind === 'over';
  const health = (): LineHealth | undefined => healths.at(-1);
  return {
    connection,
    states,
    healths,
    health,
    resumed,
    frames,
    last,
    over,
    tries: () => tries,
    output: () => Buffer.concat(output),
  };
}

t.test('input typed ahead reaches the shell, and the size is sent first', async (t) => {
  const frames: string[] = [];
  let letIn = (): void => {};
  const service = await serve(t, (socket) => {
    socket.on('message', (data, isBinary) => {
      if (isBinary) socket.send(data);
      else frames.push(String(data));
    });
    letIn = () => socket.send(ready('s'));
  });
  await until(() => service.tries() === 1);
  service.connection.write(Buffer.from('typed ahead'));
  letIn();
  await until(() => service.output().length > 0);
  t.equal(service.output().toString(), 'typed ahead');
  t.same(service.last(), { kind: 'open' });
  t.same(JSON.parse(frames[0] ?? ''), { type: 'resize', cols: 90, rows: 30 });
});

t.test('a new stream is announced, and input for the old shell never reaches it', async (t) => {
  const inputs: string[] = [];
  let letIn = (): void => {};
  const service = await serve(t, (socket, _query, tries) => {
    letIn = () => socket.send(ready(`s${tries}`));
    if (tries > 1) socket.on('message', (data, isBinary) => isBinary && inputs.push(String(data)));
    // The size that a client tells shows that it has seen `ready`.
    else socket.once('message', () => socket.terminate());
    if (tries === 1) letIn();
  });
  await until(() => service.tries() === 2);
  service.connection.write(Buffer.from('rm -r x\r'));
  letIn();
  await until(() => service.resumed.length === 2);
  service.connection.write(Buffer.from('ls\r'));
  await until(() => inputs.length > 0);
  t.same(inputs, ['ls\r']);
  t.same(service.resumed, ['fresh', 'other']);
});

t.test('a service that counts input which was not sent gets the rest, and the loss is said', async (t) => {
  const inputs: string[] = [];
  const service = await serve(t, (socket, _query, tries) => {
    if (tries > 1) service.connection.write(Buffer.from('kept'));
    socket.send(ready('s', 0, tries === 1 ? 0 : 100));
    socket.on('message', (data, isBinary) => {
      if (isBinary || String(data).includes('input_from')) inputs.push(String(data));
      if (isBinary && tries === 1) socket.terminate();
    });
  });
  service.connection.write(Buffer.from('sent'));
  await until(() => inputs.length === 3);
  t.same(inputs, ['sent', '{"type":"input_from","offset":100}', 'kept']);
  t.match(service.frames, [{ type: 'notice', message: /^4 bytes of input may be lost/ }]);
});

t.test('a connection without a pong is replaced', async (t) => {
  let pongs = 0;
  const service = await serve(
    t,
    (socket, _query, tries) => {
      socket.send(ready('s'));
      if (tries > 1) socket.on('message', () => socket.send('{"type":"pong","t":0}', () => (pongs += 1)));
    },
    { silentAfterMs: 500 },
  );
  await until(() => pongs > 5);
  t.equal(service.tries(), 2, 'one that answers is kept');
});

/** Answers pings while `answers` says so, and takes input without a word. */
const answering =
  (answers: () => boolean): Accept =>
  (socket) => {
    socket.send(ready('s'));
    socket.on('message', (data, isBinary) => {
      if (isBinary || !answers()) return;
      const { type, t } = JSON.parse(String(data));
      if (type === 'ping') socket.send(JSON.stringify({ type: 'pong', t }));
    });
  };

t.test('a missing answer is shown before the replacement, with the input meanwhile', async (t) => {
  let isUp = true;
  const service = await serve(
    t,
    answering(() => isUp),
    { overdueAfterMs: 60 },
  );
  await until(() => service.health()?.answers === true);
  isUp = false;
  await until(() => service.health()?.answers === false);
  service.connection.write(Buffer.from('grüße'));
  t.same(service.health(), { answers: false, unsentCharacters: 5 });
  t.same(service.last(), { kind: 'open' });
  isUp = true;
  await until(() => service.health()?.answers === true);
  t.equal(service.tries(), 1, 'the line is the same');
});

t.test("the browser's offline event counts at once, until the service answers anyway", async (t) => {
  const service = await serve(
    t,
    answering(() => true),
  );
  await until(() => service.health()?.answers === true);
  service.connection.doubt();
  t.match(service.health(), { answers: false });
  await until(() => service.health()?.answers === true);
  t.equal(service.tries(), 1);
});

t.test('an unanswered connection is replaced at once when the browser is online again', async (t) => {
  const service = await serve(
    t,
    answering(() => service.tries() > 1),
  );
  await until(() => service.health()?.answers === true);
  service.connection.doubt();
  service.connection.write(Buffer.from('x'));
  service.connection.nudge();
  await until(() => service.tries() === 2 && service.health()?.answers === true);
});

t.test("a final close ends the connection, with the shell's exit code if known", async (t) => {
  const service = await serve(t, (socket) => {
    socket.send(ready('s'));
    socket.send('{"type":"exit","code":3}');
    socket.close(1000, 'ended');
  });
  await until(service.over);
  t.same(service.last(), { kind: 'over', why: 'ended', exitCode: 3 });
  service.connection.reopen(true);
  await until(() => service.tries() === 2);
});

t.test('a close for lack of authorisation checks who is signed in', async (t) => {
  const cases: [Probe, string][] = [
    ['unauthorized', 'unauthorized'],
    ['ok', 'closed'],
    [{ trouble: 'no_tmux', forMs: null }, 'closed'],
  ];
  for (const [probe, why] of cases) {
    const accept: Accept = (socket) => {
      socket.send(ready('s'));
      socket.close(4001, 'unauthorized');
    };
    const service = await serve(t, accept, { probe });
    await until(service.over);
    t.match(service.last(), { kind: 'over', why });
    t.equal(service.tries(), 1);
  }
});

t.test('a terminal closed by the screen lock reopens after the unlock', async (t) => {
  const accept: Accept = (socket) => {
    socket.send(ready('s'));
    if (service.tries() === 1) socket.close(4001, 'unauthorized');
  };
  const service = await serve(t, accept, { probe: 'unlocked' });
  await until(() => service.tries() === 2);
  await until(() => service.last()?.kind === 'open');
});

t.test('without a login token nothing opens', async (t) => {
  const service = await serve(t, () => {}, { token: null });
  await until(service.over);
  t.match(service.last(), { why: 'unauthorized' });
  t.equal(service.tries(), 0);
});

t.test('a refused upgrade asks why: a final answer ends it, others are retried', async (t) => {
  for (const probe of ['stopped', 'deleted', 'refused'] as const) {
    const refused = await serve(t, null, { probe });
    await until(refused.over);
    t.match(refused.last(), { kind: 'over', why: probe });
  }
  const retried = await serve(t, null, { probe: 'unreachable' });
  await until(() => retried.states.filter((state) => state.kind === 'waiting').length >= 3);
  t.notOk(retried.over());
});

t.test('a queued terminal asks again when the service says so, not earlier', async (t) => {
  const backoff = { firstMs: 5, maxMs: 60_000 };
  const service = await serve(t, null, { probe: { trouble: 'busy', forMs: 40_000 }, backoff });
  await until(() => service.last()?.kind === 'waiting');
  t.same(service.last(), { kind: 'waiting', trouble: 'busy', delayMs: 40_000, attempt: 1 });
});

t.test(
  'while the engine is away it retries every few seconds, and the terminal returns by itself',
  async (t) => {
    const codes = [4013, ...Array.from({ length: 8 }, () => 1011)];
    const waits: number[] = [];
    const service = await serve(
      t,
      (socket, _query, tries) => {
        const code = codes[tries - 1];
        if (tries === 1 || code === undefined) socket.send(ready(`s${tries}`));
        if (code !== undefined) socket.close(code);
      },
      { backoff: { firstMs: 2_000_000, maxMs: 9_000_000 } },
    );
    const isBack = (): boolean => service.last()?.kind === 'open' && service.tries() > codes.length;
    for (;;) {
      await until(() => service.last()?.kind === 'waiting' || isBack());
      const state = service.last();
      if (state?.kind !== 'waiting') break;
      waits.push(state.delayMs);
      t.equal(state.trouble, 'shell');
      service.connection.nudge();
      await until(() => service.last() !== state);
    }
    t.equal(waits.length, codes.length);
    t.ok(Math.max(...waits) <= 3_000, `${waits}`);
    t.same(service.resumed, ['fresh', 'other']);
  },
);

const NOON = '2026-01-01T12:00:00.000Z';
const readyIn = (stream: string, startedAt: string | null, muxSession: string | null = 'main'): string =>
  JSON.stringify({ ...JSON.parse(ready(stream, 0, 100)), mux_session: muxSession, started_at: startedAt });

for (const [what, again, expected] of [
  ['the same program gets, once, all that has no acknowledgement', readyIn('s2', NOON), 'defghi'],
  ['a container that was started in between gets none of it', readyIn('s2', '2026-01-01T13:00:00.000Z'), ''],
  ['a service that does not say when it was started gets none of it', readyIn('s2', null), ''],
  ['a shell that is not the same gets none of it', readyIn('s2', NOON, null), ''],
] as const) {
  t.test(`after a stream that broke ${what}`, async (t) => {
    let came = '';
    const service = await serve(t, (socket, _query, tries) => {
      if (tries === 2) return socket.close(1011);
      socket.send(tries === 1 ? readyIn('s1', NOON) : again);
      socket.on('message', (data, isBinary) => {
        if (!isBinary) return;
        came += data;
        if (came === 'abcdef') {
          came = '';
          socket.send(JSON.stringify({ type: 'ack', input_offset: 103 }));
          socket.close(4013, 'detached');
        }
      });
    });
    service.connection.write(Buffer.from('abcdef'));
    await until(() => service.last()?.kind === 'waiting');
    service.connection.write(Buffer.from('ghi'));
    await until(() => service.tries() === 3 && service.last()?.kind === 'open');
    service.connection.write(Buffer.from('.'));
    await until(() => came.endsWith('.'));
    t.equal(came, `${expected}.`);
  });
}

t.test('a container without a free process says so, and is retried', async (t) => {
  const service = await serve(t, (socket, _query, tries) => {
    const notice = (message: string): void => socket.send(JSON.stringify({ type: 'notice', message }));
    if (tries < 4) {
      notice('too many');
      socket.close(4014, 'too many processes');
    } else {
      socket.send(ready('s'));
      notice('hello');
    }
  });
  await until(() => service.frames.length > 0);
  t.match(service.frames, [{ message: 'hello' }], 'what a close says is not said twice');
  const waits = service.states.filter(({ kind }) => kind === 'waiting');
  t.match(
    waits,
    [1, 2, 3].map((attempt) => ({ trouble: 'processes', attempt })),
  );
});

/** The queue of a screen that has more output than it may keep; `draw` draws all of it. */
function floodedScreen(connection: Connection) {
  const drawn: (() => void)[] = [];
  const queue = outputQueue(
    (_data, done) => drawn.push(done),
    () => connection,
    1,
  );
  for (const bytes of [1_000_000, 2]) queue.push(new Uint8Array(bytes));
  return {
    draw() {
      for (let next = drawn.shift(); next !== undefined; next = drawn.shift()) next();
    },
  };
}

for (const leave of ['suspend', 'close'] as const) {
  t.test(`a connection left by "${leave}" stays so when the rest of its output is drawn`, async (t) => {
    const service = await serve(t, (socket) => {
      socket.send(ready('s'));
      socket.send(Buffer.from('more'));
    });
    const { connection, states } = service;
    await until(() => service.output().length > 0);
    const screen = floodedScreen(connection);
    connection[leave]();
    const before = states.length;
    screen.draw();
    connection.nudge();
    t.same(states.slice(before), [], 'it does not connect again');
    connection.open();
    await until(() => service.tries() === 2 && service.output().length > 4);
  });
}

t.test('a screen that has drawn its queue connects again', async (t) => {
  const service = await serve(t, (socket) => {
    socket.send(ready('s'));
    socket.send(Buffer.from('more'));
  });
  await until(() => service.output().length > 0);
  floodedScreen(service.connection).draw();
  await until(() => service.tries() === 2 && service.last()?.kind === 'open');
});

t.test('a stopping service sets the retry time', async (t) => {
  const service = await serve(t, (socket, _query, tries) => {
    socket.send(ready('s'));
    if (tries > 1) return;
    socket.send(JSON.stringify({ type: 'restarting', retry_ms: 17 }));
    socket.close(4012, 'service restarting');
  });
  await until(() => service.tries() === 2 && service.last()?.kind === 'open');
  t.match(
    service.states.filter(({ kind }) => kind === 'waiting'),
    [{ delayMs: 17 }],
  );
  t.same(service.resumed, ['fresh', 'exact']);
});
