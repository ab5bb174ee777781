import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { KeyedRequest } from '../../src/ports/idempotency-key-store.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { hashOf, storedUser } from '../support/database/stored.ts';

/** Ages the request's first attempt by this many hours. */
export type AgeKey = (request: KeyedRequest, hours: number) => Promise<void>;

const answer = { status: 201, body: { name: 'dev', deep: { list: [1, null] } } };

/** Guarantees of stored idempotency keys. */
export async function idempotencyKeysContract(name: string, storage: Storage, age: AgeKey): Promise<void> {
  const { idempotencyKeys: keys } = storage.repositories;
  const aRequest = async (): Promise<KeyedRequest> => ({
    userId: (await storedUser(storage)).id,
    route: 'POST /api/containers',
    key: randomUUID(),
  });
  const begin = async (request: KeyedRequest, body = 'a', leaseSeconds = 60) => {
    const holder = randomUUID();
    return { holder, begun: await keys.begin(request, hashOf(body), holder, leaseSeconds) };
  };

  await t.test(`${name}: a key is processed once, and its answer stored`, async (t) => {
    const request = await aRequest();
    const { holder, begun } = await begin(request);
    t.same(begun, { kind: 'begun', subject: null });
    t.same((await begin(request)).begun, { kind: 'busy' });
    t.same((await begin(request, 'b')).begun, { kind: 'other_body' });
    t.ok(await keys.link(holder, 'made'));
    t.ok(await keys.finish(holder, answer));
    t.same((await begin(request)).begun, { kind: 'done', subject: 'made', answer });
    t.same((await begin(request, 'b')).begun, { kind: 'other_body' });
    t.notOk(await keys.finish(holder, { status: 200, body: {} }), 'what is done stays so');
    t.notOk(await keys.link(holder, 'other'));
    await keys.forget(holder);
    t.match((await begin(request)).begun, { kind: 'done' });
  });

  await t.test(`${name}: users, routes and keys are separate`, async (t) => {
    const request = await aRequest();
    const other = await aRequest();
    for (const one of [
      request,
      { ...request, userId: other.userId },
      { ...request, route: 'POST /api/tokens' },
      { ...request, key: request.key.toUpperCase() },
    ]) {
      t.match((await begin(one)).begun, { kind: 'begun' });
    }
  });

  await t.test(`${name}: of concurrent attempts one begins`, async (t) => {
    const request = await aRequest();
    const all = await Promise.all(Array.from({ length: 6 }, () => begin(request)));
    t.same(all.map(({ begun }) => begun.kind).sort(), ['begun', 'busy', 'busy', 'busy', 'busy', 'busy']);
  });

  await t.test(`${name}: a forgotten key begins again`, async (t) => {
    const request = await aRequest();
    const { holder } = await begin(request);
    await keys.forget(holder);
    t.match((await begin(request, 'b')).begun, { kind: 'begun' });
  });

  await t.test(`${name}: a failed attempt that made something keeps it for the next`, async (t) => {
    const request = await aRequest();
    const { holder } = await begin(request);
    await keys.link(holder, 'made');
    await keys.forget(holder);
    t.same((await begin(request, 'b')).begun, { kind: 'other_body' });
    const next = await begin(request);
    t.same(next.begun, { kind: 'begun', subject: 'made' });
    await keys.forget(holder);
    t.same((await begin(request)).begun, { kind: 'busy' }, 'the earlier holder ends no lease of another');
    t.ok(await keys.link(next.holder, 'second'), 'when it is gone another one is made');
  });

  await t.test(`${name}: an expired attempt is taken over by one, with what it made`, async (t) => {
    const request = await aRequest();
    const dead = await begin(request, 'a', 0);
    await keys.link(dead.holder, 'made');
    t.same((await begin(request, 'b')).begun, { kind: 'other_body' });
    const all = await Promise.all([1, 2, 3].map(() => begin(request)));
    const taken = all.filter(({ begun }) => begun.kind === 'begun');
    t.match(taken, [{ begun: { subject: 'made' } }]);
    t.equal(taken.length, 1);
    t.notOk(await keys.link(dead.holder, 'late'), 'the old one is out');
    t.notOk(await keys.finish(dead.holder, answer));
    await keys.forget(dead.holder);
    t.same((await begin(request)).begun, { kind: 'busy' });
  });

  await t.test(`${name}: a renewed lease is not taken over`, async (t) => {
    const request = await aRequest();
    const { holder } = await begin(request, 'a', 0);
    await keys.renew(holder, 60);
    t.same((await begin(request)).begun, { kind: 'busy' });
  });

  await t.test(`${name}: a key lasts a day`, async (t) => {
    const request = await aRequest();
    const { holder } = await begin(request);
    await keys.finish(holder, answer);
    await age(request, 23.9);
    t.match((await begin(request)).begun, { kind: 'done' });
    await age(request, 0.2);
    t.same((await begin(request, 'b')).begun, { kind: 'begun', subject: null });
  });
}
