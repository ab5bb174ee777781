import { randomUUID } from 'node:crypto';
import t from 'tap';
import { fixedClock, memoryRuntime, memoryStorage } from '../../src/adapters/memory/index.ts';
import type { OperationKind } from '../../src/domain/containers/operation.ts';
import { RuntimeFailure } from '../../src/ports/containers/container-runtime.ts';
import type { KeyedRequest } from '../../src/ports/idempotency-key-store.ts';
import { idempotencyKeysContract } from '../contract/idempotency-keys.ts';
import { ownContainers, randomName } from '../support/database/stored.ts';
import { waitFor } from '../support/patience.ts';
import { losesCommits } from '../support/service/faults.ts';
import { aRequestOf } from '../support/service/operation-requests.ts';
import { aPerson, aService, as, small } from '../support/service/service.ts';

const BUSY = { error: 'a request with this idempotency key is in progress', code: 'idempotency_key_busy' };
const REUSED = { error: 'this idempotency key was used for another request', code: 'idempotency_key_reused' };

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

/** A person on the storage that all share, and requests of theirs with a key. */
const aCaller = async (options: Parameters<typeof aService>[1] = {}) => {
  const runtime = memoryRuntime();
  const lossy = losesCommits(storage);
  const service = await aService({ storage: lossy.storage, runtime }, options);
  const who = await aPerson(service, randomName());
  const call = as(service, who);
  const create = (key: string, over: object = {}) =>
    call('POST', '/api/containers', { name: 'dev', ...small, ...over }, { 'idempotency-key': key });
  const token = (key: string, over: object = {}) =>
    call('POST', '/api/tokens', { name: 'ci', ...over }, { 'idempotency-key': key });
  const count = async () => (await call('GET', '/api/containers')).json().containers.length;
  return { runtime, service, who, call, create, token, count, loseNext: lossy.loseNext };
};

t.test('a repeated create answers the same container', async (t) => {
  const { call, create, count } = await aCaller();
  const first = await create('a-1');
  t.equal(first.statusCode, 201);
  t.equal(first.headers['idempotency-replayed'], undefined);
  const again = await create('a-1');
  t.same([again.statusCode, again.json()], [201, first.json()]);
  t.equal(again.headers['idempotency-replayed'], 'true');
  t.equal(await count(), 1);
  await call('POST', `/api/containers/${first.json().db_id}/stop`);
  t.match((await create('a-1')).json(), { db_id: first.json().db_id, status: 'stopped' }, 'as it is now');
  const other = await create('a-1', { memory_mb: 512 });
  t.same([other.statusCode, other.json()], [409, REUSED]);
  t.match((await create('a-2', { name: 'second' })).json(), { name: 'second' });
  await call('DELETE', `/api/containers/${first.json().db_id}`);
  t.match((await create('a-1')).json(), { db_id: first.json().db_id }, 'nothing is made again');
  t.equal(await count(), 1);
});

t.test('a key counts for its path, whatever the query', async (t) => {
  const { call, create, count } = await aCaller();
  const first = await create('q-1');
  const key = { 'idempotency-key': 'q-1' };
  const again = await call('POST', '/api/containers?again=1', { name: 'dev', ...small }, key);
  t.same([again.statusCode, again.json()], [201, first.json()]);
  t.equal(await count(), 1);
});

t.test('of concurrent requests one is done; the others must wait', async (t) => {
  const { runtime, create, token, count } = await aCaller();
  const { create: works } = runtime;
  const others: Awaited<ReturnType<typeof create>>[] = [];
  runtime.create = async (spec) => {
    others.push(await create('k'), await create('k'));
    return await works(spec);
  };
  t.equal((await create('k')).statusCode, 201);
  t.same(
    others.map((one) => [one.statusCode, one.json()]),
    [
      [409, BUSY],
      [409, BUSY],
    ],
  );
  t.equal(await count(), 1);
  const tokens = await Promise.all([1, 2, 3].map(() => token('k')));
  t.equal(tokens.filter(({ statusCode }) => statusCode === 201).length, 1);
});

t.test('a refused or failed request can be retried', async (t) => {
  const { runtime, create, call } = await aCaller();
  const { create: works } = runtime;
  runtime.create = async () => Promise.reject(new RuntimeFailure('disk on fire'));
  t.equal((await create('k')).statusCode, 500);
  runtime.create = works;
  t.equal((await create('k')).statusCode, 201);
  t.equal((await create('taken')).json().code, 'name_taken');
  await call('DELETE', `/api/containers/${(await create('k')).json().db_id}`);
  t.equal((await create('taken')).statusCode, 201);
  t.equal((await create('bad', { memory_mb: 1 })).statusCode, 400);
  t.equal((await create('bad', { name: 'other' })).statusCode, 201);
});

t.test('another process answers a create left without an answer', async (t) => {
  let dead = false;
  const over = Promise.withResolvers<never>();
  // Requests waiting for the dead one must not outlive the test.
  t.teardown(() => over.reject(new Error('the process is gone')));
  const checkpoint = async (point: string): Promise<void> => {
    dead ||= point === 'create before start_fresh';
    if (dead) await over.promise;
  };
  const { service, runtime, who, create } = await aCaller({ checkpoint });
  void create('k');
  await waitFor(() => dead);
  change({ userId: who.id, route: 'POST /api/containers', key: 'k' }, () => ({ leaseUntilMs: 0 }));
  const next = await aService({ storage, runtime }, { replica: randomUUID() });
  const [row] = await ownContainers(storage, who.id);
  const again = await as(next, who)(
    'POST',
    '/api/containers',
    { name: 'dev', ...small },
    { 'idempotency-key': 'k' },
  );
  t.match([again.statusCode, again.json()], [202, { db_id: row?.dbId, status: 'creating' }]);
  t.equal((await ownContainers(storage, who.id)).length, 1);
  await service.http.close();
});

