import type { RuntimeHandle } from '../../ports/containers/container-runtime.ts';
import type { ContainerPrograms } from '../../ports/containers/inside/container-programs.ts';
import type { EngineWait } from '../../ports/metrics.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { type ShellAccess, shellAccess } from './container-access.ts';
import { shellTerminals } from './terminals/terminal-backend.ts';

export type EngineTurns = {
  /** Reports every future wait for a turn. */
  listen(listener: (wait: EngineWait) => void): void;
  /** How many wait for a start, and for other work. */
  waiting(): { readonly calls: number; readonly work: number };
};

/** Programs in the containers of a cluster, which take turns. */
export type QueuedPrograms = ContainerPrograms &
  EngineTurns & {
    /** The runtime id of a handle; records the container's owner for fair queueing. */
    idOf(handle: RuntimeHandle): string;
  };

/** Access to the inside of containers that needs only programs. */
export const accessThrough = (
  programs: QueuedPrograms,
): ShellAccess & { readonly terminals: TerminalBackend; readonly turns: EngineTurns } => ({
  ...shellAccess(programs, async (handle) => programs.idOf(handle)),
  terminals: shellTerminals(programs, programs.idOf),
  turns: programs,
});
