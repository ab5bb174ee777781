import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import { CLOSE } from '../../../src/domain/terminals/terminal.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, aService, as, ORIGIN } from '../../support/service/service.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';
import { aContainerOf, type FakePty, fakeTerminals, listening } from '../../support/terminal/terminals.ts';

const MIB = 1_048_576;

/** Ada's running container, and clients of its terminal. Its programs are the memory engine's unless given. */
async function aScene(t: Test, terminalBackend?: Ports['terminalBackend']) {
  const service = await aService(terminalBackend === undefined ? {} : { terminalBackend });
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const address = await listening(t, service);
  return {
    service,
    ada,
    address,
    call: as(service, ada),
    container: `/api/containers/${dbId}`,
    path: `/api/containers/${dbId}/terminal`,
    bearer: { authorization: `Bearer ${ada.token}` },
    open: (query: Record<string, string | number> = {}) =>
      terminalClient({ address, dbId, token: ada.token }, query),
    upgrade: (url: string, headers: Record<string, string>) => service.http.injectWS(url, { headers }),
  };
}

/** Programs with this scrollback. */
function withScrollback(requestScrollback: () => ReturnType<Awaited<ReturnType<Open>>['requestScrollback']>) {
  const backend = fakeTerminals();
  return {
    ...backend,
    open: async (...asked: Parameters<Open>) => ({ ...(await backend.open(...asked)), requestScrollback }),
  };
}
type Open = Ports['terminalBackend']['open'];

t.test('a terminal sends ready, and carries bytes both ways', async (t) => {
  const { open } = await aScene(t);
  const { socket, ready, messages, output, until } = await open({ cols: 120, rows: 40 });
  t.match(ready, {
    type: 'ready',
    stream: String,
    offset: 0,
    input_offset: 0,
    cols: 120,
    rows: 40,
    connection_id: 'main',
    mux_session: 'main',
    fallback: false,
    owner: true,
    mode: 'control',
  });
  socket.send(Buffer.from('héllo 🚢'), { binary: true });
  await until(() => output().toString().endsWith('🚢'));
  t.equal(output().toString(), '$ héllo 🚢');
  socket.send(JSON.stringify({ type: 'ping', t: 7 }));
  await until(() => messages.length > 1);
  t.same(messages[1], { type: 'pong', t: 7 });
});

t.test('scrolling back answers what the screen shows', async (t) => {
  const { open } = await aScene(t);
  const { socket, messages, until } = await open();
  socket.send(JSON.stringify({ type: 'look_back' }));
  await until(() => messages.length > 1);
  t.same(messages[1], { type: 'on_screen', id: null, program: 'shell', snapshot: null });
  socket.send(JSON.stringify({ type: 'redraw', id: 7 }));
  await until(() => messages.length > 2);
  t.same(messages[2], { type: 'redrawn', id: 7 });
});

t.test('a shell inside a multiplexer is captured with its history, which is no output', async (t) => {
  const snapshot = { cols: 80, rows: 2, historyRows: 1, cursorX: 2, cursorY: 1, text: 'ä\nb\n$ ' };
  const { open } = await aScene(
    t,
    withScrollback(async () => ({ program: 'shell', snapshot })),
  );
  const { socket, messages, output, until } = await open();
  socket.send(JSON.stringify({ type: 'look_back', id: 3 }));
  await until(() => messages.length > 1);
  const { cols, rows, text } = snapshot;
  const sent = { cols, rows, history_rows: 1, cursor_x: 2, cursor_y: 1, text };
  t.same(messages[1], { type: 'on_screen', id: 3, program: 'shell', snapshot: sent });
  t.equal(output().length, 0);
});

t.test('constant scrolling back runs few commands in the container', async (t) => {
  let checks = 0;
  const requestScrollback = async () => {
    checks += 1;
    return { program: 'full_screen' } as const;
  };
  const { open } = await aScene(t, withScrollback(requestScrollback));
  const { socket, messages, until } = await open();
  for (let id = 1; id <= 100; id += 1) socket.send(JSON.stringify({ type: 'look_back', id }));
  await until(() => messages.some(({ type, id }) => type === 'on_screen' && id === 100));
  t.ok(checks < 10, `${checks} checks`);
});

