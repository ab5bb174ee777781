import pg from 'pg';
import t from 'tap';
import { engineOrSkip } from '../support/engine/engine.ts';
import {
  aContainerWithCanary,
  aKillChain,
  eventually,
  readCanary,
  small,
} from '../support/process/fault-scene.ts';

t.setTimeout(600_000);

t.test('an end by itself goes on after a kill, once, and the volume stays', async (t) => {
  const engine = await engineOrSkip(t);
  const chain = engine && (await aKillChain(t, engine));
  if (!chain) return;
  const pool = new pg.Pool({ connectionString: chain.url, max: 1 });
  pool.on('error', () => {});
  t.teardown(() => pool.end());
  /** As if it had run for an hour, with its last warning a minute ago. */
  const endNow = (dbId: string) =>
    pool.query(
      `update containers set ends_at = now(), warned_end = now(), warned_lead = 60, started_at = now() - interval '1 hour',
        warned_at = now() - interval '1 minute' where db_id = $1`,
      [dbId],
    );
  const call = await chain.call();
  const kept = await aContainerWithCanary(call, 'kept');
  const made = (await call('POST', '/api/containers', { ...small, ephemeral: true, ttl_seconds: 3_600 }))
    .body;
  const sandbox = String(made['db_id']);
  const after = await chain.dieAt(t, ['stop after stop_old', 'delete after remove_old'], async () => {
    await endNow(kept.dbId);
    await endNow(sandbox);
  });
  const stateOf = async (dbId: string) => (await chain.invariants.row(dbId)).state;
  t.equal(
    await eventually(
      () => stateOf(kept.dbId),
      (state) => state === 'stopped',
    ),
    'stopped',
  );
  t.equal(
    await eventually(
      () => stateOf(sandbox),
      (state) => state === 'deleted',
    ),
    'deleted',
  );
  t.same(await chain.invariants.violations(), [], 'each end has one record and one event');
  t.match((await after('GET', `/api/containers/${kept.dbId}`)).body, {
    status_reason: /^stopped at the end of its time/,
  });
  await after('POST', `/api/containers/${kept.dbId}/start`);
  t.equal(await readCanary(after, kept.dbId), 'kept\n');
  t.equal((await after('POST', `/api/containers/${sandbox}/restore`)).status, 200);
});
