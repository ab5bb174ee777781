/**
 * Berth's overhead over the engine's own time for stop, start, recreate and create. Both alternate on one engine with
 * the same host configuration; the medians of the rounds count. Arguments: rounds, then the cases, all by default.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type Docker from 'dockerode';
import pg from 'pg';
import { createOptions, type RuntimeSettings } from '../../src/adapters/docker/containers/create-options.ts';
import { runtimeSettings } from '../../src/adapters/docker/containers/runtime-settings.ts';
import { networkName } from '../../src/adapters/docker/engine/engine-names.ts';
import { aSpec } from '../support/engine/container.ts';
import { administrator, type Client, quantile } from './support/load.ts';
import { installation } from './support/whole-service.ts';

const [rounds = '20', ...only] = process.argv.slice(2);
const ROUNDS = Number(rounds);
const WARM_UP = 2;
/** An update is answered when the new container has run for a second. */
const WATCHED_MS = 1_000;
const resources = { memory_mb: 512, cpu_shares: 1000, disk_mb: 512 };

type Measured = { readonly bare: number[]; readonly berth: number[] };
type Container = { readonly db_id: string; readonly id: string };
type Case = {
  /** The allowed multiple of the engine's own time. */
  readonly wanted: number;
  /** A deliberate wait that the engine alone does not have: reported, and excluded from the target. */
  readonly watchedMs?: number;
  readonly bare: (bare: BareEngine) => Promise<number>;
  readonly berth: (admin: Client) => Promise<number>;
};

const { docker, image, service, instance, databaseUrl, stop } = await installation({
  BERTH_WARM_POOL: '1',
  // The engine's own volumes on both sides; Berth mounts hard-quota ones, which the bare engine never does.
  BERTH_DISK_QUOTA: process.env['BERTH_DISK_QUOTA'] ?? 'soft',
});
try {
  const admin = await administrator(service.address, service.setupCode);
  const settings = await runtimeSettings(docker, {
    instanceId: randomUUID(),
    network: networkName(instance),
    node: 'bench',
  });
  const bare = bareEngine(docker, image, settings);
  const volume = `bench-${instance}`;
  const own = await bare.create(resources.memory_mb, volume);
  await bare.start(own);
  const box = await admin.call<Container>('POST', '/api/containers', { name: 'bench', ...resources });
  const all = Object.entries(casesOn(own, volume, box));
  const cases = Object.fromEntries(all.filter(([name]) => only.length === 0 || only.includes(name)));
  const results = new Map(Object.keys(cases).map((name) => [name, { bare: [], berth: [] } as Measured]));
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const [name, one] of Object.entries(cases)) {
      // The order alternates, so that neither side always has the warmer caches.
      const sides = round % 2 === 0 ? (['bare', 'berth'] as const) : (['berth', 'bare'] as const);
      for (const side of sides) {
        const ms = side === 'bare' ? await one.bare(bare) : await one.berth(admin);
        if (round >= 0) results.get(name)?.[side].push(ms);
      }
    }
  }
  let missed = 0;
  for (const [name, one] of Object.entries(cases)) missed += show(name, one, results.get(name) as Measured);
  await bare.clear();
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  await stop();
}

function casesOn(first: string, volume: string, box: Container): Readonly<Record<string, Case>> {
  let own = first;
  let memoryMb = resources.memory_mb;
  const at = `/api/containers/${box.db_id}`;
  return {
    stop: {
      wanted: 1.1,
      bare: (bare) => timed(() => bare.stop(own)),
      berth: (admin) => timed(() => admin.call('POST', `${at}/stop`)),
    },
    start: {
      wanted: 1.1,
      bare: (bare) => timed(() => bare.start(own)),
      berth: (admin) => timed(() => admin.call('POST', `${at}/start`)),
    },
    recreate: {
      wanted: 1.15,
      watchedMs: WATCHED_MS,
      bare: (bare) =>
        timed(async () => {
          await bare.stop(own);
          await bare.remove(own);
          own = await bare.create(resources.memory_mb, volume);
          await bare.start(own);
        }),
      berth: (admin) => {
        memoryMb = memoryMb === 512 ? 640 : 512;
        return timed(() => admin.call('PATCH', at, { name: 'bench', ...resources, memory_mb: memoryMb }));
      },
    },
    'create to first command': firstCommand(),
  };
}

/** From nothing to the end of the first command, without removing the container and making the next pool member. */
function firstCommand(): Case {
  let made = 0;
  return {
    wanted: 0.35,
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
        const box = await admin.call<Container>('POST', '/api/containers', {
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

async function poolIsFull(url: string): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  for (;;) {
    const { rows } = await db.query("select 1 from warm_pool where state = 'ready'");
    if (rows.length > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await db.end();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Prints a case's figures; returns 1 when it missed its target. */
function show(name: string, { wanted, watchedMs = 0 }: Case, { bare, berth }: Measured): number {
  const of = (values: readonly number[]) =>
    `p50 ${quantile(values, 0.5).toFixed(1)} ms, p95 ${quantile(values, 0.95).toFixed(1)} ms`;
  const ratio = (share: number, lessMs = 0) => (quantile(berth, share) - lessMs) / quantile(bare, share);
  console.log(`${name}: engine ${of(bare)}; Berth ${of(berth)}`);
  const without =
    watchedMs > 0 ? `, without the ${watchedMs} ms of watching ${ratio(0.5, watchedMs).toFixed(2)}` : '';
  console.log(
    `  ratio ${ratio(0.5).toFixed(2)} (p95 ${ratio(0.95).toFixed(2)})${without}, wanted at most ${wanted}`,
  );
  return ratio(0.5, watchedMs) <= wanted ? 0 : 1;
}

// The baseline for Berth's own work: the Engine API with the same host configuration.

type BareEngine = {
  /** Returns the id of a container that does not run yet. */
  create(memoryMb: number, volume?: string): Promise<string>;
  start(id: string): Promise<void>;
  stop(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Runs `true` to its end and checks its exit code. */
  command(id: string): Promise<void>;
  /** Removes everything made. */
  clear(): Promise<void>;
};

function bareEngine(docker: Docker, image: string, settings: RuntimeSettings): BareEngine {
  const made = new Set<string>();
  const volumes = new Set<string>();
  const get = (id: string) => docker.getContainer(id);
  return {
    async create(memoryMb, volume = `bench-${randomUUID()}`) {
      const resources = { memoryMb, cpuMillicores: 1000, diskMb: 512 };
      volumes.add(volume);
      const { id } = await docker.createContainer(
        createOptions(aSpec(image, { resources, volume }), settings),
      );
      made.add(id);
      return id;
    },
    start: async (id) => void (await get(id).start()),
    stop: async (id) => void (await get(id).stop({ t: 10 })),
    async remove(id) {
      await get(id).remove({ force: true });
      made.delete(id);
    },
    async command(id) {
      const exec = await get(id).exec({ Cmd: ['true'], AttachStdout: true, AttachStderr: true });
      const stream = await exec.start({});
      stream.resume();
      await once(stream, 'close');
      const { ExitCode } = await exec.inspect();
      if (ExitCode !== 0) throw new Error(`true ended with ${ExitCode}`);
    },
    async clear() {
      await Promise.all([...made].map((id) => get(id).remove({ force: true })));
      await Promise.all([...volumes].map((name) => docker.getVolume(name).remove()));
    },
  };
}
