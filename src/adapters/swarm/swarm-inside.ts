import { accessThrough } from '../scripts/queued-programs.ts';
import { swarmPrograms } from './exec/container-programs.ts';
import { swarmInsight } from './insight/container-insight.ts';
import type { Swarm } from './swarm.ts';

/** Access to the inside of an installation's containers in one swarm. */
export const swarmInside = (swarm: Swarm) => ({
  ...accessThrough(swarmPrograms(swarm)),
  insight: swarmInsight(swarm),
});
