import { del, get, getList, patch, under } from './calls.ts';
import type { KeptSum, OpenTerminal, Settings, SettingsPart } from './types.ts';

/** What the deleted containers of all users still use. */
export const getKeptSum = () => get<KeptSum>('/api/admin/deleted-containers');

export const getSettings = () => get<Settings>('/api/admin/settings');

export const changeSettings = (body: SettingsPart) => patch<Settings>('/api/admin/settings', body);

const TERMINALS = '/api/admin/terminals';

/** Everybody's open terminals, newest first. */
export const listTerminals = () => getList<OpenTerminal>(TERMINALS, 'terminals');

export const closeTerminal = (id: string) => del(under(TERMINALS, id));
