import { authorized } from '../session/session.ts';
import { getPage, type Page } from './pages.ts';
import type { Settings, SettingsPart, User } from './types.ts';

export type UserChange = {
  readonly tier?: string;
  readonly role?: User['role'];
  readonly disabled?: boolean;
};

export const listUsers = (cursor: string | null): Promise<Page<User>> =>
  getPage('/api/admin/users', 'users', { cursor });

export const changeUser = (id: string, body: UserChange): Promise<User> =>
  authorized<User>(`/api/admin/users/${encodeURIComponent(id)}`, { method: 'PATCH', body });

export const getSettings = (): Promise<Settings> => authorized<Settings>('/api/admin/settings');

export const changeSettings = (body: SettingsPart): Promise<Settings> =>
  authorized<Settings>('/api/admin/settings', { method: 'PATCH', body });
