import t from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import type { OperationKind } from '../../../src/domain/containers/operation.ts';
import { EngineFull, RuntimeBusy, RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import { inMemory } from '../../support/service/cluster.ts';
import { failsOnce } from '../../support/service/faults.ts';
import { aRequestOf } from '../../support/service/operation-requests.ts';
import { aPerson, aService, as, outcome, small, stateOf } from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

type Change = 'create' | 'start' | 'stop' | 'resize' | 'remove';

/** A runtime that gives malformed answers about its containers while `confused`, but still works. */
function confusedRuntime() {
  const runtime = memoryRuntime();
  const { observe, find } = runtime;
  let confused = false;
  const orNonsense =
    <A extends unknown[], R>(works: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (confused) throw new RuntimeFailure('unexpected end of JSON input');
      return await works(...args);
    };
  Object.assign(runtime, { observe: orNonsense(observe), find: orNonsense(find) });
  return {
    runtime,
    confuse: (): void => {
      confused = true;
    },
    restore: (): void => {
      confused = false;
    },
    /** The next call of that kind is executed, and later answers are malformed. */
    confuseAfter(change: Change, answerIsLost: boolean): void {
      const works = runtime[change] as (...args: unknown[]) => Promise<unknown>;
      const last = async (...args: unknown[]): Promise<unknown> => {
        Object.assign(runtime, { [change]: works });
        confused = true;
        const answer = await works(...args);
        if (answerIsLost) throw new RuntimeFailure('unexpected end of JSON input');
        return answer;
      };
      Object.assign(runtime, { [change]: last });
    },
  };
}

async function aScene(kind: OperationKind) {
  const engine = confusedRuntime();
  const service = await aService({ runtime: engine.runtime });
  const { root, call, request } = await aRequestOf(service, kind);
  const rows = async () => (await call('GET', '/api/containers')).json().containers;
  /** The engine answers normally again, and operations have been continued. */
  const settle = async (): Promise<void> => {
    engine.restore();
    await service.operations.renew();
    await service.reconcile();
    await service.operations.idle();
  };
  const { storage } = service.ports;
  return { ...engine, service, storage, root, request, rows, settle };
}

const BEFORE: { readonly [K in OperationKind]: readonly string[] } = {
  create: [],
  start: ['stopped'],
  stop: ['running'],
  update: ['running'],
  delete: ['running'],
  restore: [],
  snapshot: ['running'],
  transfer: ['running'],
};

const failed = (kind: OperationKind): string =>
  kind === 'snapshot' ? 'failed to take snapshot' : `failed to ${kind} container`;

const KINDS = Object.keys(BEFORE) as OperationKind[];

const states = (rows: readonly { status: string }[]): string[] => rows.map(({ status }) => status);

for (const kind of KINDS) {
  t.test(`${kind}: a request answered with a failure has no later effect`, async (t) => {
    const { runtime, storage, confuse, request, rows, settle } = await aScene(kind);
    const before = await rows();
    const boxes = [...runtime.boxes.keys()];
    confuse();
    const answer = await request();
    t.same([answer.statusCode, answer.json().error], [500, failed(kind)]);
    t.same([...(await storage.repositories.operations.busy())], [], 'nothing is left to go on with');
    t.same(states(await rows()), BEFORE[kind], 'the row does not wait for the engine');
    await settle();
    t.same(states(await rows()), BEFORE[kind]);
    t.match(
      await rows(),
      before.map(({ id, resources }: { id: string; resources: object }) => ({ id, resources })),
    );
    t.same([...runtime.boxes.keys()], boxes);
  });
}

t.test('an answer to an administrator has nothing that a program inside has written', async (t) => {
  const { service, root, rows, confuseAfter, settle } = await aScene('stop');
  const state = stateOf(service);
  for (const row of state.containers)
    Object.assign(row, { roleSetup: { status: 'ready', id: null, detail: 'from inside' } });
  const [{ db_id }] = await rows();
  confuseAfter('stop', true);
  const answer = await as(service, root)('POST', `/api/admin/containers/${db_id}/stop`);
  t.match([answer.statusCode, answer.json().role_setup], [202, { status: 'ready', detail: null }]);
  await settle();
});

/**
 * The engine step after which answers are malformed, whether its own answer is lost too, the row's state meanwhile
 * (null after a failure), and the end.
 */
const WORK: readonly {
  readonly kind: OperationKind;
  readonly change: Change;
  readonly lost?: true;
  readonly during: string | null;
  readonly ends: readonly string[];
}[] = [
  { kind: 'create', change: 'create', during: 'creating', ends: ['running'] },
  { kind: 'create', change: 'create', lost: true, during: null, ends: [] },
  { kind: 'start', change: 'start', during: 'starting', ends: ['running'] },
  { kind: 'start', change: 'start', lost: true, during: 'starting', ends: ['running'] },
  { kind: 'stop', change: 'stop', lost: true, during: 'stopping', ends: ['stopped'] },
  { kind: 'update', change: 'create', during: 'updating', ends: ['running'] },
  { kind: 'update', change: 'create', lost: true, during: null, ends: ['running'] },
  { kind: 'update', change: 'start', during: 'updating', ends: ['running'] },
  { kind: 'delete', change: 'remove', lost: true, during: 'stopping', ends: [] },
  { kind: 'restore', change: 'create', lost: true, during: null, ends: [] },
  { kind: 'transfer', change: 'stop', lost: true, during: null, ends: ['running'] },
];

for (const { kind, change, lost = false, during, ends } of WORK) {
  const what = `${kind}, of which nothing is heard after its ${change}${lost ? ', nor the answer to that' : ''}`;
  t.test(`${what}, is ${during === null ? 'undone' : 'answered as continuing, and done'}`, async (t) => {
    const { runtime, confuseAfter, request, rows, settle } = await aScene(kind);
    const boxes = [...runtime.boxes.keys()];
    confuseAfter(change, lost);
    const answer = await request();
    if (during === null) {
      t.same([answer.statusCode, answer.json().error], [500, `failed to ${kind} container`]);
    } else {
      t.match([answer.statusCode, answer.json()], [202, { name: 'dev', status: during }]);
      if (kind !== 'create') t.equal(answer.json().message, 'still working on it');
      t.same(states(await rows()), [during]);
    }
    await settle();
    t.same(states(await rows()), ends);
    if (during === null) t.same([...runtime.boxes.keys()], boxes);
    else t.equal(runtime.boxes.size, ends.length, 'one container for each row');
    if (kind === 'update') t.match(await rows(), [{ resources: { memory_mb: during ? 512 : 256 } }]);
  });
}

/** The engine's own answer shows the end. */
const SHOWN = [
  { kind: 'stop', change: 'stop', ends: ['stopped'] },
  { kind: 'delete', change: 'remove', ends: [] },
  { kind: 'restore', change: 'create', ends: ['stopped'] },
  { kind: 'transfer', change: 'stop', ends: [] },
] as const;

for (const { kind, change, ends } of SHOWN) {
  t.test(`${kind}, of which nothing is heard after its ${change}, is done`, async (t) => {
    const { confuseAfter, request, rows } = await aScene(kind);
    confuseAfter(change, false);
    t.equal((await request()).statusCode, 200);
    t.same(states(await rows()), ends);
  });
}

t.test('an update with only its old container left to remove is done', async (t) => {
  const { runtime, request, rows, settle } = await aScene('update');
  failsOnce(runtime, 'remove');
  const answer = await request();
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), {
    restarted: true,
    container: { status: 'running', resources: { memory_mb: 512 } },
  });
  await settle();
  t.equal(runtime.boxes.size, 1);
  t.match(await rows(), [{ id: [...runtime.boxes.keys()][0], resources: { memory_mb: 512 } }]);
});

