import { authorized } from '../session/session.ts';
import { ApiError } from './errors.ts';
import { hasStatus } from './request.ts';
import type {
  Changes,
  Container,
  ContainerChange,
  Image,
  NewContainer,
  Role,
  Started,
  Tier,
} from './types.ts';

/** Longer than the service itself waits for an engine. */
const ENGINE_TIMEOUT_MS = 90_000;

const at = (id: string): string => `/api/containers/${encodeURIComponent(id)}`;

export async function listContainers(): Promise<readonly Container[]> {
  const { containers } = await authorized<{ containers: readonly Container[] }>('/api/containers');
  return containers;
}

/** Those that can be restored still, newest deletion first. */
export async function listDeleted(): Promise<readonly Container[]> {
  return (await authorized<{ containers: readonly Container[] }>('/api/containers?deleted=true')).containers;
}

export const getContainer = (id: string): Promise<Container> => authorized<Container>(at(id));

/** The answer may still be `creating`. A repeat with the same key makes no second container. */
export const createContainer = (body: NewContainer, idempotencyKey: string): Promise<Container> =>
  authorized<Container>('/api/containers', {
    method: 'POST',
    body,
    timeoutMs: ENGINE_TIMEOUT_MS,
    headers: { 'idempotency-key': idempotencyKey },
  });

export const startContainer = (id: string): Promise<Started> =>
  authorized<Started>(`${at(id)}/start`, { method: 'POST', timeoutMs: ENGINE_TIMEOUT_MS });

export const stopContainer = (id: string): Promise<unknown> =>
  authorized(`${at(id)}/stop`, { method: 'POST', timeoutMs: ENGINE_TIMEOUT_MS });

export const deleteContainer = (id: string): Promise<unknown> =>
  authorized(at(id), { method: 'DELETE', timeoutMs: ENGINE_TIMEOUT_MS });

/** New name and limits, all or nothing. `restarted`: the container was recreated with its new limits. */
export const updateContainer = (
  id: string,
  body: ContainerChange,
): Promise<{ readonly restarted: boolean }> =>
  authorized(at(id), { method: 'PATCH', body, timeoutMs: ENGINE_TIMEOUT_MS });

/** What is not in /workspace, and would be lost if the container were recreated. */
export const getChanges = (id: string): Promise<Changes> => authorized<Changes>(`${at(id)}/changes`);

/** Brings back a deleted container while its volume is kept. */
export const restoreContainer = (id: string): Promise<Container> =>
  authorized(`${at(id)}/restore`, { method: 'POST', timeoutMs: ENGINE_TIMEOUT_MS });

/** Erases what is kept of a deleted container. `name` confirms which one. */
export const purgeContainer = (id: string, name: string): Promise<unknown> =>
  authorized(`${at(id)}/purge`, { method: 'POST', body: { name } });

/** Installs the tools of the role again. */
export const retryTools = (id: string): Promise<Container> =>
  authorized<Container>(`${at(id)}/role-setup/retry`, { method: 'POST' });

export const cancelTools = (id: string): Promise<Container> =>
  authorized<Container>(`${at(id)}/role-setup/cancel`, { method: 'POST' });

export type Catalogue = {
  readonly images: readonly Image[];
  readonly roles: readonly Role[];
  readonly tiers: readonly Tier[];
};

/** A list of the catalogue; empty where this service has none. */
async function listOf<K extends keyof Catalogue>(key: K): Promise<Catalogue[K] | readonly []> {
  try {
    return (await authorized<Pick<Catalogue, K>>(`/api/${key}`))[key];
  } catch (failure) {
    if (hasStatus(failure, 404)) return [];
    throw failure;
  }
}

export async function getCatalogue(): Promise<Catalogue> {
  const [images, roles, tiers] = await Promise.all([listOf('images'), listOf('roles'), listOf('tiers')]);
  return { images, roles, tiers };
}

/** Why the service would refuse a terminal now; null when it would not. */
export async function terminalRefusal(id: string): Promise<ApiError | null> {
  try {
    await authorized(`${at(id)}/terminal`);
  } catch (failure) {
    // Without an upgrade a terminal that could be opened is answered 426.
    if (failure instanceof ApiError && failure.status !== 426) return failure;
  }
  return null;
}
