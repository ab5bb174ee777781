import type { ContainerObserver } from '../../ports/containers/container-runtime.ts';
import type { ContainerCommands } from '../../ports/containers/inside/container-commands.ts';
import type { ContainerFiles } from '../../ports/containers/inside/container-files.ts';
import type { ContainerInsight } from '../../ports/containers/inside/container-insight.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { agentCommands } from './agent-commands.ts';
import { agentFiles } from './agent-files.ts';
import type { AgentHub } from './agent-hub.ts';
import { agentInsight } from './agent-insight.ts';
import { agentTerminals } from './agent-terminals.ts';

export { AgentHub } from './agent-hub.ts';

/** What agents do of what an engine does. */
export type AgentPorts = {
  readonly terminalBackend: TerminalBackend;
  readonly commands: ContainerCommands;
  readonly files: ContainerFiles;
  readonly insight: ContainerInsight;
  readonly runtime: Pick<ContainerObserver, 'observe'>;
};

/** `answerMs`: how long a connected agent may take to begin a request. */
export const agentPorts = (hub: AgentHub, startedAt: Date, answerMs?: number): AgentPorts => ({
  terminalBackend: agentTerminals(hub, answerMs),
  commands: agentCommands(hub, answerMs),
  files: agentFiles(hub, answerMs),
  insight: agentInsight,
  // The row of a lost agent knows more: nothing can be said from here.
  runtime: { observe: async () => ({ kind: 'running', startedAt }) },
});
