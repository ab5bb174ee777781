import { NotOffered } from '../../ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../ports/containers/inside/container-insight.ts';

const notOffered = async (): Promise<never> => {
  throw new NotOffered('agent', 'agents have no logs, limits or layers');
};

/** Agents have no first program, no limits and no image, so there is nothing to inspect. */
export const agentInsight: ContainerInsight = {
  logs: notOffered,
  usage: notOffered,
  load: notOffered,
  changes: notOffered,
};
