import { del, getList, post, under } from '../calls.ts';
import type { Container, Snapshot } from '../types.ts';

/** A copy may take as long as its disk needs; the service answers earlier that it continues. */
const COPY = { timeoutMs: 90_000 } as const;

const of = (containerId: string): string => under('/api/containers', containerId);

/** Newest first. */
export const listSnapshots = () => getList<Snapshot>('/api/snapshots', 'snapshots');

/** Those that can be restored, the last deleted first. */
export const listDeletedSnapshots = () => getList<Snapshot>('/api/snapshots?deleted=true', 'snapshots');

export const restoreSnapshot = (id: string) => post<Snapshot>(`${under('/api/snapshots', id)}/restore`, {});

type Wanted = { readonly name: string; readonly note: string };

/** The answer may still be `creating`. A repeat with the same key makes no second one. */
export const takeSnapshot = (containerId: string, body: Wanted, idempotencyKey: string) =>
  post<Snapshot>(`${of(containerId)}/snapshots`, body, {
    ...COPY,
    headers: { 'idempotency-key': idempotencyKey },
  });

type Forks = { readonly containers: readonly Container[] };

/** The answers may still be `creating`. */
export const forkContainer = (
  containerId: string,
  body: { readonly name: string; readonly count: number },
  idempotencyKey: string,
) =>
  post<Forks>(`${of(containerId)}/forks`, body, {
    ...COPY,
    headers: { 'idempotency-key': idempotencyKey },
  });

export const deleteSnapshot = (id: string) => del(under('/api/snapshots', id));
