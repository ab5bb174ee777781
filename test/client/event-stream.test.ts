import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Event, Resync } from '../../src/client/events/event.ts';
import { EventStream } from '../../src/client/events/event-stream.ts';
import { platformSocket } from '../../src/client/socket/socket.ts';
import { atSequenceEnd, effectsOf } from '../../web/src/terminal/output-effects.ts';
import { OutputGate } from '../../web/src/terminal/output-gate.ts';
import { outputQueue } from '../../web/src/terminal/output-queue.ts';
import { waitFor } from '../support/patience.ts';

/** A change, null for a resync, or whether events come. */
type Heard = { readonly id: string | null; readonly dbId: string } | null | boolean;

const heardOf = (event: Event | Resync): Heard =>
  event.type !== 'resync' && 'db_id' in event.data ? { id: event.data.id, dbId: event.data.db_id } : null;

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
  const heard: Heard[] = [];
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
      event: (event) => heard.push(heardOf(event)),
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
const CHANGE: Heard = { id: 'r', dbId: 'd' };
/** How many changes were heard. */
const changesIn = (heard: readonly Heard[]): number => heard.filter((one) => typeof one !== 'boolean').length;

t.test('after a lost connection it asks for events after the last one', async (t) => {
  let cut = (): void => {};
  const { heard, afters, protocols, until } = await serve(t, (socket, _after, tries) => {
    cut = () => socket.terminate();
    if (tries < 3) socket.send(event(`e${tries}`));
  });
  for (const tries of [1, 2]) {
    await until(() => changesIn(heard) === tries);
    cut();
  }
  await until(() => afters.length === 3 && heard.at(-1) === true);
  t.same(afters, [null, 'e1', 'e2']);
  t.match(protocols[0], /^berth\.events\.v1, ?bearer\.jwt$/);
  t.same(heard, [true, CHANGE, false, true, CHANGE, false, true]);
});

t.test('a resync updates everything and forgets the old position', async (t) => {
  let cut = (): void => {};
  const { heard, afters, until } = await serve(t, (socket, _after, tries) => {
    cut = () => socket.terminate();
    if (tries === 1) socket.send(event('old'));
    if (tries === 2) socket.send(JSON.stringify({ type: 'resync' }));
  });
  for (const tries of [1, 2]) {
    await until(() => changesIn(heard) === tries);
    cut();
  }
  await until(() => afters.length === 3);
  t.same(afters, [null, 'old', null]);
  t.ok(heard.includes(null));
});

t.test('an unanswered connection is replaced', async (t) => {
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
  t.same(alive.heard, [true], 'and one that answers is kept; a pong is no change');
  t.notOk(alive.reached.includes(false));
});

t.test('a missing answer is reported before the connection is replaced', async (t) => {
  const { heard, reached, until } = await serve(t, () => {}, 30_000, 30);
  await until(() => reached.includes(false));
  t.same(heard, [true]);
});

t.test('an answer after the browser went offline shows that the service is reachable', async (t) => {
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
});

t.test('a refusing service is reported once, and tried again', async (t) => {
  const { heard, stream, until } = await serve(t, null);
  await until(() => heard.length > 0);
  stream.nudge();
  t.same(heard, [false]);
});

t.test('unknown messages are ignored', async (t) => {
  const { heard, until } = await serve(t, (socket) => {
    for (const text of ['{', 'null', '7', '{}']) socket.send(text);
    socket.send(event('e'));
  });
  await until(() => heard.length >= 2);
  t.same(heard, [true, CHANGE]);
});

t.test('a stopping service sets the retry time, which is no update', async (t) => {
  const { heard, afters, until } = await serve(t, (socket, _after, tries) => {
    if (tries > 1) return;
    socket.send(JSON.stringify({ type: 'restarting', retry_ms: 17 }));
    socket.close(4012, 'service restarting');
  });
  await until(() => afters.length === 2 && heard.at(-1) === true);
  t.same(heard, [true, false, null, true], 'without a position anything may have changed');
});

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (given: Uint8Array): string => Buffer.from(given).toString();

/** A gate, and all that the terminal behind it has drawn. */
function aGate(muxed = true) {
  let drawn = '';
  const write = (data: Uint8Array, done: () => void): void => {
    drawn += text(data);
    done();
  };
  const gate = new OutputGate(outputQueue(write, () => ({ pauseOutput() {}, resumeOutput() {} })));
  gate.connected(muxed, false);
  const take = (): string => {
    const all = drawn;
    drawn = '';
    return all;
  };
  return { push: (output: string) => gate.push(bytes(output)), gate, take };
}

