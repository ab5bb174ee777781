import { del, getList, patch, post, under } from '../calls.ts';
import type { Image, Tier, WholeRole } from '../types.ts';

export type Entries = { readonly tiers: Tier; readonly images: Image; readonly roles: WholeRole };
export type EntryKind = keyof Entries;

/** Entries that the service needs and never deletes. */
export const DEFAULT_ENTRIES: { readonly [K in EntryKind]: readonly string[] } = {
  tiers: ['guest', 'free', 'enterprise'],
  images: ['debian'],
  roles: ['standard'],
};

const all = (kind: EntryKind): string => `/api/admin/${kind}`;

/** All entries of one kind, as administrators see them. */
export const listEntries = <K extends EntryKind>(kind: K) => getList<Entries[K]>(all(kind), kind);

export const createEntry = (kind: EntryKind, body: object) => post(all(kind), body);

export const changeEntry = (kind: EntryKind, key: string, body: object) => patch(under(all(kind), key), body);

export const deleteEntry = (kind: EntryKind, key: string) => del(under(all(kind), key));
