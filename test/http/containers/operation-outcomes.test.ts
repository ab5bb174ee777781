import t from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { aPerson, aService, as, auditOf, stateOf } from '../../support/service/service.ts';

t.test('an outcome is announced with the name that the container has by then', async (t) => {
  const runtime = memoryRuntime();
  const service = await aService({ runtime });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const { db_id: dbId } = (await call('POST', '/api/containers', { name: 'dev' })).json();
  const { containers } = service.ports.storage.repositories;
  const { stop } = runtime;
  runtime.stop = async (...given) => {
    const renamed = { state: 'stopping', name: 'renamed' } as const;
    await containers.changeState(dbId, ['stopping'], renamed);
    return await stop(...given);
  };
  const stopped = await call('POST', `/api/containers/${dbId}/stop`);
  t.equal(stopped.statusCode, 200);
  const events = stateOf(service).events.filter(({ type }) => type === 'container_stopped');
  t.match(events, [{ data: { name: 'renamed', status: 'stopped' } }]);
  t.equal(events.length, 1);
  t.equal(auditOf(service, 'container_stopped').length, 1);
});
