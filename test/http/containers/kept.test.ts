import t from 'tap';
import type { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { aServiceInTime, from } from '../../support/service/factors.ts';
import { aPerson, as, type Bearer } from '../../support/service/service.ts';

const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };
const MINUTE_MS = 60_000;

/** Two people with one live container each at most; `cycle` makes a container and deletes it. */
async function aScene() {
  const service = await aServiceInTime();
  const runtime = service.ports.runtime as ReturnType<typeof memoryRuntime>;
  const { users } = service.ports.storage.repositories;
  const [ada, eve] = [await aPerson(service, 'ada'), await aPerson(service, 'eve')];
  for (const { id } of [ada, eve]) await users.change(id, { tier: 'guest' });
  const create = async (who: Bearer, name: string) =>
    await as(service, who)('POST', '/api/containers', { name, ...small });
  const cycle = async (who: Bearer, name: string): Promise<string> => {
    const { db_id } = (await create(who, name)).json();
    await as(service, who)('DELETE', `/api/containers/${db_id}`);
    service.clock.advance(1_000);
    return db_id;
  };
  return { service, runtime, ada, eve, create, cycle };
}

t.test('deleted containers count for their owner, and for nobody else', async (t) => {
  const { service, ada, eve, create, cycle } = await aScene();
  const call = as(service, ada);
  const first = await cycle(ada, 'first');
  await cycle(ada, 'second');
  const refused = await create(ada, 'third');
  t.equal(refused.statusCode, 409);
  t.same(refused.json(), {
    error: 'deleted containers still count against your tier: purge one of them: second, first',
    code: 'kept_limit_reached',
  });
  t.equal((await create(eve, 'third')).statusCode, 201, 'another user has room of her own');

  const purge = (name: string) => call('POST', `/api/containers/${first}/purge`, { name });
  t.match((await purge('second')).json(), { code: 'validation_failed', fields: { name: /name of the/ } });
  t.equal(
    (await as(service, eve)('POST', `/api/containers/${first}/purge`, { name: 'first' })).statusCode,
    404,
  );
  t.same((await purge('first')).json(), { message: 'container purged', db_id: first, name: 'first' });
  t.equal((await purge('first')).statusCode, 404);
  t.equal((await call('POST', `/api/containers/${first}/restore`)).statusCode, 404);
  t.match((await create(ada, 'third')).json().error, /purge one of them: second$/);
  await service.collectVolumes();
  t.equal((await create(ada, 'third')).statusCode, 201, 'once the volume is gone');
});

t.test('a restore needs the volume, and no more room than the container has already', async (t) => {
  const { service, runtime, ada, cycle } = await aScene();
  const [first, second] = [await cycle(ada, 'first'), await cycle(ada, 'second')];
  const restore = (dbId: string) => as(service, ada)('POST', `/api/containers/${dbId}/restore`);
  t.equal((await restore(first)).statusCode, 200);
  await as(service, ada)('DELETE', `/api/containers/${first}`);
  runtime.volumes.clear();
  for (const one of [first, second]) t.equal((await restore(one)).json().code, 'container_not_found');
});

t.test('the list of deleted containers says how large each is and how long it is kept', async (t) => {
  const { service, ada, cycle } = await aScene();
  const first = await cycle(ada, 'first');
  const listed = async () =>
    (await as(service, ada)('GET', '/api/containers?deleted=true')).json().containers[0];
  const { deleted_at, kept_until, ...box } = await listed();
  t.match(box, { db_id: first, status: 'deleted', volume: { size_mb: 512, used_mb: null } });
  const days = (until: string) => (Date.parse(until) - Date.parse(deleted_at)) / 86_400_000;
  t.equal(days(kept_until), 8, 'the retention, and the day after it');
  await service.ports.storage.repositories.settings.change({ retentionDays: 30 });
  t.equal(days((await listed()).kept_until), 31);
  const restored = (await as(service, ada)('POST', `/api/containers/${first}/restore`)).json();
  t.notOk('kept_until' in restored || 'deleted_at' in restored, 'one that is there is not kept');
});

t.test('what a guest deletes is gone within the hour', async (t) => {
  const { service, create, cycle } = await aScene();
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const guest: Bearer = (await from(service)('/api/auth/guest', {})).json();
  for (const name of ['first', 'second']) await cycle(guest, name);
  const [{ deleted_at, kept_until }] = (
    await as(service, guest)('GET', '/api/containers?deleted=true')
  ).json().containers;
  t.equal(Date.parse(kept_until) - Date.parse(deleted_at), 50 * MINUTE_MS);
  t.equal((await create(guest, 'third')).json().code, 'kept_limit_reached');
  service.clock.advance(50 * MINUTE_MS);
  await service.collectVolumes();
  t.equal((await create(guest, 'third')).statusCode, 201);
});
