import { del, get, getList, getPage, patch, post, under, withQuery } from './calls.ts';
import type { Proof } from './identity/account.ts';
import type {
  Capacity,
  Container,
  KeptSum,
  OpenTerminal,
  PersonUsage,
  Settings,
  SettingsPart,
} from './types.ts';

/** What the deleted containers of all users still use. */
export const getKeptSum = () => get<KeptSum>('/api/admin/deleted-containers');

export const getSettings = () => get<Settings>('/api/admin/settings');

export const changeSettings = (body: SettingsPart) => patch<Settings>('/api/admin/settings', body);

const TERMINALS = '/api/admin/terminals';

/** Everybody's open terminals, newest first. */
export const listTerminals = () => getList<OpenTerminal>(TERMINALS, 'terminals');

export const closeTerminal = (id: string) => del(under(TERMINALS, id));

/** What the machines of the engines have, promise and use. */
export const getCapacity = () => get<Capacity>('/api/admin/capacity');

const PAGE = '50';

/** What each person uses, sorted by a field; with `-`, in reverse. */
export const listUsage = (sort: string) => async (cursor: string | null) => {
  const { items, next } = await getPage<PersonUsage>('/api/admin/usage', 'usage', {
    sort,
    cursor,
    limit: PAGE,
  });
  return { items: items.map((one) => ({ ...one, id: one.user_id })), next };
};

/** The containers of all users, for administrators. Ids are `db_id`s. */
const CONTAINERS = '/api/admin/containers';

/** `deleted` is the text `true` for deleted ones; empty values do not filter. */
export type AdminContainerQuery = {
  readonly q: string;
  readonly owner: string;
  readonly status: string;
  readonly deleted: string;
  readonly sort: string;
};

/** The most ids that a request takes. */
const IDS_AT_ONCE = 100;

type ContainersAnswer = {
  readonly containers: readonly Container[];
  readonly total: number;
  readonly next_cursor: string | null;
};

export type AdminContainerPage = {
  readonly items: readonly Container[];
  readonly total: number;
  readonly next: string | null;
};

export async function pageOfAllContainers(
  query: AdminContainerQuery,
  cursor: string | null,
): Promise<AdminContainerPage> {
  const answer = await get<ContainersAnswer>(withQuery(CONTAINERS, { ...query, limit: '200', cursor }));
  return { items: answer.containers, total: answer.total, next: answer.next_cursor };
}

/** Those of anybody's containers that have these ids, deleted ones too where they can be restored. */
export async function containersWithIds(ids: readonly string[]): Promise<readonly Container[]> {
  const found: Container[] = [];
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const query = { ids: ids.slice(from, from + IDS_AT_ONCE).join(','), limit: '200' };
    for (const deleted of ['', 'true'])
      found.push(...(await get<ContainersAnswer>(withQuery(CONTAINERS, { ...query, deleted }))).containers);
  }
  return found;
}

export const stopContainerOf = (id: string) => post(`${under(CONTAINERS, id)}/stop`);

export const deleteContainerOf = (id: string, proof: Proof) => del(under(CONTAINERS, id), proof);

export const restoreContainerOf = (id: string) => post(`${under(CONTAINERS, id)}/restore`);

/** `to`: the id of the new owner. */
export type Transfer = { readonly to: string; readonly name: string };

export const transferContainer = (id: string, body: Transfer & Proof) =>
  post<Container>(`${under(CONTAINERS, id)}/transfer`, body);
