import t, { type Test } from 'tap';
import { StorageUnavailable } from '../../src/ports/repositories.ts';
import { waitFor } from '../support/patience.ts';
import { anAdmin, aPerson, aService, as } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening, slowTerminals } from '../support/terminal/terminals.ts';

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

t.test('one that fails once it is on record is put on record as closed', async (t) => {
  const { service, backend, bob, open, listed } = await aShare(t);
  const { recordings, audit } = service.ports.storage.repositories;
  const { goingIn } = recordings;
  Object.assign(recordings, {
    goingIn: async () => {
      throw new StorageUnavailable('no answer');
    },
  });
  await t.rejects(open(), /1013/);
  t.same(await listed(), [], 'no record is left');
  t.equal(service.terminals.count(), 0);
  const { items } = await audit.page({ userId: bob.id }, { limit: 10, after: null });
  t.match(
    items.filter(({ action }) => action.startsWith('terminal_')).map(({ action }) => action),
    ['terminal_closed', 'terminal_opened'],
  );
  Object.assign(recordings, { goingIn });
  const again = await open();
  t.equal((await listed()).length, 1, 'and the next one opens');
  again.socket.close(1000);
  await waitFor(async () => (await listed()).length === 0);
  await waitFor(() => backend.opened.every(({ stream }) => stream.destroyed));
});

t.test('a second socket in the other mode gets no terminal that was opened for the first', async (t) => {
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
