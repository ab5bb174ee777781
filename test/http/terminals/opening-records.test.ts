import t, { type Test } from 'tap';
import { fixedClock, memoryPorts, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { type Storage, StorageUnavailable } from '../../../src/ports/storage.ts';
import { TerminalNotStarted } from '../../../src/ports/terminals/terminal-backend.ts';
import { waitFor } from '../../support/patience.ts';
import { anAdmin, aPerson, aService, as } from '../../support/service/service.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';
import { aContainerOf, listening, openTerminal, slowTerminals } from '../../support/terminal/terminals.ts';

/** Ada's container, whose programs start at once, and show something when the test says so. */
async function aScene(t: Test, options: { muxed?: boolean; isFallback?: boolean } = {}) {
  const backend = slowTerminals(options);
  const clock = fixedClock();
  const memory = memoryStorage(clock);
  let beforeTransactions = async (): Promise<void> => {};
  const storage: Storage = {
    ...memory,
    async inTransaction(work) {
      await beforeTransactions();
      return await memory.inTransaction(work);
    },
  };
  const service = await aService({ ...memoryPorts(clock), storage, terminalBackend: backend });
  const [root, ada] = [await anAdmin(service), await aPerson(service, 'ada')];
  const dbId = await aContainerOf(service, ada);
  const address = await listening(t, service);
  const { repositories } = memory;
  const listed = async () => (await as(service, root)('GET', '/api/admin/terminals')).json().terminals;
  return {
    service,
    backend,
    open: () => terminalClient({ address, dbId, token: ada.token }),
    openWithoutWaiting: () => openTerminal(address, dbId, ada),
    /** Awaited before each transaction from now on. */
    beforeTransactions(work: () => Promise<void>): void {
      beforeTransactions = work;
    },
    listed,
    leases: () => repositories.terminalLeases.inContainer(dbId),
    onRecord: () => waitFor(async () => (await listed()).length === 1),
    audited: async () => {
      const { items } = await repositories.audit.page({ userId: ada.id }, { limit: 10, after: null });
      return items.map(({ action }) => action).filter((action) => action.startsWith('terminal_'));
    },
  };
}

t.test('a terminal is put on record while its program starts', async (t) => {
  for (const muxed of [true, false]) {
    const { open, backend, listed, onRecord, audited } = await aScene(t, { muxed });
    const opening = open();
    await onRecord();
    t.equal(backend.opened.length, 0, 'before its first output');
    const [early] = await listed();
    backend.openAll();
    const { ready } = await opening;
    t.match(ready, { mux_session: muxed ? 'main' : null });
    t.same(await listed(), [early], 'it is not recorded again');
    t.match(early, { mux_session: muxed ? 'main' : null });
    t.same(await audited(), ['terminal_opened']);
  }
});

t.test('a program that has started is not shown before it is on record', async (t) => {
  const { open, backend, listed, beforeTransactions } = await aScene(t);
  const written = Promise.withResolvers<void>();
  beforeTransactions(() => written.promise);
  let isReady = false;
  const opening = open().then((client) => {
    isReady = true;
    return client;
  });
  await waitFor(() => {
    backend.openAll();
    return backend.opened.length === 1;
  });
  backend.opened[0]?.say('secret');
  await waitFor(() => backend.opened[0]?.stream.readableLength === 0);
  t.same([isReady, await listed()], [false, []]);
  written.resolve();
  const client = await opening;
  await client.until(() => client.output().toString() === 'secret');
});

t.test('a terminal whose program shows nothing after its record has a close on record', async (t) => {
  const { open, backend, listed, onRecord, audited } = await aScene(t);
  const opening = open();
  await onRecord();
  backend.failAll(new TerminalNotStarted('other'));
  await t.rejects(opening, /closed before it was ready/);
  await waitFor(async () => (await audited()).length === 2);
  t.same(await audited(), ['terminal_closed', 'terminal_opened']);
  t.same(await listed(), []);
});

t.test('a failed record ends the program, and nothing of it is shown', async (t) => {
  const { open, backend, leases, audited, beforeTransactions } = await aScene(t);
  beforeTransactions(() => Promise.reject(new StorageUnavailable('no answer')));
  const opening = open();
  opening.catch(() => {});
  await waitFor(() => {
    backend.openAll();
    return backend.opened.length === 1;
  });
  await t.rejects(opening, /1013/);
  await waitFor(() => backend.opened[0]?.stream.destroyed === true);
  await waitFor(async () => (await leases()).length === 0);
  t.same(await audited(), []);
});

t.test('the record of a session that became a plain shell has none', async (t) => {
  const { open, backend, listed, onRecord, audited } = await aScene(t, { isFallback: true });
  const opening = open();
  await onRecord();
  t.match(await listed(), [{ mux_session: 'main' }]);
  backend.openAll();
  t.match((await opening).ready, { fallback: true, mux_session: null });
  t.match(await listed(), [{ mux_session: null }]);
  t.same(await audited(), ['terminal_opened']);
});

t.test(
  'a client that leaves before ready has a close on record, also while the record is written',
  async (t) => {
    const { service, openWithoutWaiting, onRecord, listed, audited, beforeTransactions } = await aScene(t);
    const expel = async (opening: ReturnType<typeof openWithoutWaiting>): Promise<void> => {
      service.terminals.closeEverything('unauthorized');
      t.match(await (await opening).closed(), [4001]);
    };
    const early = openWithoutWaiting();
    await onRecord();
    await expel(early);
    await waitFor(async () => (await listed()).length === 0);
    t.same(await audited(), ['terminal_closed', 'terminal_opened']);
    const written = Promise.withResolvers<void>();
    let isBegun = false;
    beforeTransactions(() => {
      isBegun = true;
      return written.promise;
    });
    const earlier = openWithoutWaiting();
    await waitFor(() => isBegun);
    await expel(earlier);
    written.resolve();
    await waitFor(async () => (await audited()).length === 4);
    t.same(await listed(), []);
  },
);