t.test('a refusal is plain HTTP before the upgrade', async (t) => {
  const { service, ada, path, container, call, bearer, upgrade } = await aScene(t);
  const eve = { authorization: `Bearer ${(await aPerson(service, 'eve')).token}` };
  const unknown = '/api/containers/99999999-9999-4999-8999-999999999999/terminal';
  const cases: readonly (readonly [string, string, Record<string, string>, number])[] = [
    ['no credential', path, {}, 401],
    ['a broken one', path, { authorization: 'Bearer x.y.z' }, 401],
    ['a cookie alone', path, { cookie: `berth_refresh=${ada.cookie}` }, 401],
    ['a token as the only subprotocol', path, { 'sec-websocket-protocol': `bearer.${ada.token}` }, 401],
    ['a credential in the address', `${path}?token=${ada.token}`, {}, 401],
    ['someone else', path, eve, 404],
    ['an unknown container', unknown, bearer, 404],
    ['a foreign origin', path, { ...bearer, origin: 'https://evil.example' }, 403],
    ['a lookalike origin', path, { ...bearer, origin: `${ORIGIN}.evil.example` }, 403],
    ['the null origin', path, { ...bearer, origin: 'null' }, 403],
    ['an extra credential in the address', `${path}?access_token=x`, bearer, 400],
    ['a bad size', `${path}?cols=0`, bearer, 400],
    ['another bad size', `${path}?rows=1001`, bearer, 400],
    ['a bad connection id', `${path}?connection_id=a%20b`, bearer, 400],
  ];
  for (const [name, url, headers, status] of cases)
    await t.rejects(upgrade(url, headers), { message: `Unexpected server response: ${status}` }, name);
  t.match((await call('GET', path)).json(), { code: 'upgrade_required' }, 'a plain request');
  await call('POST', `${container}/stop`);
  await t.rejects(upgrade(path, bearer), { message: 'Unexpected server response: 409' }, 'stopped');
});

t.test('no spelling of the address bypasses the credentials', async (t) => {
  const { path, upgrade } = await aScene(t);
  const odd = [`${path}/`, `/${path}`, path.toUpperCase(), `/x/..${path}`, path.replace('/api', '/api/.')];
  for (const url of odd) await t.rejects(upgrade(url, {}), { message: /Unexpected server response: 4/ }, url);
});

t.test('a browser offers its token as a subprotocol, and the answer selects the other one', async (t) => {
  const { ada, address, path } = await aScene(t);
  for (const offered of [
    ['berth.terminal.v1', `bearer.${ada.token}`],
    [`bearer.${ada.token}`, 'berth.terminal.v1'],
  ]) {
    const socket = new WebSocket(`${address}${path}`, offered, { origin: ORIGIN });
    await once(socket, 'open');
    t.equal(socket.protocol, 'berth.terminal.v1');
  }
});

const inParts =
  (parts: number) =>
  (socket: WebSocket): void => {
    for (let part = 1; part <= parts; part += 1) socket.send('x', { binary: true, fin: part === parts });
  };

t.test('an invalid frame closes its socket, and reaches no program', async (t) => {
  const backend = fakeTerminals({ muxed: false });
  const { open } = await aScene(t, backend);
  const noText = Buffer.from([0x22, 0xff, 0xfe]);
  const cases: readonly [what: string, send: (socket: WebSocket) => void, code: number][] = [
    ['more than a mebibyte', (socket) => socket.send(Buffer.alloc(MIB + 1, 'x')), 1009],
    ['text that is no UTF-8', (socket) => socket.send(noText, { binary: false }), 1007],
    ['a message in too many parts', inParts(65), 1008],
  ];
  for (const [what, send, code] of cases) {
    const client = await open();
    send(client.socket);
    t.equal((await client.closed())[0], code, what);
  }
  t.notOk(backend.opened.some((pty) => pty.typed() !== ''));
});

t.test('values at the limits are accepted, and unknown messages ignored', async (t) => {
  const backend = fakeTerminals({ muxed: false });
  const { open } = await aScene(t, backend);
  const { socket, until, messages } = await open();
  const strange = [
    'no JSON',
    '{',
    '[]',
    '"x"',
    '{"type":"unknown"}',
    '{"type":"ping"}',
    '{"type":"resize","cols":0,"rows":1e9}',
    '{"type":"resize","cols":80,"rows":-1}',
    '{"type":"resize","cols":80.5,"rows":24}',
    '{"type":"resize","cols":4294967296,"rows":24}',
    '{"type":"input_from","offset":-1}',
  ];
  for (const message of strange) socket.send(message);
  inParts(64)(socket);
  socket.send(Buffer.alloc(MIB, 'y'));
  socket.send('{"type":"ping","t":1}');
  await until(() => messages.some(({ type }) => type === 'pong'));
  t.same(
    messages.filter(({ type }) => type === 'pong'),
    [{ type: 'pong', t: 1 }],
  );
  await until(() => backend.opened[0]?.typed().length === MIB + 64);
  t.equal(backend.opened[0]?.typed().slice(0, 65), `${'x'.repeat(64)}y`);
  t.equal(socket.readyState, socket.OPEN);
});

