import type { AgentPorts } from '../../../adapters/agents/index.ts';
import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Ports } from '../compose-options.ts';

/** The engine's ports, which serve agents as well: the node in a call's handle decides. The use cases do not know. */
export const withAgents = (ports: Ports, agents: AgentPorts): Ports => ({
  ...ports,
  runtime: routed(ports.runtime, agents.runtime),
  terminalBackend: routed(ports.terminalBackend, agents.terminalBackend),
  commands: routed(ports.commands, agents.commands),
  files: routed(ports.files, agents.files),
  insight: routed(ports.insight, agents.insight),
});

/** Calls with an agent's handle go to `ofAgents`, where it has the method. */
const routed = <T extends object>(ofEngine: T, ofAgents: Partial<T>): T =>
  new Proxy(ofEngine, {
    get(target, key) {
      const usual: unknown = Reflect.get(target, key);
      const own: unknown = Reflect.get(ofAgents, key);
      if (typeof own !== 'function') return usual;
      return (...args: unknown[]) =>
        isAgentHandle(args[0]) ? own.apply(ofAgents, args) : (usual as typeof own).apply(target, args);
    },
  });

const isAgentHandle = (handle: unknown): boolean =>
  typeof handle === 'object' && handle !== null && 'node' in handle && isAgent(handle as { node: string });
