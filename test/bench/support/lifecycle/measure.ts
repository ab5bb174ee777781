/** Stop, start, recreate and create through Berth and through the bare engine, in turns on one engine. */
import { randomUUID } from 'node:crypto';
import type Docker from 'dockerode';
import type { RuntimeSettings } from '../../../../src/adapters/docker/containers/create-options.ts';
import { runtimeSettings } from '../../../../src/adapters/docker/containers/runtime-settings.ts';
import { networkName } from '../../../../src/adapters/docker/engine/engine-names.ts';
import { WORKSPACE } from '../../../../src/adapters/docker/volumes/container-volumes.ts';
import { administrator, type Client, quantile } from '../load.ts';
import type { Row } from '../report/rows.ts';
import { installation } from '../whole-service.ts';
import { type BareEngine, bareEngine } from './bare-engine.ts';
import { type BerthContainer, type Case, type CaseName, casesOn, resources } from './cases.ts';

const WARM_UP = 2;
const WHAT: Readonly<Record<CaseName, string>> = {
  stop: 'stop, ms',
  start: 'start, ms',
  recreate: 'recreate (PATCH of the limits)',
  create: 'create to the end of the first command, pool of 1, ms',
};

type Measured = { readonly bare: number[]; readonly berth: number[] };
type Options = { readonly rounds: number; readonly cases: readonly CaseName[] };

/** The base is the engine. */
export async function lifecycleRows({ rounds, cases }: Options): Promise<readonly Row[]> {
  const full = await installation({
    BERTH_WARM_POOL: '1',
    // The engine's own volumes on both sides; Berth mounts hard-quota ones, which the bare engine never does.
    BERTH_DISK_QUOTA: process.env['BERTH_DISK_QUOTA'] ?? 'soft',
  });
  try {
    const { admin, bare, all } = await bothSides(full);
    const rows = new Map(cases.map((name) => [name, { bare: [], berth: [] } as Measured]));
    try {
      for (let round = -WARM_UP; round < rounds; round += 1)
        for (const [name, measured] of rows) await oneRound(all[name], { bare, admin }, round, measured);
    } finally {
      // They use a volume of the installation.
      await bare.clear();
    }
    return [...rows].map(([name, measured]) => rowOf(name, all[name], measured));
  } finally {
    await full.stop();
  }
}

async function bothSides({
  docker,
  image,
  service,
  instance,
  databaseUrl,
}: Awaited<ReturnType<typeof installation>>) {
  const admin = await administrator(service.address, service.setupCode);
  const box = await admin.call<BerthContainer>('POST', '/api/containers', { name: 'bench', ...resources });
  const settings = await runtimeSettings(docker, {
    instanceId: randomUUID(),
    network: networkName(instance),
    node: 'bench',
  });
  const bare = bareEngine(docker, image, { ...settings, ...(await sameAs(docker, box.id)) });
  const volume = `bench-${instance}`;
  const own = await bare.create(resources.memory_mb, volume);
  await bare.start(own);
  return { admin, bare, all: casesOn(own, volume, box, databaseUrl) };
}

/** What Berth adds to its containers, so that the engine's own have the same mounts and cores to set up. */
async function sameAs(docker: Docker, runtimeId: string): Promise<Pick<RuntimeSettings, 'view' | 'cores'>> {
  const { HostConfig } = await docker.getContainer(runtimeId).inspect();
  const view = (HostConfig.Mounts ?? []).filter(({ Target }) => Target !== WORKSPACE);
  const cores = HostConfig.CpusetCpus ?? '';
  return { view, cores: cores === '' ? undefined : () => cores };
}

/** The order alternates, so that neither side always has the warmer caches. */
async function oneRound(
  one: Case,
  { bare, admin }: { readonly bare: BareEngine; readonly admin: Client },
  round: number,
  measured: Measured,
): Promise<void> {
  for (const side of round % 2 === 0 ? (['bare', 'berth'] as const) : (['berth', 'bare'] as const)) {
    const ms = side === 'bare' ? await one.bare(bare) : await one.berth(admin);
    if (round >= 0) measured[side].push(ms);
  }
}

/** Of the medians; prints the 95th percentiles too. */
function rowOf(name: CaseName, { atMost, watchedMs = 0 }: Case, { bare, berth }: Measured): Row {
  const of = (values: readonly number[]) =>
    `p50 ${quantile(values, 0.5).toFixed(1)} ms, p95 ${quantile(values, 0.95).toFixed(1)} ms`;
  console.log(`${name}: engine ${of(bare)}; Berth ${of(berth)}`);
  return {
    what: watchedMs > 0 ? `${WHAT[name]} without the ${watchedMs} ms of watching, ms` : WHAT[name],
    values: { base: quantile(bare, 0.5), berth: quantile(berth, 0.5) - watchedMs },
    digits: 0,
    targets: [{ of: 'base', atMost }],
  };
}