t.test('input before the terminal is open waits for it, up to a mebibyte', async (t) => {
  const goOn = Promise.withResolvers<void>();
  const backend = fakeTerminals();
  const open: Open = (...asked) => goOn.promise.then(() => backend.open(...asked));
  const { path, bearer, upgrade } = await aScene(t, { ...backend, open });
  const send = async (pane: string, ...frames: readonly Buffer[]) => {
    const socket = await upgrade(`${path}?connection_id=${pane}`, bearer);
    for (const frame of frames) socket.send(frame);
    return socket;
  };
  const half = Buffer.alloc(MIB / 2, 'x');
  const [code, reason] = await once(await send('flood', half, half, Buffer.from('y')), 'close');
  t.same([code, String(reason)], [4008, 'too slow']);
  await send('patient', half, half);
  goOn.resolve();
  const typed = () => backend.opened.map((pty) => pty.typed().length);
  await waitFor(() => typed()[1] === MIB);
  t.same(typed(), [0, MIB]);
});

t.test('input that comes too fast is accepted completely and in order, only later', async (t) => {
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const backend = fakeTerminals();
  const { service, open } = await aScene(t, backend);
  const { socket } = await open();
  const taken: Buffer[] = [];
  const { stream } = backend.opened[0] as FakePty;
  stream._write = (chunk: Buffer, _encoding, done) => {
    taken.push(Buffer.from(chunk));
    done();
  };
  const [server] = service.http.websocketServer.clients;
  const input = randomBytes(3 * MIB);
  for (let at = 0; at < input.length; at += 65_536) socket.send(input.subarray(at, at + 65_536));
  await waitFor(() => server?.isPaused, { what: 'the sender is made to wait' });
  const bytes = (): number => taken.reduce((sum, chunk) => sum + chunk.length, 0);
  await waitFor(() => bytes() === input.length, { what: () => `${bytes()} bytes came` });
  t.equal(sha256(Buffer.concat(taken)), sha256(input));
});

t.test('a stopping service closes its terminals with its own code', async (t) => {
  const { service, open } = await aScene(t);
  const client = await open();
  service.terminals.closeEverything(CLOSE.serviceRestarting);
  t.same(await client.closed(), [4012, 'service restarting']);
});

for (const [what, killed] of [
  ['is stopped', []],
  ['is deleted', []],
  ['goes on', ['pane-pane2']],
] as const) {
  t.test(
    `in a container that ${what} ${killed.length === 0 ? 'no' : 'a'} terminal is ended separately`,
    async (t) => {
      const backend = fakeTerminals();
      const { service, open, call, container } = await aScene(t, backend);
      await open({ connection_id: 'pane2' });
      if (what === 'is stopped') await call('POST', `${container}/stop`);
      else if (what === 'is deleted') await call('DELETE', container);
      else service.terminals.closeEverything(CLOSE.unauthorized);
      await waitFor(() => backend.opened[0]?.stream.destroyed === true);
      await service.terminals.idle();
      t.same([backend.closed, backend.killed], [killed, killed]);
    },
  );
}

/** How a client ends its connection, and whether its pane waits for it. */
const WAYS: readonly (readonly [name: string, waits: boolean, leave: (socket: WebSocket) => void])[] = [
  ['a normal close', false, (socket) => socket.close(1000)],
  ['a close without a code', false, (socket) => socket.close()],
  ['a page that is left', true, (socket) => socket.close(1001)],
  ['a code of its own', true, (socket) => socket.close(4000)],
  ['a lost line', true, (socket) => socket.terminate()],
];

t.test('a normal close ends a pane, any other lets it wait for its client', async (t) => {
  const { service, open } = await aScene(t, fakeTerminals());
  for (const [index, [name, waits, leave]] of WAYS.entries()) {
    const connection_id = `pane${index}`;
    const before = await open({ connection_id });
    leave(before.socket);
    await waitFor(() => service.terminals.count() === 0);
    const after = await open({ connection_id, stream: before.ready.stream, after: 0 });
    t.equal(after.ready.stream === before.ready.stream, waits, name);
    after.socket.close(1000);
    await waitFor(() => service.terminals.count() === 0);
  }
});
