import { createHmac } from 'node:crypto';
import type { ContainerSpec } from '../../../ports/containers/container-runtime.ts';

/** The kernel's limit for host names. */
const HOSTNAME_MAX = 64;

// On a private network the engine answers name queries of every container. Unguessable names prevent that: row ids are
// random and private, and no name reveals its row id.
const digest = (instanceId: string, text: string, length: number): string =>
  createHmac('sha256', instanceId).update(text).digest('hex').slice(0, length);

/** The engine name of a row's container: deterministic, so that it cannot exist twice. */
export const containerName = (instanceId: string, dbId: string, generation: number): string =>
  `ws-${digest(instanceId, `container ${dbId} ${generation}`, 24)}`;

/** The engine name of a container of the warm pool, until it is claimed: a rename is what the engine keeps of that. */
export const memberName = (instanceId: string, dbId: string): string =>
  `ws-${digest(instanceId, `member ${dbId}`, 24)}`;

/** The engine name of a new container. */
export const newName = (
  instanceId: string,
  { dbId, generation, isMember }: Pick<ContainerSpec, 'dbId' | 'generation' | 'isMember'>,
): string => (isMember === true ? memberName(instanceId, dbId) : containerName(instanceId, dbId, generation));

/** The name in earlier versions; such containers keep it. */
export const earlierName = (dbId: string, generation: number): string => `ws-${dbId}-g${generation}`;

/**
 * The host name inside: the workspace's name up to the first dot, as prompts show it, then a secret part, since the
 * engine answers only for the whole name.
 */
export function hostnameInside(instanceId: string, dbId: string, name: string): string {
  const secret = digest(instanceId, `host ${dbId}`, 16);
  return `${name.slice(0, HOSTNAME_MAX - secret.length - 1)}.${secret}`;
}
