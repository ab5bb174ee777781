import t from 'tap';
import { fixedClock, memoryPorts, memoryStorage } from '../../../src/adapters/memory/index.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { anAdmin, aPerson, aService, as, outcome, small, stateOf } from '../../support/service/service.ts';

/**
 * Ada's container, and what happens between the check of a request and its first transaction: an administrator gives it
 * to Bob, or the work of `during`.
 */
async function aScene() {
  const clock = fixedClock();
  const memory = memoryStorage(clock);
  const { containers } = memory.repositories;
  let meanwhile: (() => Promise<unknown>) | null = null;
  const storage: Storage = {
    ...memory,
    async inTransaction(work) {
      const first = meanwhile;
      meanwhile = null;
      await first?.();
      return await memory.inTransaction(work);
    },
  };
  const monotonicMs = (): number => clock.now().getTime();
  const service = await aService({ ...memoryPorts(clock), storage, monotonicMs });
  const root = as(service, await anAdmin(service));
  await root('POST', '/api/admin/roles', { key: 'test', label: 'Test', script: 'exit 1' });
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const call = as(service, ada);
  const made = await call('POST', '/api/containers', { name: 'dev', role: 'test', ...small });
  const dbId: string = made.json().db_id;
  await service.roleSetups.idle();
  const during = async (request: () => ReturnType<typeof call>, work: () => Promise<unknown>) => {
    meanwhile = work;
    return await request();
  };
  const giveAwayDuring = (request: () => ReturnType<typeof call>) =>
    during(request, () => containers.transfer(dbId, ada.id, bob.id, 'dev'));
  return { service, call, dbId, bob, during, giveAwayDuring };
}

const CHANGES = [
  ['PATCH', 'lifetime', { idle_seconds: 600 }],
  ['POST', 'role-setup/retry', undefined],
  ['POST', 'processes', { command: ['sleep', '60'] }],
  ['POST', 'collaborations', { mode: 'view' }],
] as const;

for (const [method, path, body] of CHANGES)
  t.test(`${method} ${path} changes nothing of a container that is given away meanwhile`, async (t) => {
    const { service, call, dbId, bob, giveAwayDuring } = await aScene();
    const before = stateOf(service).audit.length;
    const { lifetime, roleSetup } = (await service.ports.storage.repositories.containers.findAny(dbId)) ?? {};
    const answer = await giveAwayDuring(() => call(method, `/api/containers/${dbId}/${path}`, body));
    t.same(outcome(answer), [404, 'container_not_found']);
    t.match(await service.ports.storage.repositories.containers.findAny(dbId), {
      ownerId: bob.id,
      lifetime,
      roleSetup,
    });
    t.equal(stateOf(service).audit.length, before, 'nothing is on record');
    t.same(await service.ports.storage.repositories.processes.list(dbId), []);
  });

t.test('a process starts in the container that was made meanwhile', async (t) => {
  const { call, dbId, service, during } = await aScene();
  const { containers, processes } = service.ports.storage.repositories;
  const url = `/api/containers/${dbId}`;
  const answer = await during(
    () => call('POST', `${url}/processes`, { command: ['sleep', '60'] }),
    () => call('PATCH', url, { name: 'dev', ...small, disk_mb: 1024 }),
  );
  t.match([answer.statusCode, answer.json().status], [201, 'running']);
  const { runtimeId } = (await containers.findAny(dbId)) ?? {};
  t.match(await processes.list(dbId), [{ runtimeId }]);
});
