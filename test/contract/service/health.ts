import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Component } from '../../../src/domain/service/health-words.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { valuesOf } from '../../support/values.ts';

/**
 * Guarantees of the recorded health. Needs a storage without any outage, and leaves ended ones. `pass` ages the reports.
 */
export async function healthRepositoryContract(
  name: string,
  storage: Storage,
  pass: (seconds: number) => Promise<unknown>,
): Promise<void> {
  const { health } = storage.repositories;
  const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute));
  const outage = (component: Component, from: number, to: number | null) =>
    health.insert({
      component,
      state: 'down',
      reason: 'unreachable',
      detail: 'no answer',
      from: at(from),
      to: to === null ? null : at(to),
    });

  await t.test(`${name}: an outage is read as written, and ends`, async (t) => {
    const ended = await outage('engine', 1, 2);
    const lasts = await outage('engine', 3, null);
    const other = await outage('disk', 2, 4);
    t.match(lasts, { component: 'engine', state: 'down', reason: 'unreachable', detail: 'no answer' });
    t.same(new Set(await health.latest()), new Set([lasts, other]), 'the latest of each component');
    await health.end(lasts.id, at(5));
    await health.end(lasts.id, at(4));
    await health.end(ended.id, at(0));
    const all = await health.page(null, { after: null, limit: 9 });
    t.same(
      all.items.map(({ component, to }) => [component, to]),
      [
        ['engine', at(5)],
        ['disk', at(4)],
        ['engine', at(2)],
      ],
      'newest first, and an end never comes earlier',
    );
    const first = await health.page('engine', { after: null, limit: 1 });
    t.same(valuesOf(first.items, 'id'), [lasts.id]);
    const second = await health.page('engine', { after: first.next, limit: 1 });
    t.same(valuesOf(second.items, 'id'), [ended.id]);
    t.equal(second.next, null);
  });

  await t.test(`${name}: a report replaces the one before, and notes the end`, async (t) => {
    const [replica, startedAt] = [randomUUID(), at(0)];
    const part = { component: 'disk', state: 'ready', mend: null } as const;
    await health.report({ replica, startedAt, parts: [] });
    await health.report({ replica, startedAt, parts: [part] });
    const mine = async () => {
      const { now, reports } = await health.reports();
      const found = reports.filter((one) => one.replica === replica);
      return { now, found, report: found[0] };
    };
    const { now, found, report } = await mine();
    t.equal(found.length, 1);
    t.match(report, { startedAt, parts: [part], stoppedAt: null });
    t.ok(Math.abs(now.getTime() - (report?.seenAt.getTime() ?? 0)) < 60_000, 'by the same clock');
    await health.stopped(replica);
    t.type((await mine()).report?.stoppedAt, Date);
    await health.report({ replica, startedAt, parts: [] });
    t.equal((await mine()).report?.stoppedAt, null, 'it runs again');
    await health.stopped(replica);
  });

  await t.test(`${name}: a report of a day ago is kept until another process reports`, async (t) => {
    const [gone, next] = [randomUUID(), randomUUID()];
    const isStored = async (): Promise<boolean> =>
      (await health.reports()).reports.some(({ replica }) => replica === gone);
    await health.report({ replica: gone, startedAt: at(0), parts: [] });
    await pass(86_401);
    t.ok(await isStored(), 'nobody else knows when the service ended');
    await health.report({ replica: next, startedAt: at(0), parts: [] });
    t.notOk(await isStored());
    await health.stopped(next);
  });
}
