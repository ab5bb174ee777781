import pino from 'pino';
import t, { type Test } from 'tap';
import { postgresBus } from '../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { freshDatabase } from '../support/database/database.ts';
import { waitFor } from '../support/patience.ts';
import { aCluster } from '../support/service/cluster.ts';
import { eventClient } from '../support/service/event-client.ts';
import { aPerson, as } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const ENDED = [4003, 'collaboration ended'] as const;

/** Two processes on one real database, where Ada shares her terminal with Bob and Eve; null where there is no database. */
async function aSharedCluster(t: Test, mode: 'view' | 'control') {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const pool = openPool({ url });
  const buses: ReturnType<typeof postgresBus>[] = [];
  const bus = () => {
    const made = postgresBus(url, pino({ level: 'silent' }));
    buses.push(made);
    return made;
  };
  const db = openDatabase(pool);
  t.teardown(async () => {
    await Promise.all(buses.map((one) => one.close()));
    await db.destroy();
  });
  const cluster = await aCluster(t, {
    storage: postgresStorage(db),
    clock: { now: () => new Date() },
    bus,
  });
  const { here, there, ada, dbId } = cluster;
  await waitFor(() => buses.every((one) => one.connected));
  const [bob, eve] = [await aPerson(there, 'bob'), await aPerson(there, 'eve')];
  const shared = await as(here, ada)('POST', `/api/containers/${dbId}/collaborations`, { mode });
  const { id, code } = shared.json();
  for (const who of [bob, eve]) await as(there, who)('POST', '/api/collaborations/join', { code });
  const [addressHere, addressThere] = cluster.addresses;
  const open = (who: typeof ada, address: string, query = {}) =>
    terminalClient({ address, dbId, token: who.token }, query);
  const stored = async (text: string): Promise<unknown[]> => (await pool.query(text)).rows;
  return { ...cluster, bob, eve, id, code, open, addressHere, addressThere, stored };
}

for (const mode of ['view', 'control'] as const) {
  t.test(`the end of a share (${mode}) at one process closes the sockets at the other`, async (t) => {
    const scene = await aSharedCluster(t, mode);
    if (scene === null) return;
    const { here, ada, bob, eve, id, backend, open, addressHere, addressThere } = scene;
    const owner = await open(ada, addressThere);
    // No timer looks after them here: what closes them is the message.
    const guests = [await open(bob, addressHere), await open(eve, addressThere)];
    await as(here, ada)('DELETE', `/api/collaborations/${id}`);
    for (const guest of guests) t.same(await guest.closed(), ENDED);
    t.equal(owner.socket.readyState, owner.socket.OPEN);
    await here.collaborations.keep();
    const killed = mode === 'control' ? [`user-${bob.id}`, `user-${eve.id}`] : [];
    t.same(new Set(backend.killed), new Set(killed));
  });
}

t.test(
  'a delete at one process ends the share at the other, and a restore does not bring it back',
  async (t) => {
    const scene = await aSharedCluster(t, 'control');
    if (scene === null) return;
    const { here, there, ada, bob, eve, dbId, code, open, addressHere, addressThere } = scene;
    const [owner, ...guests] = await Promise.all([
      open(ada, addressThere),
      open(bob, addressHere),
      open(eve, addressThere),
    ]);
    const events = await Promise.all([
      eventClient(addressHere, bob.token),
      eventClient(addressThere, eve.token),
    ]);
    t.equal((await as(here, ada)('DELETE', `/api/containers/${dbId}`)).statusCode, 200);
    for (const guest of guests) t.same(await guest.closed(), ENDED);
    t.same(await owner.closed(), [4004, 'container deleted']);
    for (const { messages, until } of events) {
      await until(() => messages.length > 0);
      t.match(messages, [{ type: 'container_deleted', data: { db_id: dbId, status: 'deleted' } }]);
    }
    for (const action of ['restore', 'start'])
      t.equal((await as(there, ada)('POST', `/api/containers/${dbId}/${action}`)).statusCode, 200);
    t.equal((await as(here, bob)('GET', `/api/containers/${dbId}`)).statusCode, 404);
    t.equal((await as(there, eve)('POST', '/api/collaborations/join', { code })).statusCode, 404);
    const deleted = events[0]?.messages[0]?.id ?? '';
    const later = await eventClient(addressHere, bob.token, deleted);
    const own = await eventClient(addressHere, ada.token, deleted);
    await own.until(() => own.messages.length === 2);
    t.same(later.messages, [], 'what became of it afterwards is not for them');
  },
);

t.test('who is at the other process is shown, and the size of the owner holds there', async (t) => {
  const scene = await aSharedCluster(t, 'control');
  if (scene === null) return;
  const { ada, bob, open, addressHere, addressThere } = scene;
  const owner = await open(ada, addressHere, { cols: 90, rows: 20 });
  const guest = await open(bob, addressThere);
  const told = (client: typeof owner): unknown =>
    client.messages.findLast(({ type }) => type === 'participants')?.['participants'];
  await owner.until(() => (told(owner) as unknown[])?.length === 2);
  t.match(told(owner), [
    { user_id: ada.id, owner: true, mode: 'control' },
    { user_id: bob.id, owner: false, mode: 'control' },
  ]);
  const size = () => guest.messages.findLast(({ type }) => type === 'size');
  await guest.until(() => size()?.['cols'] === 90);
  owner.socket.send(JSON.stringify({ type: 'resize', cols: 77, rows: 22 }));
  await guest.until(() => size()?.['cols'] === 77);
  owner.socket.close(1000);
  await guest.until(() => size()?.['cols'] === null && (told(guest) as unknown[]).length === 1);
});

t.test('a line that was cut at the wrong moment delays the end, and does not lose it', async (t) => {
  const scene = await aSharedCluster(t, 'view');
  if (scene === null) return;
  const { here, ada, bob, id, open, addressThere, stored } = scene;
  const guest = await open(bob, addressThere);
  await stored("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'berth bus'");
  await as(here, ada)('DELETE', `/api/collaborations/${id}`);
  t.same(await guest.closed(), ENDED);
});

t.test('of many who end it at once one does, and it is recorded once', async (t) => {
  const scene = await aSharedCluster(t, 'control');
  if (scene === null) return;
  const { here, there, ada, id, code, stored } = scene;
  const answers = await Promise.all([
    ...[here, there, here, there].map((at) => as(at, ada)('DELETE', `/api/collaborations/${id}`)),
    here.collaborations.keep(),
  ]);
  t.ok(answers.every((answer) => answer === undefined || answer.statusCode === 200));
  const records = await stored("select details from audit_records where action = 'collaboration_ended'");
  t.equal(records.length, 1);
  t.notOk(
    JSON.stringify(await stored('select * from audit_records')).includes(code),
    'the code is in no record',
  );
  t.notOk(JSON.stringify(await stored('select * from collaborations')).includes(code));
});
