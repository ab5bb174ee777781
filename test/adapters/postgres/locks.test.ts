import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { MemoryRuntime } from '../../../src/adapters/memory/containers/container-runtime.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { AGENT_NODE, agentRuntimeId, NEW_AGENT } from '../../../src/domain/containers/agents/agent.ts';
import { MAX_SSH_KEYS } from '../../../src/domain/identity/ssh-key.ts';
import { type Storage, StorageUnavailable } from '../../../src/ports/storage.ts';
import { anOperation } from '../../contract/containers/operations.ts';
import { freshDatabase, run } from '../../support/database/database.ts';
import { aHolder, hashOf, randomName, storedContainer, storedUser } from '../../support/database/stored.ts';
import { waitFor } from '../../support/patience.ts';
import { SSH_KEYS } from '../../support/samples/samples.ts';
import { from, logIn } from '../../support/service/factors.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

type On = {
  readonly url: string;
  readonly storage: Storage;
  readonly service: Awaited<ReturnType<typeof aService>>;
};

/** A service on a database, a new user Ada, and a connection that holds locks. */
async function aScene(t: Test, on: On) {
  const username = randomName();
  const ada = { ...(await aPerson(on.service, username)), username };
  return { ...on, ada, holder: await aHolder(t, on.url) };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

const races: [name: string, work: (t: Test, scene: Scene) => Promise<void>][] = [];
const race = (name: string, work: (t: Test, scene: Scene) => Promise<void>) => races.push([name, work]);

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
  const signingIn = logIn(service, ada.username);
  await holder.blocks(1);
  await holder.commit();
  t.equal((await signingIn).statusCode, 401);
});

race('a program that fetches its sign-in waits for a reset, and blocks no other user', async (t, scene) => {
  for (const isReset of [false, true]) {
    const { service, ada } = scene;
    const holder = isReset ? await aHolder(t, scene.url) : scene.holder;
    const ask = from(service);
    const started = (await ask('/api/auth/device', { machine: 'laptop' })).json();
    const { device_code, user_code } = started;
    const approved = await as(service, ada)('POST', '/api/auth/device/approve', { user_code });
    t.equal(approved.statusCode, 200);
    await holder.sql('select from users where id = $1 for update', [ada.id]);
    const fetching = ask('/api/auth/device/token', { device_code });
    await holder.blocks(1);
    // In the opposite order each would wait for the other.
    await holder.sql('select from device_sign_ins where user_id = $1 for update nowait', [ada.id]);
    if (isReset) await holder.sql('update sessions set revoked_at = now() where user_id = $1', [ada.id]);
    await holder.commit();
    const { code, user } = (await fetching).json();
    t.same([code, user?.id], isReset ? ['access_denied', undefined] : [undefined, ada.id]);
  }
});

race('a machine that is forgotten leaves no token that is made at the same time', async (t, scene) => {
  const { service, storage, ada, holder } = scene;
  const { containers, agents, tokens } = storage.repositories;
  const { dbId } = await storedContainer(storage, ada.id, { node: AGENT_NODE });
  await containers.changeState(dbId, ['running'], { state: 'stopped', runtimeId: agentRuntimeId(dbId) });
  const machine = { dbId, machineId: dbId, ownerId: ada.id, platform: 'linux x64' };
  await agents.put({ ...machine, state: NEW_AGENT });
  const asked = { name: 'parent', containers: [dbId] };
  const parent = (await as(service, ada)('POST', '/api/tokens/derive', asked)).json();
  // Tokens can be read, but neither made nor revoked.
  await holder.sql('lock table api_tokens in share mode');
  const deriving = as(service, parent)('POST', '/api/tokens/derive', { name: 'child' });
  await holder.blocks(1);
  const forgetting = as(service, ada)('DELETE', `/api/containers/agent:${dbId}`);
  await holder.blocks(2);
  await holder.commit();
  t.equal((await forgetting).statusCode, 200);
  await deriving;
  const live = (await tokens.listOwned(ada.id)).filter(({ revokedAt }) => revokedAt === null);
  t.same(valuesOf(live, 'name'), []);
});

