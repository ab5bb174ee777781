import { Refusal } from '../../domain/errors.ts';
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
  const order = orderOf(sort, sortKeyOf);
  const sorted = inOrder(matching(all, filters), order);
  const total = sorted.length;
  if (cursor === undefined && limit === undefined) return { items: sorted, total };
  const start = cursor === undefined ? 0 : afterCursor(sorted, cursor, key, order);
  const items = sorted.slice(start, start + Number(limit ?? MOST));
  const end = start + items.length;
  return { items, total, next: { next_cursor: end < total ? cursorAt(sorted, end - 1, key, order) : null } };
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

/** Compares two values. A missing one comes last in both directions. */
function compareKeys(a: unknown, b: unknown, isReverse: boolean): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  const isLess = typeof a === 'number' && typeof b === 'number' ? a < b : String(a) < String(b);
  return isLess === isReverse ? 1 : -1;
}

/** The value of an item that decides its place; null without an order. */
type Order<T> = {
  readonly sort: string;
  readonly keyOf: (item: T) => unknown;
  readonly isReverse: boolean;
} | null;

const orderOf = <T>(sort: string | undefined, sortKeyOf: SortKeys<T>): Order<T> =>
  sort === undefined
    ? null
    : {
        sort,
        keyOf: (item) => sortKeyOf(item, sort.replace('-', '')) ?? null,
        isReverse: sort.startsWith('-'),
      };

/** Stable. */
const inOrder = <T extends object>(items: T[], order: Order<T>): T[] =>
  order === null
    ? items
    : items.sort((one, other) => compareKeys(order.keyOf(one), order.keyOf(other), order.isReverse));

/** Names the last item shown, and where it was, in case it is gone or has moved by then. */
function cursorAt<T extends object>(
  items: readonly T[],
  index: number,
  key: string,
  order: Order<T>,
): string {
  const item = items[index] as T;
  const named = [index, String(fieldOf(item, key)), order?.keyOf(item) ?? null, order?.sort ?? null];
  return Buffer.from(JSON.stringify(named)).toString('base64url');
}

type Cursor = {
  readonly index: number;
  readonly id: string;
  readonly value?: unknown;
  /** Absent in cursors of earlier versions, which may still be in use during an upgrade. */
  readonly sort?: string | null;
};

/** Of earlier versions. */
const INDEX_AND_ID = /^(\d{1,6}) (.+)$/;

function readCursor(cursor: string): Cursor {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, place, name] = INDEX_AND_ID.exec(text) ?? [];
  if (name !== undefined) return { index: Number(place), id: name };
  try {
    const [index, id, value, sort] = JSON.parse(text);
    if (Number.isSafeInteger(index) && index >= 0 && typeof id === 'string')
      return { index, id, value, sort };
  } catch {
    // why: refused below, as any other text
  }
  throw unknownCursor();
}

const firstOf = <T>(items: readonly T[], is: (item: T) => boolean): number => {
  const index = items.findIndex(is);
  return index === -1 ? items.length : index;
};

/** Where the item was among those of the same value, if it is no longer one of them. */
function afterCursor<T extends object>(
  items: readonly T[],
  cursor: string,
  key: string,
  order: Order<T>,
): number {
  const { index, id, value, sort } = readCursor(cursor);
  if (sort !== undefined && sort !== (order?.sort ?? null))
    throw new Refusal({ code: 'validation_failed', fields: { sort: 'must be that of the page before' } });
  const found = items.findIndex((item) => String(fieldOf(item, key)) === id);
  if (order === null || value === undefined) return found === -1 ? index : found + 1;
  const { keyOf, isReverse } = order;
  if (found !== -1 && keyOf(items[found] as T) === value) return found + 1;
  const isFrom = (least: number) => (item: T) => compareKeys(keyOf(item), value, isReverse) >= least;
  const [same, other] = [firstOf(items, isFrom(0)), firstOf(items, isFrom(1))];
  return Math.min(Math.max(same, index), other);
}
