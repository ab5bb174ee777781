import { get, patch } from './calls.ts';
import type { KeptSum, Settings, SettingsPart } from './types.ts';

/** What the deleted containers of all users still use. */
export const getKeptSum = () => get<KeptSum>('/api/admin/deleted-containers');

export const getSettings = () => get<Settings>('/api/admin/settings');

export const changeSettings = (body: SettingsPart) => patch<Settings>('/api/admin/settings', body);
