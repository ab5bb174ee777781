import { createHmac } from 'node:crypto';

/** What the kernel takes as the name of a host. */
const HOSTNAME_MAX = 64;

// A private network answers questions for its containers' names, to every container on it. Nobody can ask for a name
// that nobody can guess: row ids are random and never leave their owner, and no name tells its row id.
const digest = (instanceId: string, text: string, length: number): string =>
  createHmac('sha256', instanceId).update(text).digest('hex').slice(0, length);

/** The engine's name of a row's container: the same try gives the same name, so that it can not exist twice. */
export const containerName = (instanceId: string, dbId: string, generation: number): string =>
  `ws-${digest(instanceId, `container ${dbId} ${generation}`, 24)}`;

/** What an earlier version called the same container; such containers keep that name. */
export const earlierName = (dbId: string, generation: number): string => `ws-${dbId}-g${generation}`;

/**
 * The name inside: the workspace's up to the first dot, as prompts show it, and a secret one behind it, since the engine
 * answers for the whole of it alone.
 */
export function hostnameInside(instanceId: string, dbId: string, name: string): string {
  const secret = digest(instanceId, `host ${dbId}`, 16);
  return `${name.slice(0, HOSTNAME_MAX - secret.length - 1)}.${secret}`;
}