t.test('a create without an answer to its COMMIT is found by the next attempt', async (t) => {
  const { create, loseNext, who, count } = await aCaller();
  loseNext('begin');
  t.equal((await create('k')).statusCode, 503);
  const [row] = await ownContainers(storage, who.id);
  const again = await create('k');
  t.match([again.statusCode, again.json()], [202, { db_id: row?.dbId, status: 'creating' }]);
  t.equal((await create('k', { memory_mb: 512 })).json().code, 'idempotency_key_reused');
  t.equal(await count(), 1);
});

t.test('a repeated change is not done again', async (t) => {
  const { runtime, call, create } = await aCaller();
  const { db_id } = (await create('k')).json();
  const patch = (key: string, over: object = {}) =>
    call(
      'PATCH',
      `/api/containers/${db_id}`,
      { name: 'dev', ...small, memory_mb: 512, ...over },
      { 'idempotency-key': key },
    );
  const first = await patch('k');
  t.match(first.json(), { restarted: true });
  const again = await patch('k');
  t.same([again.statusCode, again.json()], [200, first.json()], 'also what was left behind');
  t.match([...runtime.boxes.values()], [{ spec: { generation: 2 } }]);
  t.same((await patch('k', { memory_mb: 1024 })).json(), REUSED);
  t.match((await patch('l', { memory_mb: 1024 })).json(), { restarted: true });
});

t.test('a token is shown once, even in repeats', async (t) => {
  const { call, who, token } = await aCaller();
  const first = (await token('k')).json();
  const again = await token('k');
  t.equal(again.statusCode, 409);
  t.same(again.json(), {
    error: 'already created',
    code: 'token_already_created',
    id: first.id,
    token_prefix: first.token_prefix,
  });
  t.same((await token('k', { name: 'other' })).json(), REUSED);
  t.equal((await call('GET', '/api/tokens')).json().tokens.length, 1);
  const request = { userId: who.id, route: 'POST /api/tokens', key: 'k' };
  const hash = Buffer.alloc(32);
  const { idempotencyKeys } = storage.repositories;
  t.same(await idempotencyKeys.begin(request, hash, randomUUID(), 1), { kind: 'other_body' });
  t.equal((await token('bad', { scopes: ['all'] })).statusCode, 400);
  t.equal((await token('bad')).statusCode, 201);
});

t.test('a key belongs to its user, and must be valid', async (t) => {
  const [ada, eve] = [await aCaller(), await aCaller()];
  const [hers, his] = [await ada.create('same'), await eve.create('same')];
  t.same([hers.statusCode, his.statusCode], [201, 201]);
  t.not(hers.json().db_id, his.json().db_id);
  for (const bad of ['', 'a b', 'ü', 'x'.repeat(256)]) {
    const answer = await ada.create(bad);
    t.match([answer.statusCode, answer.json().fields], [400, { 'Idempotency-Key': /printable/ }], bad);
  }
  t.equal((await ada.create('x'.repeat(255), { name: 'long' })).statusCode, 201);
});

const AFTER: { readonly [K in OperationKind]: { readonly row: object | null; readonly running: number } } = {
  create: { row: { status: 'running' }, running: 1 },
  start: { row: { status: 'running' }, running: 1 },
  stop: { row: { status: 'stopped' }, running: 0 },
  update: { row: { status: 'running', resources: { memory_mb: 512 } }, running: 1 },
  delete: { row: null, running: 0 },
  restore: { row: { status: 'stopped' }, running: 0 },
  snapshot: { row: { status: 'running' }, running: 1 },
  transfer: { row: { status: 'stopped', owner: { username: 'bob' } }, running: 0 },
};

for (const kind of Object.keys(AFTER) as OperationKind[]) {
  t.test(`${kind}: a commit stays, though its answer was lost`, async (t) => {
    const clock = fixedClock();
    const runtime = memoryRuntime();
    const { storage, loseNext, isLost } = losesCommits(memoryStorage(clock));
    const service = await aService({ runtime, storage, clock });
    const { bob, call, request } = await aRequestOf(service, kind);
    loseNext('record', 'finish');
    const answer = await request();
    t.ok(isLost());
    // What has become of a snapshot shows in its own row.
    t.equal(answer.statusCode, kind === 'snapshot' ? 201 : 202, answer.body);
    await service.operations.takeOver();
    await service.operations.idle();
    await service.reconcile();
    const owner = kind === 'transfer' ? as(service, bob) : call;
    const [row = null] = (await owner('GET', '/api/containers')).json().containers;
    const { row: wanted, running } = AFTER[kind];
    if (wanted === null) t.equal(row, null);
    else t.match(row, { ...wanted, status_reason: null });
    const boxes = [...runtime.boxes.values()];
    t.equal(boxes.length, wanted === null ? 0 : 1, 'one container for one volume');
    t.equal(boxes.filter(({ startedAt }) => startedAt !== null).length, running);
  });
}
