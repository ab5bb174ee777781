import type { Bus } from '../../../ports/bus.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { AgentLines } from '../../../ports/containers/agents/agent-lines.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { TerminalsOfContainers } from '../operations/operation-deps.ts';

export type AgentDeps = {
  readonly storage: Storage;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  /** The id of this process. */
  readonly replica: string;
  readonly lines: AgentLines;
  readonly terminals: TerminalsOfContainers & {
    /** Shows a message in all terminals of a container. */
    noticeAll(dbId: string, message: string): void;
  };
};
