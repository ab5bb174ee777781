import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { LEASE_SECONDS } from '../../../src/app/containers/operations/operation-deps.ts';
import { RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import { waitFor } from '../../support/patience.ts';
import { aRequestOf } from '../../support/service/operation-requests.ts';
import { aPerson, aService, as, small } from '../../support/service/service.ts';

t.test('a lease whose release failed is kept while its operation is worked on again', async (t) => {
  const runtime = memoryRuntime();
  const service = await aService({ runtime });
  const { call, request } = await aRequestOf(service, 'stop');
  const { operations } = service.ports.storage.repositories;
  const { release } = operations;
  const { stop, observe } = runtime;
  const fault = async (): Promise<never> => {
    throw new RuntimeFailure('unexpected end of JSON input');
  };
  Object.assign(operations, { release: fault });
  Object.assign(runtime, {
    stop: async (...asked: Parameters<typeof stop>) => {
      Object.assign(runtime, { observe: fault });
      await stop(...asked);
      return await fault();
    },
  });
  t.equal((await request()).statusCode, 202, 'nobody knows its end');
  Object.assign(operations, { release });
  const [isAtWork, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  Object.assign(runtime, {
    stop,
    observe: async (...asked: Parameters<typeof observe>) => {
      isAtWork.resolve();
      await mayGoOn.promise;
      return await observe(...asked);
    },
  });
  service.clock.advance(LEASE_SECONDS * 1000);
  await service.operations.takeOver();
  await isAtWork.promise;
  await service.operations.renew();
  t.same(await operations.takeOver('another', LEASE_SECONDS, false), [], 'no other process may take it');
  mayGoOn.resolve();
  await service.operations.idle();
  t.match((await call('GET', '/api/containers')).json().containers, [{ status: 'stopped' }]);
});

/** Stops of Ada's containers, whose steps fail until `work` is set, with nothing recorded. */
async function someStops(names: readonly string[]) {
  const steps = { work: async (): Promise<void> => await Promise.reject(new Error('a fault')) };
  let isStopping = false;
  const checkpoint = async (): Promise<void> => {
    if (isStopping) await steps.work();
  };
  const service = await aService({}, { checkpoint });
  const call = as(service, await aPerson(service, 'ada'));
  const boxes = await Promise.all(
    names.map(async (name) => (await call('POST', '/api/containers', { name, ...small })).json()),
  );
  isStopping = true;
  const stops = boxes.map(
    ({ db_id }) =>
      () =>
        call('POST', `/api/containers/${db_id}/stop`),
  );
  const { operations } = service.ports.storage.repositories;
  return { service, operations, steps, stops, dbIds: boxes.map(({ db_id }): string => db_id) };
}

t.test('no answer waits for the release of another operation', async (t) => {
  const { operations, stops } = await someStops(['one', 'two']);
  const { release } = operations;
  const { promise: databaseAnswers, resolve } = Promise.withResolvers<void>();
  const asked: string[] = [];
  operations.release = async (id, ...rest) => {
    asked.push(id);
    await databaseAnswers;
    await release(id, ...rest);
  };
  const answers = stops.map((stop) => stop());
  await waitFor(() => asked.length === 2, { what: 'both releases' });
  resolve();
  await Promise.all(answers);
  t.equal(new Set(asked).size, 2);
});

t.test('a lease that was taken again during the work is released after it', async (t) => {
  const { service, operations, steps, stops } = await someStops(['one']);
  const [isAtWork, mayFail] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  steps.work = async () => {
    isAtWork.resolve();
    await mayFail.promise;
    throw new Error('a fault');
  };
  const answer = stops[0]?.();
  await isAtWork.promise;
  service.clock.advance(LEASE_SECONDS * 1000);
  await service.operations.takeOver();
  t.same(await operations.takeOver('another', LEASE_SECONDS, false), [], 'this process has it again');
  mayFail.resolve();
  await answer;
  t.match(await operations.takeOver('another', LEASE_SECONDS, false), [{ leaseOwner: 'another' }]);
});

t.test('nobody works on an operation whose lease is just released', async (t) => {
  const { service, operations, steps, stops, dbIds } = await someStops(['one']);
  const [dbId = ''] = dbIds;
  const { release } = operations;
  operations.release = async () => await Promise.reject(new Error('no answer'));
  await stops[0]?.();
  service.clock.advance(LEASE_SECONDS * 1000);
  await service.operations.takeOver();
  await service.operations.idle();
  const { promise: databaseAnswers, resolve } = Promise.withResolvers<void>();
  operations.release = async (...asked) => {
    await databaseAnswers;
    await release(...asked);
  };
  const renewing = service.operations.renew();
  let worked = 0;
  steps.work = async () => {
    worked += 1;
  };
  const settled = service.operations.settle(dbId);
  for (let n = 0; n < 20; n += 1) await immediate();
  resolve();
  await renewing;
  t.equal(worked, 0);
  await service.operations.takeOver();
  t.match(await settled, { dbId });
  t.ok(worked > 0, 'the one that has its next lease does');
});
