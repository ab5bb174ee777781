import { authorized } from '../session/session.ts';
import type { RequestOptions } from './request.ts';

type More = Pick<RequestOptions, 'timeoutMs' | 'headers'>;

const call =
  (method: NonNullable<RequestOptions['method']>) =>
  <T = unknown>(path: string, body?: unknown, more: More = {}): Promise<T> =>
    authorized<T>(path, { method, body, ...more });

/** Requests of the signed-in user. Each throws a BerthError when it is refused or not answered. */
export const get = <T>(path: string): Promise<T> => authorized<T>(path);
export const post = call('POST');
export const put = call('PUT');
export const patch = call('PATCH');
export const del = call('DELETE');

/** A list, which the answer has under `key`. */
export const getList = async <T>(path: string, key: string): Promise<readonly T[]> =>
  (await get<Readonly<Record<string, readonly T[]>>>(path))[key] ?? [];

export type Page<T> = {
  readonly items: readonly T[];
  /** Where the next page begins; null for the last one. */
  readonly next: string | null;
};

type Query = Readonly<Record<string, string | null | undefined>>;

/** Leaves out empty values. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** One page of a list, which the answer has under `key`. */
export async function getPage<T>(path: string, key: string, query: Query): Promise<Page<T>> {
  const answer = await get<Readonly<Record<string, unknown>>>(withQuery(path, query));
  return { items: answer[key] as readonly T[], next: answer['next_cursor'] as string | null };
}

/** All items of a list that comes in pages. */
export async function wholeList<T>(read: (cursor: string | null) => Promise<Page<T>>): Promise<readonly T[]> {
  let { items, next } = await read(null);
  while (next !== null) {
    const page = await read(next);
    items = [...items, ...page.items];
    next = page.next;
  }
  return items;
}

const FILE_TIMEOUT_MS = 600_000;

export const getFile = (path: string, headers: RequestOptions['headers'] = {}): Promise<Blob> =>
  authorized<Blob>(path, { headers, reads: 'file', timeoutMs: FILE_TIMEOUT_MS });

/** The address of one thing below `path`. */
export const under = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`;
