import { del, get, getList, patch, post, under, withQuery } from '../calls.ts';
import { BerthError, hasStatus } from '../errors.ts';
import type {
  Changes,
  Container,
  ContainerChange,
  ContainerPage,
  Engine,
  FiguresAnswer,
  Image,
  NewContainer,
  Role,
  Started,
  Tier,
} from '../types.ts';

export type Figures = FiguresAnswer['figures'][number];

/** Longer than the service itself waits for an engine. */
const ENGINE = { timeoutMs: 90_000 } as const;

const at = (id: string): string => under('/api/containers', id);

/** Empty values are left out. `sort`: a field, with `-` in front for the reverse. */
export type ContainerQuery = {
  readonly shared: 'true' | 'false' | '';
  readonly q: string;
  readonly status: string;
  readonly sort: string;
};

const PAGE_SIZE = '200';

/** A part of the list, and how many containers the query finds in all. */
export async function pageOfContainers(query: ContainerQuery, cursor: string | null) {
  const answer = await get<ContainerPage>(
    withQuery('/api/containers', { ...query, limit: PAGE_SIZE, cursor }),
  );
  return { items: answer.containers, total: answer.total, next: answer.next_cursor ?? null };
}

/** What running containers use now and have used in the last hour; those that do not run are left out. */
export const getFigures = (dbIds: readonly string[]) =>
  getList<Figures>(`/api/figures?ids=${dbIds.join(',')}`, 'figures');

export const listContainers = () => getList<Container>('/api/containers', 'containers');

const DELETED = '/api/containers?deleted=true';

/** Those that can still be restored, newest deletion first. */
export const listDeleted = () => getList<Container>(DELETED, 'containers');

/** The number of those. */
export const countDeleted = async (): Promise<number> =>
  (await get<ContainerPage>(`${DELETED}&limit=1`)).total;

/** How many days a deleted container is kept, at least; null for guests. */
export const keptDays = async (): Promise<number | null> =>
  (await get<{ readonly kept_days: number | null }>(`${DELETED}&limit=1`)).kept_days;

export const getContainer = (id: string) => get<Container>(at(id));

/** The answer may still be `creating`. A repeat with the same key makes no second container. */
export const createContainer = (body: NewContainer, idempotencyKey: string) =>
  post<Container>('/api/containers', body, { ...ENGINE, headers: { 'idempotency-key': idempotencyKey } });

export const startContainer = (id: string) => post<Started>(`${at(id)}/start`, undefined, ENGINE);

export const stopContainer = (id: string) => post(`${at(id)}/stop`, undefined, ENGINE);

export const deleteContainer = (id: string) => del(at(id), undefined, ENGINE);

/** New name and limits, all or nothing. `restarted`: the container was recreated with its new limits. */
export const updateContainer = (id: string, body: ContainerChange) =>
  patch<{ readonly restarted: boolean }>(at(id), body, ENGINE);

/** Nothing ends the container by itself before so many seconds from now. */
export const keepContainer = (id: string, keep_seconds: number) =>
  patch(`${at(id)}/lifetime`, { keep_seconds });

/** What is not in /workspace, and would be lost if the container were recreated. */
export const getChanges = (id: string) => get<Changes>(`${at(id)}/changes`);

/** Brings back a deleted container while its volume is kept. */
export const restoreContainer = (id: string) => post<Container>(`${at(id)}/restore`, undefined, ENGINE);

/** Permanently deletes what is kept of a deleted container. `name` confirms which one. */
export const purgeContainer = (id: string, name: string) => post(`${at(id)}/purge`, { name });

/** Installs the tools of the role again. */
export const retryTools = (id: string) => post<Container>(`${at(id)}/role-setup/retry`);

export const cancelTools = (id: string) => post<Container>(`${at(id)}/role-setup/cancel`);

export type Catalogue = {
  readonly images: readonly Image[];
  readonly roles: readonly Role[];
  readonly tiers: readonly Tier[];
};

export const getEngine = () => get<Engine>('/api/engine');

/** A list of the catalogue; empty where this service has none. */
const listOf = <T>(key: keyof Catalogue): Promise<readonly T[]> =>
  getList<T>(`/api/${key}`, key).catch((failure) => {
    if (hasStatus(failure, 404)) return [];
    throw failure;
  });

export async function getCatalogue(): Promise<Catalogue> {
  const lists = [listOf<Image>('images'), listOf<Role>('roles'), listOf<Tier>('tiers')] as const;
  const [images, roles, tiers] = await Promise.all(lists);
  return { images, roles, tiers };
}

/** Why the service would refuse a terminal now; null when it would not. */
export async function terminalRefusal(id: string): Promise<BerthError | null> {
  try {
    await get(`${at(id)}/terminal`);
  } catch (failure) {
    // Without an upgrade a terminal that could be opened is answered 426.
    if (failure instanceof BerthError && failure.status !== 426) return failure;
  }
  return null;
}
