import t from 'tap';
import { fixedClock, memoryPorts, memoryStorage } from '../../../src/adapters/memory/index.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { anAdmin, aPerson, aService, as, outcome, small, stateOf } from '../../support/service/service.ts';

/** Ada's container, which an administrator gives to Bob between the check of a request and its first transaction. */
async function aScene() {
  const clock = fixedClock();
  const memory = memoryStorage(clock);
  const { containers } = memory.repositories;
  let give: (() => Promise<unknown>) | null = null;
  const storage: Storage = {
    ...memory,
    async inTransaction(work) {
      const first = give;
      give = null;
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
  const giveAwayDuring = async (request: () => ReturnType<typeof call>) => {
    give = () => containers.transfer(dbId, ada.id, bob.id, 'dev');
    return await request();
  };
  return { service, call, dbId, bob, giveAwayDuring };
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
