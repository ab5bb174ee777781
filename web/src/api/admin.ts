import { authorized } from '../session/session.ts';
import type { Settings, SettingsPart, User } from './types.ts';

export type UserPage = { readonly users: readonly User[]; readonly next_cursor: string | null };
export type UserChange = {
  readonly tier?: string;
  readonly role?: User['role'];
  readonly disabled?: boolean;
};

/** `cursor`: where the page before ended. */
export const listUsers = (cursor: string | null): Promise<UserPage> =>
  authorized<UserPage>(
    cursor === null ? '/api/admin/users' : `/api/admin/users?cursor=${encodeURIComponent(cursor)}`,
  );

export const changeUser = (id: string, body: UserChange): Promise<User> =>
  authorized<User>(`/api/admin/users/${encodeURIComponent(id)}`, { method: 'PATCH', body });

export const getSettings = (): Promise<Settings> => authorized<Settings>('/api/admin/settings');

export const changeSettings = (body: SettingsPart): Promise<Settings> =>
  authorized<Settings>('/api/admin/settings', { method: 'PATCH', body });
