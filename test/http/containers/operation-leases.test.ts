import t from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { LEASE_SECONDS } from '../../../src/app/containers/operations/operation-deps.ts';
import { RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import { aRequestOf } from '../../support/service/operation-requests.ts';
import { aService } from '../../support/service/service.ts';

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
