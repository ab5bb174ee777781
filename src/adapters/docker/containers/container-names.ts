import { createHmac } from 'node:crypto';

/** The kernel's limit for host names. */
const HOSTNAME_MAX = 64;

// On a private network the engine answers name queries of every container. Unguessable names prevent that: row ids are
// random and private, and no name reveals its row id.
const digest = (instanceId: string, text: string, length: number): string =>
  createHmac('sha256', instanceId).update(text).digest('hex').slice(0, length);

/** The engine name of a row's container: deterministic, so that it cannot exist twice. */
export const containerName = (instanceId: string, dbId: string, generation: number): string =>
  `ws-${digest(instanceId, `container ${dbId} ${generation}`, 24)}`;

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
