import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { MemoryRuntime } from '../../src/adapters/memory/container-runtime.ts';
import { openDatabase, openPool } from '../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../src/adapters/postgres/storage.ts';
import { MAX_SSH_KEYS } from '../../src/domain/ssh-key.ts';
import { anOperation } from '../contract/operation-repository.ts';
import { freshDatabase } from '../support/database.ts';
import { logIn } from '../support/factors.ts';
import { aHolder } from '../support/locks.ts';
import { aPerson, aService, as } from '../support/service.ts';
import { SSH_KEYS } from '../support/ssh.ts';
import { hashOf } from '../support/storage.ts';
import { storedContainer } from '../support/stored.ts';

/** A service on a database of its own, Ada, and a connection that holds locks; null when the test was skipped. */
async function aScene(t: Test) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  const service = await aService({ storage, clock: { now: () => new Date() } });
  const ada = await aPerson(service, 'ada');
  return { service, storage, ada, holder: await aHolder(t, url) };
}

type Scene = NonNullable<Awaited<ReturnType<typeof aScene>>>;

const race = (name: string, work: (t: Test, scene: Scene) => Promise<void>) =>
  t.test(name, async (t) => {
    const scene = await aScene(t);
    if (scene !== null) await work(t, scene);
  });

race('of two SSH keys that are added at once where one has room, one is refused', async (t, scene) => {
  const { service, storage, ada, holder } = scene;
  for (let n = 1; n < MAX_SSH_KEYS; n += 1) {
    const key = { userId: ada.id, name: `${n}`, type: 'ssh-ed25519', publicKey: `${n}` };
    await storage.repositories.sshKeys.insert({ ...key, fingerprint: `SHA256:${n}` });
  }
  await holder.sql('select from users where id = $1 for update', [ada.id]);
  const adding = SSH_KEYS.slice(0, 2).map(([type, , base64]) =>
    as(service, ada)('POST', '/api/me/ssh-keys', { public_key: `${type} ${base64}`, name: type }),
  );
  await holder.blocks(2);
  await holder.commit();
  const statuses = (await Promise.all(adding)).map(({ statusCode }) => statusCode);
  t.same(statuses.sort(), [201, 409]);
  t.equal(await storage.repositories.sshKeys.count(ada.id), MAX_SSH_KEYS);
});

race('a password that is changed while it is checked opens nothing', async (t, { service, ada, holder }) => {
  await holder.sql("update users set password_hash = 'another' where id = $1", [ada.id]);
  const signingIn = logIn(service, 'ada');
  await holder.blocks(1);
  await holder.commit();
  t.equal((await signingIn).statusCode, 401);
});

race('a process waits for no operation that another one is just taking over', async (t, scene) => {
  const { storage, ada, holder } = scene;
  const { operations } = storage.repositories;
  const abandoned = await Promise.all(
    [1, 2].map(async () => anOperation((await storedContainer(storage, ada.id)).dbId, ada.id, randomUUID())),
  );
  for (const operation of abandoned) {
    await operations.begin(operation, 60);
    await operations.release(operation.id, operation.leaseOwner);
  }
  const [taken, free] = abandoned.map(({ id }) => id);
  await holder.sql('select from operations where id = $1 for update', [taken]);
  const taking = operations.takeOver(randomUUID(), 60, false);
  const found = await Promise.race([taking, holder.blocks(1).then(() => [])]);
  t.same(
    found.map(({ id }) => id),
    [free],
  );
  await holder.commit();
  await taking;
});

race('what waits for its turn is done to the container that is there then', async (t, scene) => {
  const { service, ada, holder } = scene;
  const runtime = service.ports.runtime as MemoryRuntime;
  const call = as(service, ada);
  const { db_id, id } = (await call('POST', '/api/containers', { name: 'dev' })).json();
  const spec = runtime.boxes.get(id)?.spec;
  if (spec === undefined) throw new Error('the container is not in the engine');
  await holder.sql('select from containers where db_id = $1 for update', [db_id]);
  const stopping = call('POST', `/api/containers/${db_id}/stop`);
  await holder.blocks(1);
  const fresh = await runtime.create({ ...spec, generation: 2 });
  await runtime.start(fresh);
  await holder.sql('update containers set runtime_id = $2, generation = 2 where db_id = $1', [
    db_id,
    fresh.runtimeId,
  ]);
  await holder.commit();
  t.match((await stopping).json(), { id: fresh.runtimeId, status: 'stopped' });
  t.match(await runtime.observe(fresh), { kind: 'stopped' });
});

race('counts of failures are locked in one order, whatever they are asked for in', async (t, scene) => {
  const { storage, holder } = scene;
  const keys = [hashOf('a'), hashOf('b')].sort(Buffer.compare);
  await storage.repositories.throttle.put(keys.map((key) => ({ key, tally: { count: 1, at: new Date() } })));
  await holder.sql('select from failures where key = $1 for update', [keys[0]]);
  const lock = (order: readonly Buffer[]) =>
    storage.inTransaction((tx) => tx.throttle.lock(order)).then(() => 'locked');
  const first = lock(keys);
  await holder.blocks(1);
  const second = lock(keys.toReversed());
  await holder.blocks(2);
  await holder.commit();
  t.same(await Promise.all([first, second]), ['locked', 'locked']);
});
