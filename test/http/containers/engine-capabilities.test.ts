import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { MemoryRuntime } from '../../../src/adapters/memory/containers/container-runtime.ts';
import { NotOffered, nodeSilent } from '../../../src/ports/containers/container-runtime.ts';
import { aPerson, aService, as, outcome, small } from '../../support/service/service.ts';

/** Ada's running container on an engine that only runs containers. */
async function aScene() {
  const service = await aService();
  const runtime = service.ports.runtime as MemoryRuntime;
  const capabilities = { keepsLayer: false, takesSnapshots: false, measuresDisk: false, hasRoot: false };
  Object.assign(runtime, { capabilities });
  const call = as(service, await aPerson(service, 'ada'));
  const create = (body: object) => call('POST', '/api/containers', { name: 'dev', ...small, ...body });
  const box = (await create({})).json();
  return { service, runtime, call, create, box, url: `/api/containers/${box.db_id}` };
}

t.test('clients learn what the engine does', async (t) => {
  const { call } = await aScene();
  t.same((await call('GET', '/api/engine')).json(), {
    keeps_layer: false,
    takes_snapshots: false,
    measures_disk: false,
    has_root: false,
  });
  const usual = await aService();
  const everything = { keeps_layer: true, takes_snapshots: true, measures_disk: true, has_root: true };
  const ada = as(usual, await aPerson(usual, 'ada'));
  t.same((await ada('GET', '/api/engine')).json(), everything);
});

t.test('snapshots and forks are refused, and change nothing', async (t) => {
  const { call, create, url, runtime } = await aScene();
  for (const what of ['snapshots', 'forks']) {
    const answer = await call('POST', `${url}/${what}`, what === 'forks' ? { count: 1 } : { name: 'base' });
    t.equal(answer.statusCode, 409);
    t.match(answer.json(), { code: 'not_offered_by_engine' });
  }
  const made = await create({ name: 'two', snapshot_id: randomUUID() });
  t.match(made.json(), { code: 'validation_failed', fields: { snapshot_id: /the engine has no snapshots/ } });
  t.same((await call('GET', '/api/snapshots')).json().snapshots, []);
  t.equal(runtime.boxes.size, 1);
});

t.test('new limits take effect without what was outside the volume, which nobody measured', async (t) => {
  const { call, url, service } = await aScene();
  Object.assign(service.ports.insight, {
    changes: async () => {
      throw new NotOffered('engine', 'unknown here');
    },
  });
  const change = { name: 'dev', ...small, memory_mb: 512 };
  const kept = await call('PATCH', url, { ...change, carry_over: true });
  t.equal(kept.statusCode, 400);
  t.match(kept.json().fields, { carry_over: /the engine keeps nothing outside/ });
  t.match((await call('PATCH', url, change)).json(), {
    restarted: true,
    left_behind: null,
    container: { resources: { memory_mb: 512 } },
  });
  t.match((await call('GET', `${url}/changes`)).json(), { code: 'not_offered_by_engine' });
});

t.test('a role that installs something is refused where programs are not root', async (t) => {
  const { create } = await aScene();
  const refused = await create({ name: 'web', role: 'node' });
  t.equal(refused.statusCode, 400);
  t.match(refused.json().fields, { role: /needs root/ });
  t.equal((await create({ name: 'web', role: 'standard' })).statusCode, 201);
});

t.test('tools of a role that came from elsewhere are not tried without root', async (t) => {
  const service = await aService();
  const runtime = service.ports.runtime as MemoryRuntime;
  const call = as(service, await aPerson(service, 'ada'));
  const { db_id } = (await call('POST', '/api/containers', { name: 'dev', role: 'node', ...small })).json();
  await service.roleSetups.idle();
  let installs = 0;
  Object.assign(runtime, { capabilities: { ...runtime.capabilities, hasRoot: false } });
  Object.assign(service.ports.installer, {
    install: async () => {
      installs += 1;
      throw new Error('not to be asked');
    },
  });
  const url = `/api/containers/${db_id}`;
  t.match(outcome(await call('POST', `${url}/role-setup/retry`)), [409, 'not_offered_by_engine']);
  await call('PATCH', url, { name: 'dev', ...small, memory_mb: 512 });
  await service.roleSetups.idle();
  t.match((await call('GET', url)).json().role_setup, { status: 'failed', detail: /needs root/ });
  t.equal(installs, 0);
});

t.test('a new container is made while a silent node might have any unknown volume', async (t) => {
  const { runtime, create } = await aScene();
  const { volumeFacts } = runtime;
  runtime.volumeFacts = async (...asked) => {
    const facts = await volumeFacts(...asked);
    if (facts === null) throw nodeSilent(new Error('the node n2 does not answer'));
    return facts;
  };
  const made = await create({ name: 'two' });
  t.match([made.statusCode, made.json()], [201, { status: 'running' }]);
});