t.test('callers that join a continuing operation get the same answer', async (t) => {
  const { confuseAfter, request, rows, settle } = await aScene('delete');
  confuseAfter('remove', true);
  const answers = await Promise.all([request(), request()]);
  t.same(valuesOf(answers, 'statusCode'), [202, 202]);
  await settle();
  t.same(await rows(), []);
});

for (const [fault, status, code] of [
  [null, 200, undefined],
  [new RuntimeFailure('it could not be stopped'), 500, 'internal_error'],
  [new RuntimeBusy('container_unresponsive', 5), 503, 'container_unresponsive'],
  [new EngineFull('no room'), 503, 'engine_full'],
] as const) {
  t.test(`a request that joined one of another process gets the same answer: ${fault?.name}`, async (t) => {
    const runtime = memoryRuntime();
    const { bus, ...shared } = inMemory();
    const replica = () => aService({ ...shared, runtime, bus: bus() });
    const [here, there] = [await replica(), await replica()];
    const ada = await aPerson(here, 'ada');
    const { db_id } = (await as(here, ada)('POST', '/api/containers', { name: 'dev', ...small })).json();
    const stop = (service: typeof here) => as(service, ada)('POST', `/api/containers/${db_id}/stop`);
    const [isStopping, isJoined] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { stop: works } = runtime;
    runtime.stop = async (handle, grace) => {
      isStopping.resolve();
      await isJoined.promise;
      if (fault !== null) throw fault;
      return await works(handle, grace);
    };
    const first = stop(here);
    await isStopping.promise;
    const { operations } = shared.storage.repositories;
    const { find } = operations;
    operations.find = async (id) => {
      isJoined.resolve();
      return await find(id);
    };
    const answers = [await stop(there), await first];
    for (const answer of answers) t.same(outcome(answer), [status, code]);
    t.equal(answers[0]?.headers['retry-after'], answers[1]?.headers['retry-after']);
  });
}

t.test('a failed delete closes no terminal, and says why', async (t) => {
  const { runtime, service, request, rows } = await aScene('delete');
  failsOnce(runtime, 'remove');
  t.equal((await request()).statusCode, 500);
  t.match(await rows(), [{ status: 'running', status_reason: 'the engine could not remove it' }]);
  const { events } = stateOf(service);
  t.match(events.at(-1), {
    type: 'container_progress',
    data: { status: 'running', reason: 'the engine could not remove it' },
  });
});
