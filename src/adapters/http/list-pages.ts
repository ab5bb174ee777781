import { unknownCursor } from './pagination.ts';

type ListQuery = { readonly cursor?: string; readonly limit?: string; readonly sort?: string };
type Page<T> = {
  readonly items: T[];
  /** The number of items on all pages. */
  readonly total: number;
  readonly next?: { readonly next_cursor: string | null };
};
type Item = { readonly [field: string]: unknown };
/** The value by which an item is sorted when the query sorts by `field`; null comes last. */
type SortKeys<T> = (item: T, field: string) => unknown;

const MOST = 200;

/**
 * The requested page of a list that the service has read completely: items whose fields equal the query's filters, sorted and
 * cut. `key` names the field that identifies an item. Items are sorted by their fields, unless `sortKeyOf` says otherwise.
 */
export function pageOf<T extends object>(
  all: readonly T[],
  query: ListQuery & object,
  key: keyof T & string,
  sortKeyOf: SortKeys<T> = fieldOf,
): Page<T> {
  const { cursor, limit, sort, ...filters } = query as ListQuery & Readonly<Record<string, string>>;
  const sorted = inOrder(matching(all, filters), sort, sortKeyOf);
  const total = sorted.length;
  if (cursor === undefined && limit === undefined) return { items: sorted, total };
  const start = cursor === undefined ? 0 : afterCursor(sorted, cursor, key);
  const items = sorted.slice(start, start + Number(limit ?? MOST));
  const end = start + items.length;
  return { items, total, next: { next_cursor: end < total ? cursorAt(sorted, end - 1, key) : null } };
}

/** The response body of a page, with its items under `name`. */
export function listBody<const Name extends string, T extends object>(
  name: Name,
  all: readonly T[],
  query: ListQuery & object,
  key: keyof T & string,
) {
  const { items, next } = pageOf(all, query, key);
  return { [name]: items, ...next } as Record<Name, T[]> & Partial<NonNullable<typeof next>>;
}

const fieldOf = (item: object, field: string): unknown => (item as Item)[field];

function matching<T extends object>(all: readonly T[], filters: Readonly<Record<string, string>>): T[] {
  const wanted = Object.entries(filters);
  return all.filter((item) => wanted.every(([field, value]) => fieldOf(item, field) === value));
}

/** Stable; a missing value comes last, whatever the direction. */
function inOrder<T extends object>(items: T[], sort: string | undefined, keyOf: SortKeys<T>): T[] {
  if (sort === undefined) return items;
  const isReverse = sort.startsWith('-');
  const field = isReverse ? sort.slice(1) : sort;
  return items.sort((one, other) => {
    const [a, b] = [keyOf(one, field), keyOf(other, field)];
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    const isLess = typeof a === 'number' && typeof b === 'number' ? a < b : String(a) < String(b);
    return isLess === isReverse ? 1 : -1;
  });
}

/** Names the last item shown, and its index in case it is gone by then. */
const cursorAt = <T extends object>(items: readonly T[], index: number, key: string): string =>
  Buffer.from(`${index} ${String(fieldOf(items[index] ?? {}, key))}`).toString('base64url');

const CURSOR = /^(\d{1,6}) (.+)$/su;

function afterCursor<T extends object>(items: readonly T[], cursor: string, key: string): number {
  const [, index, id] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (index === undefined) throw unknownCursor();
  const found = items.findIndex((item) => String(fieldOf(item, key)) === id);
  return found === -1 ? Number(index) : found + 1;
}
