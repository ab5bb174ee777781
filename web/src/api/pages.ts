import { authorized } from '../session/session.ts';

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

/** One page of a list that the answer has under `key`. */
export async function getPage<T>(path: string, key: string, query: Query): Promise<Page<T>> {
  const answer = await authorized<Record<string, unknown>>(withQuery(path, query));
  return { items: answer[key] as readonly T[], next: answer['next_cursor'] as string | null };
}
