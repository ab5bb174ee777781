import pg from 'pg';
import type { Test } from 'tap';
import {
  aContainerWithCanary,
  type Call,
  eventually,
  type KillChain,
  readCanary,
  small,
} from './fault-scene.ts';

/** Containers whose lifetime ends while the service is killed. */
export type LifetimeEnds = {
  /** Steps at which the service is killed. */
  readonly points: readonly string[];
  /** Ends their time. */
  begin(): Promise<void>;
  /** Each end went on after the kill, once, and the volume stays. */
  check(t: Test, call: Call): Promise<void>;
};

/** A container that stops at the end of its time, and one that is deleted. */
export async function lifetimeEnds(t: Test, chain: KillChain): Promise<LifetimeEnds> {
  const pool = new pg.Pool({ connectionString: chain.url, max: 1 });
  pool.on('error', () => {});
  t.teardown(() => pool.end());
  const call = await chain.call();
  const kept = await aContainerWithCanary(call, 'timed');
  const sandbox = { ...small, ephemeral: true, ttl_seconds: 3_600 };
  const passing = String((await call('POST', '/api/containers', sandbox)).body['db_id']);
  const becomes = async (t: Test, dbId: string, state: string): Promise<void> => {
    const read = async () => (await chain.invariants.row(dbId)).state;
    t.equal(await eventually(read, (now) => now === state), state);
  };
  return {
    points: ['stop after stop_old', 'delete after remove_old'],
    async begin() {
      // As if they had run for an hour, with their last warning a minute ago.
      await pool.query(
        `update containers set ends_at = now(), warned_end = now(), warned_lead = 60, started_at = now() - interval '1 hour',
          warned_at = now() - interval '1 minute' where db_id = any($1)`,
        [[kept.dbId, passing]],
      );
    },
    async check(t, after) {
      await becomes(t, kept.dbId, 'stopped');
      await becomes(t, passing, 'deleted');
      t.same(await chain.invariants.violations(), [], 'each end has one record and one event');
      const found = await after('GET', `/api/containers/${kept.dbId}`);
      t.match(found.body, { status_reason: /^stopped at the end of its time/ });
      await after('POST', `/api/containers/${kept.dbId}/start`);
      t.equal(await readCanary(after, kept.dbId), 'kept\n');
      t.equal((await after('POST', `/api/containers/${passing}/restore`)).status, 200);
    },
  };
}
