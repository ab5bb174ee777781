import { del, get, getList, getPage, patch, under } from './calls.ts';
import type { Capacity, KeptSum, OpenTerminal, PersonUsage, Settings, SettingsPart } from './types.ts';

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
