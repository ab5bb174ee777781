import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { StorageUnavailable } from '../../../src/ports/storage.ts';
import { waitFor } from '../../support/patience.ts';
import { anAdmin, aPerson, aService, as, ORIGIN } from '../../support/service/service.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening, slowTerminals } from '../../support/terminal/terminals.ts';
import { valuesOf } from '../../support/values.ts';

/** Ada's container; her terminals open one at a time, on request. */
async function aScene(t: Test, { waitMs = 60_000, muxed = true } = {}) {
  const backend = slowTerminals({ muxed });
  const limits = { total: 2, perContainer: 1, perUser: 2 };
  const service = await aService({ terminalBackend: backend }, { terminalOpening: { limits, waitMs } });
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const address = await listening(t, service);
  const at = { address, dbId, token: ada.token };
  /** A requesting socket; `answer`: the status of its refusal. */
  const ask = (pane: string) => {
    const url = `${address}/api/containers/${dbId}/terminal?connection_id=${pane}`;
    const protocols = ['berth.terminal.v1', `bearer.${ada.token}`];
    const socket = new WebSocket(url, protocols, { origin: ORIGIN });
    socket.on('error', () => {});
    const answer = once(socket, 'unexpected-response').then(async ([, response]: IncomingMessage[]) => ({
      status: response?.statusCode,
      retryAfter: Number(response?.headers['retry-after']),
      body: Buffer.concat((await response?.toArray()) ?? []).toString(),
    }));
    // An admitted socket has no such answer.
    answer.catch(() => {});
    return { socket, answer };
  };
  const asked = (count: number) => waitFor(() => backend.wanted.length === count);
  return {
    service,
    backend,
    ada,
    dbId,
    ask,
    url: `${address.replace('ws', 'http')}/api/containers/${dbId}/terminal`,
    open: (pane: string, query = {}) => terminalClient(at, { connection_id: pane, ...query }),
    leases: () => service.ports.storage.repositories.terminalLeases.inContainer(dbId),
    /** Opens waiting terminals in the engine until the check holds. */
    openUntil: (check: () => boolean) =>
      waitFor(() => {
        backend.openAll();
        return check();
      }),
    asked,
    /** A client that leaves before its terminal opens. */
    async comesAndGoes(pane: string): Promise<void> {
      const before = backend.wanted.length;
      const { socket } = ask(pane);
      await asked(before + 1);
      await waitFor(() => socket.readyState === WebSocket.OPEN);
      socket.terminate();
      await waitFor(() => socket.readyState === WebSocket.CLOSED);
    },
  };
}

t.test('a client is admitted at its turn, and its terminal works', async (t) => {
  const { open, backend, asked, openUntil } = await aScene(t);
  const [first, second] = [open('a'), open('b')];
  await asked(1);
  await openUntil(() => backend.opened.length === 2);
  for (const client of [await first, await second]) client.socket.send(Buffer.from('x'));
  await waitFor(() => backend.opened.every(({ typed }) => typed() === 'x'));
});

t.test('when the wait is over the answer is 503 with Retry-After, and nothing was opened', async (t) => {
  const { open, ask, backend, asked, openUntil } = await aScene(t, { waitMs: 200 });
  const first = open('a');
  await asked(1);
  const { status, retryAfter, body } = await ask('b').answer;
  t.equal(status, 503);
  t.ok(retryAfter > 0);
  t.match(JSON.parse(body), { code: 'busy_opening_terminals', error: /try again/ });
  await openUntil(() => backend.opened.length === 1);
  await first;
  const later = open('b');
  await openUntil(() => backend.opened.length === 2);
  await later;
  t.equal(backend.wanted.length, 2);
});

t.test('a plain request tells whether others wait, as browsers hide why an upgrade is refused', async (t) => {
  const { service, ada, dbId, open, asked, openUntil } = await aScene(t);
  const probe = (pane: string) =>
    as(service, ada)('GET', `/api/containers/${dbId}/terminal?connection_id=${pane}`);
  t.equal((await probe('c')).statusCode, 426);
  const first = open('a');
  await asked(1);
  t.equal((await probe('c')).statusCode, 426, 'nobody waits yet');
  const second = open('b');
  await waitFor(() => service.terminals.waiting() === 1);
  const answer = await probe('c');
  t.match([answer.statusCode, answer.json().code], [503, 'busy_opening_terminals']);
  t.ok(Number(answer.headers['retry-after']) > 0);
  await openUntil(() => service.terminals.waiting() === 0);
  await openUntil(() => service.terminals.count() === 2);
  await Promise.all([first, second]);
  t.equal((await probe('c')).statusCode, 426);
});

t.test('nothing opens for a client that left the queue', async (t) => {
  for (const leave of ['terminate', 'close'] as const) {
    const { open, ask, backend, asked, openUntil } = await aScene(t);
    const first = open('a');
    await asked(1);
    const second = ask('b');
    const third = open('c');
    second.socket[leave]();
    await openUntil(() => backend.opened.length === 2);
    await Promise.all([first, third]);
    t.equal(backend.wanted.length, 2, leave);
  }
});

