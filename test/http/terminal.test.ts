import { once } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { Ports } from '../../src/app/main/ports.ts';
import { CLOSE } from '../../src/domain/terminal.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, aService, as, ORIGIN, type Person } from '../support/service/service.ts';
import { fakeTerminals } from '../support/terminal/terminals.ts';

type Service = Awaited<ReturnType<typeof aService>>;

type Client = {
  readonly socket: WebSocket;
  readonly messages: Record<string, unknown>[];
  readonly output: () => string;
  until(check: () => boolean): Promise<void>;
};

/** A service with a running container; its sockets end with the test, so that no timer of theirs outlives it. */
async function withContainer(t: Test, ports: Partial<Ports> = {}) {
  const service = await aService(ports);
  t.teardown(async () => {
    for (const client of service.http.websocketServer.clients) client.terminate();
    await service.http.close();
  });
  const ada = await aPerson(service, 'ada');
  const { db_id, id } = (await as(service, ada)('POST', '/api/containers', { name: 'dev' })).json();
  return { service, ada, db_id, id, path: `/api/containers/${db_id}/terminal` };
}

const bearer = (who: Person) => ({ authorization: `Bearer ${who.token}` });

async function connect(service: Service, path: string, headers: Record<string, string>): Promise<Client> {
  const messages: Record<string, unknown>[] = [];
  const chunks: Buffer[] = [];
  let wake = (): void => {};
  const onInit = (ws: WebSocket): void => {
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) chunks.push(data);
      else messages.push(JSON.parse(data.toString()));
      wake();
    });
    ws.on('close', () => wake());
  };
  const socket = await service.http.injectWS(path, { headers }, { onInit });
  return {
    socket,
    messages,
    output: () => Buffer.concat(chunks).toString(),
    async until(check) {
      while (!check()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

const closed = async (socket: WebSocket): Promise<[number, string]> => {
  const [code, reason] = await once(socket, 'close');
  return [code, String(reason)];
};

t.test('a terminal says ready, carries bytes both ways and tells how the program ended', async (t) => {
  const { service, ada, path } = await withContainer(t);
  const { socket, messages, output, until } = await connect(service, `${path}?cols=120&rows=40`, bearer(ada));
  await until(() => messages.length > 0);
  t.match(messages[0], {
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
  await until(() => output().endsWith('🚢'));
  t.equal(output(), '$ héllo 🚢');
  socket.send(JSON.stringify({ type: 'ping', t: 7 }));
  await until(() => messages.length > 1);
  t.same(messages[1], { type: 'pong', t: 7 });
  socket.terminate();
});

t.test('who scrolls back is told what is on the screen', async (t) => {
  const { service, ada, path } = await withContainer(t);
  const { socket, messages, until } = await connect(service, path, bearer(ada));
  await until(() => messages.length > 0);
  socket.send(JSON.stringify({ type: 'look_back' }));
  await until(() => messages.length > 1);
  t.same(messages[1], { type: 'on_screen', id: null, program: 'shell', snapshot: null });
  socket.send(JSON.stringify({ type: 'redraw', id: 7 }));
  await until(() => messages.length > 2);
  t.same(messages[2], { type: 'redrawn', id: 7 });
  socket.terminate();
});

t.test('a shell inside a multiplexer is told of with its history, which is no output', async (t) => {
  const snapshot = { cols: 80, rows: 2, historyRows: 1, cursorX: 2, cursorY: 1, text: 'ä\nb\n$ ' };
  const backend = fakeTerminals();
  const open: typeof backend.open = async (handle, request) => ({
    ...(await backend.open(handle, request)),
    lookBack: async () => ({ program: 'shell', snapshot }),
  });
  const { service, ada, path } = await withContainer(t, { terminalBackend: { ...backend, open } });
  const { socket, messages, output, until } = await connect(service, path, bearer(ada));
  await until(() => messages.length > 0);
  socket.send(JSON.stringify({ type: 'look_back', id: 3 }));
  await until(() => messages.length > 1);
  const { cols, rows, text } = snapshot;
  const told = { cols, rows, history_rows: 1, cursor_x: 2, cursor_y: 1, text };
  t.same(messages[1], { type: 'on_screen', id: 3, program: 'shell', snapshot: told });
  t.equal(output(), '');
  socket.terminate();
});

t.test('who scrolls back over and over asks the container a few times', async (t) => {
  let looks = 0;
  const backend = fakeTerminals();
  const open: typeof backend.open = async (handle, request) => ({
    ...(await backend.open(handle, request)),
    async lookBack() {
      looks += 1;
      return { program: 'full_screen' };
    },
  });
  const { service, ada, path } = await withContainer(t, { terminalBackend: { ...backend, open } });
  const { socket, messages, until } = await connect(service, path, bearer(ada));
  await until(() => messages.length > 0);
  for (let id = 1; id <= 100; id += 1) socket.send(JSON.stringify({ type: 'look_back', id }));
  await until(() => messages.some(({ type, id }) => type === 'on_screen' && id === 100));
  t.ok(looks < 10, `${looks} looks`);
  socket.terminate();
});

t.test('unknown, broken and out-of-range messages are ignored', async (t) => {
  const { service, ada, path } = await withContainer(t);
  const { socket, messages, until } = await connect(service, path, bearer(ada));
  for (const text of [
    '{',
    '[]',
    '"x"',
    '{"type":"nope"}',
    '{"type":"resize","cols":0,"rows":1e9}',
    '{"type":"ping"}',
  ]) {
    socket.send(text);
  }
  socket.send(JSON.stringify({ type: 'ping', t: 1 }));
  await until(() => messages.length > 1);
  t.same(messages[1], { type: 'pong', t: 1 }, 'and the next good one is answered');
  socket.terminate();
});

t.test('a refusal is a plain answer before the upgrade', async (t) => {
  const { service, ada, path, db_id } = await withContainer(t);
  const eve = await aPerson(service, 'eve');
  const cases: [string, string, Record<string, string>, number][] = [
    ['no credential', path, {}, 401],
    ['a broken one', path, { authorization: 'Bearer x.y.z' }, 401],
    ['a cookie alone', path, { cookie: `berth_refresh=${ada.cookie}` }, 401],
    ['someone else', path, bearer(eve), 404],
    [
      'an unknown container',
      '/api/containers/99999999-9999-4999-8999-999999999999/terminal',
      bearer(ada),
      404,
    ],
    ['a foreign origin', path, { ...bearer(ada), origin: 'https://evil.example' }, 403],
    ['a lookalike origin', path, { ...bearer(ada), origin: `${ORIGIN}.evil.example` }, 403],
    ['the null origin', path, { ...bearer(ada), origin: 'null' }, 403],
    ['a credential in the address', `${path}?token=${ada.token}`, {}, 401],
    ['an extra credential in the address', `${path}?access_token=x`, bearer(ada), 400],
    ['a bad size', `${path}?cols=0`, bearer(ada), 400],
    ['another bad size', `${path}?rows=1001`, bearer(ada), 400],
    ['a bad connection id', `${path}?connection_id=a%20b`, bearer(ada), 400],
  ];
  for (const [name, url, headers, status] of cases) {
    await t.rejects(
      connect(service, url, headers),
      { message: `Unexpected server response: ${status}` },
      name,
    );
  }
  await as(service, ada)('POST', `/api/containers/${db_id}/stop`);
  await t.rejects(
    connect(service, path, bearer(ada)),
    { message: 'Unexpected server response: 409' },
    'stopped',
  );
});

t.test('no way of writing the address gets around the credentials', async (t) => {
  const { service, path } = await withContainer(t);
  for (const url of [
    path,
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    `/x/..${path}`,
    path.replace('/api', '/api/.'),
  ]) {
    await t.rejects(connect(service, url, {}), { message: /Unexpected server response: 4/ }, url);
  }
});

t.test('a browser offers its token as a subprotocol, and the answer selects the other one', async (t) => {
  const { service, ada, path } = await withContainer(t);
  const address = (await service.http.listen({ host: '127.0.0.1', port: 0 })).replace('http', 'ws');
  for (const offered of [
    ['berth.terminal.v1', `bearer.${ada.token}`],
    [`bearer.${ada.token}`, 'berth.terminal.v1'],
  ]) {
    const socket = new WebSocket(`${address}${path}`, offered, { origin: ORIGIN });
    await once(socket, 'open');
    t.equal(socket.protocol, 'berth.terminal.v1');
    socket.terminate();
  }
  await t.rejects(
    connect(service, path, { 'sec-websocket-protocol': `bearer.${ada.token}` }),
    { message: 'Unexpected server response: 401' },
    'the token alone is not enough',
  );
});

t.test('what is sent before the terminal is open waits for it, up to a mebibyte', async (t) => {
  const goOn = Promise.withResolvers<void>();
  const backend = fakeTerminals();
  const open: typeof backend.open = (...asked) => goOn.promise.then(() => backend.open(...asked));
  const { service, ada, path } = await withContainer(t, { terminalBackend: { ...backend, open } });
  const send = async (pane: string, ...frames: readonly Buffer[]) => {
    const client = await connect(service, `${path}?connection_id=${pane}`, bearer(ada));
    for (const frame of frames) client.socket.send(frame);
    return client;
  };
  const half = Buffer.alloc(524_288, 'x');
  const flood = await send('flood', half, half, Buffer.from('y'));
  t.same(await closed(flood.socket), [4008, 'too slow']);
  const patient = await send('patient', half, half);
  goOn.resolve();
  await patient.until(() => patient.messages.length > 0);
  const typed = () => backend.opened.map((pty) => pty.typed().length);
  await waitFor(() => typed()[1] === 1_048_576);
  t.same(typed(), [0, 1_048_576]);
});

t.test('the same connection id takes over, and the late close of the old one harms nothing', async (t) => {
  const { service, ada, path, db_id } = await withContainer(t);
  const first = await connect(service, path, bearer(ada));
  await first.until(() => first.messages.length > 0);
  const replaced = closed(first.socket);
  const second = await connect(service, path, bearer(ada));
  t.same(await replaced, [CLOSE.replaced.code, 'replaced']);
  const third = await connect(service, `${path}?connection_id=pane2`, bearer(ada));
  await Promise.all([second, third].map((one) => one.until(() => one.messages.length > 0)));
  const ends = [second, third].map((one) => closed(one.socket));
  await as(service, ada)('POST', `/api/containers/${db_id}/stop`);
  t.same(await Promise.all(ends), [
    [4009, 'container stopped'],
    [4009, 'container stopped'],
  ]);
});

t.test('deleting the container and ending the service close its terminals with their codes', async (t) => {
  const { service, ada, path, db_id } = await withContainer(t);
  const one = await connect(service, path, bearer(ada));
  const restarting = closed(one.socket);
  service.terminals.closeEverything(CLOSE.serviceRestarting);
  t.same(await restarting, [4012, 'service restarting']);
  const two = await connect(service, path, bearer(ada));
  const deleted = closed(two.socket);
  await as(service, ada)('DELETE', `/api/containers/${db_id}`);
  t.same(await deleted, [4004, 'container deleted']);
});

t.test('in a container that goes down no terminal is ended by itself', async (t) => {
  for (const [what, byItself] of [
    ['stop', []],
    ['delete', []],
    ['expel', ['pane-pane2']],
  ] as const) {
    const backend = fakeTerminals();
    const { service, ada, path, db_id } = await withContainer(t, { terminalBackend: backend });
    const one = await connect(service, `${path}?connection_id=pane2`, bearer(ada));
    await one.until(() => one.messages.length > 0);
    const call = as(service, ada);
    if (what === 'stop') await call('POST', `/api/containers/${db_id}/stop`);
    else if (what === 'delete') await call('DELETE', `/api/containers/${db_id}`);
    else service.terminals.closeEverything(CLOSE.unauthorized);
    await waitFor(() => backend.opened[0]?.stream.destroyed === true);
    await service.terminals.idle();
    t.same([backend.closed, backend.killed], [byItself, byItself], what);
  }
});

t.test('a plain request is told that this is a WebSocket', async (t) => {
  const { service, ada, path } = await withContainer(t);
  const answer = await as(service, ada)('GET', path);
  t.same([answer.statusCode, answer.json().code], [426, 'upgrade_required']);
});
