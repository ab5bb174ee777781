import t from 'tap';
import { fixedClock, memoryRuntime, memoryStorage } from '../../src/adapters/memory/index.ts';
import type { OperationKind } from '../../src/domain/containers/operation.ts';
import type { KeyedRequest } from '../../src/ports/idempotency-key-store.ts';
import { idempotencyKeysContract } from '../contract/idempotency-keys.ts';
import { idempotentRequests } from '../contract/idempotent-requests.ts';
import { losesCommits } from '../support/service/faults.ts';
import { aPerson, aService, as } from '../support/service/service.ts';

const storage = memoryStorage(fixedClock());
type Entry = (typeof storage.state.idempotencyKeys)[number];

const change = (request: KeyedRequest, to: (entry: Entry) => Partial<Entry>): void => {
  storage.state.idempotencyKeys = storage.state.idempotencyKeys.map((one) =>
    one.userId === request.userId && one.route === request.route && one.key === request.key
      ? { ...one, ...to(one) }
      : one,
  );
};

await idempotencyKeysContract('memory', storage, async (request, hours) =>
  change(request, ({ createdAtMs }) => ({ createdAtMs: createdAtMs - hours * 3_600_000 })),
);
await idempotentRequests('memory', storage, async (request) => change(request, () => ({ leaseUntilMs: 0 })));

const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };

const AFTER: { readonly [K in OperationKind]: { readonly row: object | null; readonly running: number } } = {
  create: { row: { status: 'running' }, running: 1 },
  start: { row: { status: 'running' }, running: 1 },
  stop: { row: { status: 'stopped' }, running: 0 },
  update: { row: { status: 'running', resources: { memory_mb: 512 } }, running: 1 },
  delete: { row: null, running: 0 },
  restore: { row: { status: 'stopped' }, running: 0 },
};

for (const kind of Object.keys(AFTER) as OperationKind[]) {
  t.test(`${kind}: what was committed stays so, though the answer to the COMMIT was lost`, async (t) => {
    const clock = fixedClock();
    const runtime = memoryRuntime();
    const { storage, loseNext, isLost } = losesCommits(memoryStorage(clock));
    const service = await aService({ runtime, storage, clock });
    const call = as(service, await aPerson(service, 'ada'));
    const create = () => call('POST', '/api/containers', { name: 'dev', ...small });
    const path = kind === 'create' ? '' : `/api/containers/${(await create()).json().db_id}`;
    if (kind === 'start') await call('POST', `${path}/stop`);
    if (kind === 'restore') await call('DELETE', path);
    const request = {
      create,
      start: () => call('POST', `${path}/start`),
      stop: () => call('POST', `${path}/stop`),
      update: () => call('PATCH', path, { name: 'dev', ...small, memory_mb: 512 }),
      delete: () => call('DELETE', path),
      restore: () => call('POST', `${path}/restore`),
    }[kind];
    loseNext('record', 'finish');
    const answer = await request();
    t.ok(isLost());
    t.equal(answer.statusCode, 202, answer.body);
    await service.operations.takeOver();
    await service.operations.idle();
    await service.reconcile();
    const [row = null] = (await call('GET', '/api/containers')).json().containers;
    const { row: wanted, running } = AFTER[kind];
    if (wanted === null) t.equal(row, null);
    else t.match(row, { ...wanted, status_reason: null });
    const boxes = [...runtime.boxes.values()];
    t.equal(boxes.length, wanted === null ? 0 : 1, 'one container for one volume');
    t.equal(boxes.filter(({ startedAt }) => startedAt !== null).length, running);
  });
}