for (const muxed of [true, false])
  for (const pane of ['main', 'split'])
    t.test(`a client that leaves before ready leaves nothing: ${pane}, muxed ${muxed}`, async (t) => {
      const { comesAndGoes, backend, leases } = await aScene(t, { muxed });
      await comesAndGoes(pane);
      await waitFor(async () => (await leases()).length === 1);
      backend.openAll();
      await waitFor(() => backend.opened[0]?.stream.destroyed === true);
      await waitFor(async () => (await leases()).length === 0);
      t.same(backend.killed, muxed && pane === 'split' ? ['pane-split'] : []);
    });

t.test('an existing session of a pane is kept for its client', async (t) => {
  const { open, comesAndGoes, backend, openUntil } = await aScene(t);
  const first = open('split');
  await openUntil(() => backend.opened.length === 1);
  (await first).socket.terminate();
  await comesAndGoes('split');
  await openUntil(() => backend.opened.length === 2);
  const second = open('split');
  await openUntil(() => backend.opened.length === 3);
  await second;
  t.same(backend.killed, []);
});

t.test('a returning client does not wait', async (t) => {
  const { open, backend, asked, openUntil } = await aScene(t);
  const first = open('a');
  await openUntil(() => backend.opened.length === 1);
  const { ready, socket } = await first;
  socket.terminate();
  const busy = open('b');
  await asked(2);
  const resumed = await open('a', { stream: ready.stream, after: 0 });
  t.equal(resumed.ready.stream, ready.stream);
  await openUntil(() => backend.opened.length === 2);
  await busy;
});

t.test('a right lost during the wait is refused at the turn', async (t) => {
  const { service, ada, dbId, open, ask, asked, openUntil } = await aScene(t);
  const first = open('a').catch(() => null);
  await asked(1);
  const second = ask('b');
  const { answer } = second;
  await as(service, ada)('POST', `/api/containers/${dbId}/stop`);
  await openUntil(() => true);
  t.match(await answer, { status: 409, body: /container_not_running/ });
  await first;
});

t.test('a stopping service asks waiting clients to return', async (t) => {
  const { service, open, ask, asked, openUntil } = await aScene(t);
  const first = open('a').catch(() => null);
  await asked(1);
  const { answer } = ask('b');
  // Its request is behind the checks.
  await waitFor(() => service.terminals.waiting() === 1);
  service.drain();
  t.match(await answer, { status: 503, body: /service_restarting/ });
  await openUntil(() => true);
  await first;
});

t.test('a handshake that fails after its turn delays nobody', async (t) => {
  const { url, ada, open, backend, openUntil } = await aScene(t);
  const headers = {
    authorization: `Bearer ${ada.token}`,
    origin: ORIGIN,
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'bm90IGEga2V5IGF0IGFsbCE=',
  };
  const asked = request(`${url}?connection_id=a`, { headers }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  t.equal(answer.statusCode, 400);
  answer.resume();
  const client = open('b');
  await openUntil(() => backend.opened.length === 1);
  await client;
});

/** Bob takes part in a terminal of Ada's. */
async function aShare(t: Test, backend = fakeTerminals()) {
  const service = await aService({ terminalBackend: backend });
  const root = await anAdmin(service);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const dbId = await aContainerOf(service, ada);
  const shared = await as(service, ada)('POST', `/api/containers/${dbId}/collaborations`, {
    mode: 'control',
  });
  await as(service, bob)('POST', '/api/collaborations/join', { code: shared.json().code });
  const address = await listening(t, service);
  return {
    service,
    backend,
    bob,
    open: (query: Record<string, string> = {}) => terminalClient({ address, dbId, token: bob.token }, query),
    listed: async () => (await as(service, root)('GET', '/api/admin/terminals')).json().terminals,
  };
}

t.test('a terminal that fails after its record is recorded as closed', async (t) => {
  const { service, backend, bob, open, listed } = await aShare(t);
  const { recordings, audit } = service.ports.storage.repositories;
  const { activeIn } = recordings;
  Object.assign(recordings, { activeIn: () => Promise.reject(new StorageUnavailable('no answer')) });
  await t.rejects(open(), /1013/);
  t.same(await listed(), [], 'no record is left');
  t.equal(service.terminals.count(), 0);
  const { items } = await audit.page({ userId: bob.id }, { limit: 10, after: null });
  t.match(
    valuesOf(
      items.filter(({ action }) => action.startsWith('terminal_')),
      'action',
    ),
    ['terminal_closed', 'terminal_opened'],
  );
  Object.assign(recordings, { activeIn });
  const again = await open();
  t.equal((await listed()).length, 1, 'and the next one opens');
  again.socket.close(1000);
  await waitFor(async () => (await listed()).length === 0);
  await waitFor(() => backend.opened.every(({ stream }) => stream.destroyed));
});

t.test("a second socket in the other mode does not get the first one's terminal", async (t) => {
  for (const [first, second] of [
    ['view', 'control'],
    ['control', 'view'],
  ] as const) {
    const backend = slowTerminals();
    const { open } = await aShare(t, backend);
    const replaced = open({ mode: first }).catch((error: unknown) => String(error));
    await waitFor(() => backend.wanted.length === 1);
    const opening = open({ mode: second });
    await waitFor(() => backend.wanted.length === 2);
    backend.openAll();
    const client = await opening;
    t.match(await replaced, /1000,replaced/);
    t.same(backend.wanted, [first, second]);
    t.match(client.ready, { mode: second });
    await waitFor(() => backend.opened[0]?.stream.destroyed === true, { what: 'the other one is ended' });
    backend.opened[1]?.say('seen');
    await client.until(() => client.output().toString() === 'seen');
  }
});
