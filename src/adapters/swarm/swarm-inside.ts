import type { ContainerInsight } from '../../ports/containers/inside/container-insight.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { type ShellAccess, shellAccess } from '../scripts/container-access.ts';
import { shellTerminals } from '../scripts/terminals/terminal-backend.ts';
import { type SwarmPrograms, swarmPrograms } from './exec/container-programs.ts';
import { swarmInsight } from './insight/container-insight.ts';
import type { Swarm } from './swarm.ts';

export type SwarmInside = ShellAccess & {
  readonly insight: ContainerInsight;
  readonly terminals: TerminalBackend;
  readonly turns: Pick<SwarmPrograms, 'listen' | 'waiting'>;
};

/** Access to the inside of an installation's containers in one swarm. */
export function swarmInside(swarm: Swarm): SwarmInside {
  const programs = swarmPrograms(swarm);
  return {
    ...shellAccess(programs, async (handle) => programs.idOf(handle)),
    insight: swarmInsight(swarm),
    terminals: shellTerminals(programs, programs.idOf),
    turns: programs,
  };
}
