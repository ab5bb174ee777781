// biome-ignore lint/style/noRestrictedImports: kills at random moments
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { aPairOfReplicas } from '../support/process/fault-scene.ts';
import { soak } from '../support/process/soak.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 60);
const CONTAINERS = 4;

t.setTimeout((SECONDS + 600) * 1000);
t.test(`${SECONDS} s of changes while both replicas are killed at random`, async (t) => {
  const pair = await aPairOfReplicas(t);
  if (pair === null) return;
  await soak(t, pair, CONTAINERS, async ({ replicas, chance, kill }) => {
    for (const end = performance.now() + SECONDS * 1000; performance.now() < end; ) {
      await sleep(1_000 + chance(4) * 1_000);
      await (chance(5) === 0 ? kill(...replicas) : kill(replicas[chance(2)] ?? replicas[0]));
    }
  });
});