t.test('undrawn output keeps its lasting effects', async (t) => {
  const kept = [
    ['a title', '\x1b]0;ä\x07'],
    ['the clipboard', '\x1b]52;c;YQ==\x1b\\'],
    ['modes', '\x1b[?1006;1000h\x1b[?2004l\x1b[?25l'],
    ['the pen', '\x1b[m\x1b[38;2;1;2;3m\x1b(B'],
    ['the keypad and the cursor', '\x1b=\x1b>\x1b[4 q'],
    ['questions', '\x1b[c\x1b[>c\x1b[6n\x1b[>q'],
    ['the bell', '\x07'],
  ] as const;
  for (const [what, output] of kept) t.equal(text(effectsOf(bytes(output))), output, what);
  const drawn = [
    ['text and line feeds', 'ä\r\n\n$ '],
    ['moves and erases', '\x1b[H\x1b[2J\x1b[K\x1b[3;4H\x1bM'],
    ['the scroll region', '\x1b[1;24r'],
    ['synchronized output', '\x1b[?2026h\x1b[?2026l'],
    ['hyperlinks', '\x1b]8;;http://x\x07'],
    ['what is in strings', '\x1bP\x07[?25h\x1b\\'],
  ] as const;
  for (const [what, output] of drawn) t.equal(text(effectsOf(bytes(output))), '', what);
});

t.test('an incomplete sequence is kept apart', async (t) => {
  for (const [full, open] of [
    ['a', ''],
    ['a\x1b[31m', ''],
    ['a', '\x1b'],
    ['a', '\x1b[3'],
    ['a\x1b[31mb', '\x1b]0;title'],
    ['a\x1b]0;title\x1b\\', ''],
  ] as const) {
    const [is, rest] = atSequenceEnd(bytes(full + open));
    t.same([text(is), text(rest)], [full, open]);
  }
});

t.test('frozen output draws only the snapshot, and loses no title cut in two', async (t) => {
  const { push, gate, take } = aGate();
  push('a\x1b]0;ti');
  gate.freeze(bytes('snapshot'));
  t.equal(take(), 'asnapshot');
  push('tle\x07b\r\n');
  t.equal(take(), '\x1b]0;title\x07');
  gate.hold();
  push('c\x1b[1m');
  t.equal(take(), '');
  gate.goLive(true);
  push('d');
  t.equal(take(), 'c\x1b[1md');
});

t.test('buffered output gives way to a newer snapshot', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze(bytes('first'));
  gate.hold();
  push('a\x07');
  gate.freeze(bytes('second'));
  t.equal(take(), 'first\x07second');
});

t.test('a new connection draws, and buffered output is dropped', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze(bytes('snapshot'));
  gate.hold();
  push('old');
  gate.connected(true, false);
  push('new');
  t.equal(take(), 'snapshotnew');
});

t.test('without a multiplexer output passes through', async (t) => {
  const { push, take } = aGate(false);
  push('a\x1b');
  t.equal(take(), 'a\x1b');
});

t.test('output since the last snapshot is drawn when the multiplexer does not redraw', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze();
  push('old');
  gate.freeze(bytes('snapshot'));
  push('build ');
  push('FAILED\r\n');
  gate.hold();
  push('$ ');
  take();
  gate.goLive(false);
  t.equal(take(), 'build FAILED\r\n$ ');
  gate.goLive(false);
  t.equal(take(), '', 'once');
});

t.test('a redraw by the multiplexer or a new stream is not drawn twice', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze(bytes('snapshot'));
  push('a');
  gate.goLive(true);
  gate.goLive(false);
  gate.freeze();
  push('b');
  gate.connected(true, false);
  gate.goLive(false);
  t.equal(take(), 'snapshot');
});

t.test('drawn output is not repeated, and colours are kept', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze();
  push('\x1b]0;ä\x07\x1b]52;c;YQ==\x1b\\\x07\x1b[c\x1b[31mä\x1b]8;;http://x\x07\x1b[m');
  take();
  gate.goLive(false);
  t.equal(take(), '\x1b[31mä\x1b]8;;http://x\x07\x1b[m');
});

t.test('of much undrawn output the newest is drawn', async (t) => {
  const { push, gate, take } = aGate();
  gate.freeze();
  for (let at = 0; at < 20; at += 1) push(`${at}:${'x'.repeat(100_000)}`);
  gate.goLive(false);
  const drawn = take();
  t.ok(drawn.length <= 1_048_576);
  t.match(drawn, /^10:x+11:.*19:x+$/s);
});

t.test('the screen that tmux erases at its end stays above its last words', async (t) => {
  const erase = '\x1b[H\x1b[2J';
  const modes = '\x1b[?12l\x1b[?25h';
  for (const isHeld of [false, true]) {
    const { push, gate, take } = aGate();
    gate.freeze();
    push(`${erase}a\r\nbuild FAILED\r\n`);
    if (isHeld) gate.hold();
    push(`\x1b[1;24r${erase}${modes}[exited]\r\n`);
    take();
    gate.goLive(false);
    const kept = `${erase}a\r\nbuild FAILED\r\n\x1b[1;24r\x1b[9999H\r\n${modes}[exited]\r\n`;
    t.equal(take(), kept, isHeld ? 'held' : 'frozen');
  }
});
