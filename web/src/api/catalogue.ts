import { authorized } from '../session/session.ts';
import type { Image, Tier, WholeRole } from './types.ts';

export type Entries = { readonly tiers: Tier; readonly images: Image; readonly roles: WholeRole };
export type EntryKind = keyof Entries;

const at = (kind: EntryKind, key?: string): string =>
  `/api/admin/${kind}${key === undefined ? '' : `/${encodeURIComponent(key)}`}`;

/** Everything of one kind, as administrators see it. */
export async function listEntries<K extends EntryKind>(kind: K): Promise<readonly Entries[K][]> {
  return (await authorized<Record<K, readonly Entries[K][]>>(at(kind)))[kind];
}

export const createEntry = (kind: EntryKind, body: object): Promise<unknown> =>
  authorized(at(kind), { method: 'POST', body });

export const changeEntry = (kind: EntryKind, key: string, body: object): Promise<unknown> =>
  authorized(at(kind, key), { method: 'PATCH', body });

export const deleteEntry = (kind: EntryKind, key: string): Promise<unknown> =>
  authorized(at(kind, key), { method: 'DELETE' });
