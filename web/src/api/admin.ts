import { get, getPage, patch, under } from './calls.ts';
import type { KeptSum, Settings, SettingsPart, User } from './types.ts';

export type UserChange = {
  readonly tier?: string;
  readonly role?: User['role'];
  readonly disabled?: boolean;
};

export const listUsers = (cursor: string | null) => getPage<User>('/api/admin/users', 'users', { cursor });

export const changeUser = (id: string, body: UserChange) => patch<User>(under('/api/admin/users', id), body);

/** What the deleted containers of all users still use. */
export const getKeptSum = () => get<KeptSum>('/api/admin/deleted-containers');

export const getSettings = () => get<Settings>('/api/admin/settings');

export const changeSettings = (body: SettingsPart) => patch<Settings>('/api/admin/settings', body);
