import { isUuid } from '../uuid.ts';

/** An id in a path: the row's UUID, or the engine's id. Anything else is unknown without asking the engine. */
export type ContainerRef =
  | { readonly kind: 'db_id'; readonly dbId: string }
  | { readonly kind: 'runtime_id'; readonly prefix: string }
  | { readonly kind: 'agent'; readonly agentId: string };

const RUNTIME_ID = /^[0-9a-f]{12,64}$/;

/** null when it is no id, which answers like an unknown one. */
export function parseContainerRef(text: string): ContainerRef | null {
  if (isUuid(text)) return { kind: 'db_id', dbId: text.toLowerCase() };
  if (RUNTIME_ID.test(text)) return { kind: 'runtime_id', prefix: text };
  const agentId = text.startsWith('agent:') ? text.slice('agent:'.length) : '';
  return isUuid(agentId) ? { kind: 'agent', agentId: agentId.toLowerCase() } : null;
}
