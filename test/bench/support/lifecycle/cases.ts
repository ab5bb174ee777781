/** What is measured of a container's life, through Berth and without it. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Client } from '../load.ts';
import type { BareEngine } from './bare-engine.ts';

export const CASES = ['stop', 'start', 'recreate', 'create'] as const;
export type CaseName = (typeof CASES)[number];
export type BerthContainer = { readonly db_id: string; readonly id: string };
export type Case = {
  /** The allowed multiple of the engine's own time. */
  readonly atMost: number;
  /** A deliberate wait that the engine alone does not have: reported, and excluded from the target. */
  readonly watchedMs?: number;
  readonly bare: (bare: BareEngine) => Promise<number>;
  readonly berth: (admin: Client) => Promise<number>;
};

/** The limits of a new container of the tier `free`, which the pool's members have, too. */
export const resources = { memory_mb: 512, cpu_shares: 500, disk_mb: 2560 };
/** An update is answered when the new container has run for a second. */
const WATCHED_MS = 1_000;

/** On a container of the bare engine, with its volume, and on one of Berth. */
export function casesOn(
  first: string,
  volume: string,
  box: BerthContainer,
  databaseUrl: string,
): Readonly<Record<CaseName, Case>> {
  let own = first;
  let memoryMb = resources.memory_mb;
  const at = `/api/containers/${box.db_id}`;
  return {
    stop: {
      atMost: 1.05,
      bare: (bare) => timed(() => bare.stop(own)),
      berth: (admin) => timed(() => admin.call('POST', `${at}/stop`)),
    },
    start: {
      atMost: 1.03,
      bare: (bare) => timed(() => bare.start(own)),
      berth: (admin) => timed(() => admin.call('POST', `${at}/start`)),
    },
    recreate: {
      atMost: 1,
      watchedMs: WATCHED_MS,
      bare: (bare) =>
        timed(async () => {
          await bare.stop(own);
          await bare.remove(own);
          own = await bare.create(resources.memory_mb, volume);
          await bare.start(own);
        }),
      berth: async (admin) => {
        memoryMb = memoryMb === 512 ? 640 : 512;
        const wanted = { name: 'bench', ...resources, memory_mb: memoryMb };
        const ms = await timed(() => admin.call('PATCH', at, wanted));
        await nothingIsUnderWay(databaseUrl);
        return ms;
      },
    },
    create: firstCommand(databaseUrl),
  };
}

/** From nothing to the end of the first command, without removing the container and making the next pool member. */
function firstCommand(databaseUrl: string): Case {
  let made = 0;
  return {
    atMost: 0.25,
    async bare(bare) {
      let id = '';
      const ms = await timed(async () => {
        id = await bare.create(resources.memory_mb);
        await bare.start(id);
        await bare.command(id);
      });
      await bare.remove(id);
      return ms;
    },
    async berth(admin) {
      await poolIsFull(databaseUrl);
      let id = '';
      const ms = await timed(async () => {
        made += 1;
        const box = await admin.call<BerthContainer>('POST', '/api/containers', {
          name: `first-${made}`,
          ...resources,
        });
        id = box.db_id;
        const { exit_code } = await admin.call<{ exit_code: number }>('POST', `/api/containers/${id}/exec`, {
          command: ['true'],
        });
        if (exit_code !== 0) throw new Error(`true ended with ${exit_code}`);
      });
      await admin.call('DELETE', `/api/containers/${id}`);
      await poolIsFull(databaseUrl);
      return ms;
    },
  };
}

const poolIsFull = (url: string): Promise<void> =>
  untilTrue(url, "select exists (select from warm_pool where state = 'ready') as ok");

/** A recreate is answered before the old container is removed. */
const nothingIsUnderWay = (url: string): Promise<void> =>
  untilTrue(url, 'select not exists (select from operations where finished_at is null) as ok');

async function untilTrue(url: string, query: string): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  while (!(await db.query<{ ok: boolean }>(query)).rows[0]?.ok) await delay(50);
  await db.end();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