race('a process waits for no operation that another one is just taking over', async (t, scene) => {
  const { storage, ada, holder } = scene;
  const { operations } = storage.repositories;
  const abandoned = await Promise.all(
    [1, 2].map(async () => anOperation((await storedContainer(storage, ada.id)).dbId, ada.id, randomUUID())),
  );
  for (const operation of abandoned) {
    await operations.begin(operation, 60);
    await operations.release(operation.id, operation.leaseOwner, operation.leaseNumber);
  }
  const [taken, free] = abandoned.map(({ id }) => id);
  await holder.sql('select from operations where id = $1 for update', [taken]);
  const taking = operations.takeOver(randomUUID(), 60, false);
  const found = await Promise.race([taking, holder.blocks(1).then(() => [])]);
  t.same(valuesOf(found, 'id'), [free]);
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

const idOf = (n: number): string => `${n}0000000-0000-4000-8000-000000000000`;

race('revoking sessions while their uses are written makes nobody wait in a circle', async (t, scene) => {
  const { storage, url, holder } = scene;
  const { sessions } = storage.repositories;
  const userId = (await storedUser(storage)).id;
  // The first one made has the last id, so physical order is the reverse.
  for (const n of [3, 2, 1]) {
    const { id } = await sessions.insert({ userId, ipAddress: '127.0.0.1', userAgent: '' });
    await run(url, `update sessions set id = '${idOf(n)}' where id = '${id}'`);
  }
  await run(url, 'vacuum full sessions');
  const at = new Date(Date.now() + 60_000);
  await holder.sql('select 1 from sessions where id = $1 for update', [idOf(2)]);
  const writing = sessions.touch([1, 2, 3].map((n) => ({ id: idOf(n), at })));
  const revoking = sessions.revokeOthers(userId, null, 'test');
  await holder.blocks(2);
  await holder.commit();
  await t.resolves(writing);
  t.same((await revoking).toSorted(), [1, 2, 3].map(idOf));
  const listed = await sessions.listOwned(userId);
  t.same(valuesOf(listed.sessions, 'lastSeenAt'), [at, at, at]);
});

race('what is asked for while a delete is just ending finds the container deleted', async (t, scene) => {
  const { service, storage, ada, holder } = scene;
  const call = as(service, ada);
  const box = (await call('POST', '/api/containers', { name: 'dev' })).json();
  const [id, owner] = [randomUUID(), randomUUID()];
  const ending = anOperation(box.db_id, ada.id, owner);
  await storage.repositories.operations.begin({ ...ending, id, kind: 'delete' }, 60);
  await storage.repositories.containers.changeState(box.db_id, ['running'], { state: 'stopping' });
  let asked: Promise<{ statusCode: number }> | undefined;
  await storage.inTransaction(async (tx) => {
    await tx.operations.finish(id, owner, 'done');
    await tx.containers.changeState(box.db_id, ['stopping'], { state: 'deleted' });
    asked = call('POST', `/api/containers/${box.db_id}/stop`);
    await holder.blocks(1);
  });
  t.match(await asked, { statusCode: 404 });
  t.match(await storage.repositories.containers.findAny(box.db_id), { state: 'deleted' });
});

race('an operation need not wait for a restore to refer to its container', async (t, scene) => {
  const { storage, ada, holder } = scene;
  const { dbId } = await storedContainer(storage, ada.id);
  await storage.repositories.containers.changeState(dbId, ['running'], { state: 'deleted' });
  await storage.inTransaction(async (tx) => {
    t.match(await tx.deletedContainers.findForUpdate(dbId, ada.id), { dbId });
    // The lock of its foreign key. The restore would then wait for the operation: each for the other.
    await t.resolves(holder.sql('select from containers where db_id = $1 for key share nowait', [dbId]));
  });
});

race('of two who wait for each other one is told to come again, and the other goes on', async (t, scene) => {
  const { storage } = scene;
  const [one, two] = [await storedUser(storage), await storedUser(storage)];
  let locked = 0;
  const crossed = [[one, two] as const, [two, one] as const].map(([first, second]) =>
    storage.inTransaction(async ({ users }) => {
      await users.lock(first.id);
      locked += 1;
      await waitFor(() => locked >= 2, { what: 'each has its first' });
      await users.lock(second.id);
    }),
  );
  const ends = await Promise.allSettled(crossed);
  t.same(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const lost = ends.find((end) => end.status === 'rejected');
  t.ok(lost?.reason instanceof StorageUnavailable, String(lost?.reason));
});

const url = await freshDatabase(t);
if (url !== null) {
  const db = openDatabase(openPool({ url }));
  t.teardown(() => db.destroy());
  const storage = postgresStorage(db);
  const service = await aService({ storage, clock: { now: () => new Date() } });
  for (const [name, work] of races)
    await t.test(name, async (t) => work(t, await aScene(t, { url, storage, service })));
}
