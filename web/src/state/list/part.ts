export type Listed = { readonly db_id: string };

export type ListPage<T> = {
  readonly items: readonly T[];
  /** Where the rest begins; null at the end. */
  readonly next: string | null;
  /** The number of rows on all pages. */
  readonly total: number;
};

/** Which rows a query finds, and in which order. */
export type Rules<T> = {
  readonly matches: (row: T) => boolean;
  /** null where only the service knows the order. */
  readonly compare: ((one: T, other: T) => number) | null;
};

export type PageStart<T> = {
  readonly cursor: string | null;
  /** Counts the questions to the service. */
  readonly asked: number;
  /** The number of rows before it. */
  readonly at: number;
  /** The row that the cursor names, as it was read; null at the start of the list. */
  readonly after: T | null;
};

/** The loaded pages of a list, from its start. */
export type Part<T> = ListPage<T> & {
  readonly pages: readonly PageStart<T>[];
  /** The last row of the last page, as it was read. What comes after it is not loaded. */
  readonly end: T | null;
};

export const EMPTY: Part<never> = { items: [], next: null, total: 0, pages: [], end: null };

/** In an order by use, a row may have moved to a later page between two readings. */
const eachOnce = <T extends Listed>(items: readonly T[]): readonly T[] => [
  ...new Map(items.map((one) => [one.db_id, one])).values(),
];

/** Adds the page that begins at the cursor. */
export const joined = <T extends Listed>(
  part: Part<T>,
  page: ListPage<T>,
  begin: Pick<PageStart<T>, 'cursor' | 'asked'>,
): Part<T> => ({
  items: eachOnce([...part.items, ...page.items]),
  next: page.next,
  total: page.total,
  pages: [...part.pages, { ...begin, at: part.items.length, after: part.end }],
  end: page.items.at(-1) ?? part.end,
});

/** Removes a row that the query no longer finds. */
export function without<T extends Listed>(part: Part<T>, dbId: string): Part<T> {
  const at = part.items.findIndex(({ db_id }) => db_id === dbId);
  return at === -1 ? part : { ...part, items: part.items.toSpliced(at, 1), total: part.total - 1 };
}

/** Puts the present state of a row to where it belongs. The total counts no row that is new. */
export function placed<T extends Listed>(part: Part<T>, row: T, { matches, compare }: Rules<T>): Part<T> {
  if (!matches(row)) return without(part, row.db_id);
  const at = part.items.findIndex(({ db_id }) => db_id === row.db_id);
  if (compare === null)
    return { ...part, items: at === -1 ? [...part.items, row] : part.items.with(at, row) };
  const others = at === -1 ? part.items : part.items.toSpliced(at, 1);
  if (part.next !== null && part.end !== null && compare(row, part.end) > 0)
    return { ...part, items: others };
  const isBetween = (index: number): boolean =>
    isInOrder(compare, others[index - 1], row) && isInOrder(compare, row, others[index]);
  const to = at !== -1 && isBetween(at) ? at : firstAfter(others, row, compare);
  return { ...part, items: others.toSpliced(to, 0, row) };
}

const isInOrder = <T>(compare: (one: T, other: T) => number, one?: T, other?: T): boolean =>
  one === undefined || other === undefined || compare(one, other) <= 0;

function firstAfter<T>(rows: readonly T[], row: T, compare: (one: T, other: T) => number): number {
  const at = rows.findIndex((one) => compare(one, row) > 0);
  return at === -1 ? rows.length : at;
}

/** Puts the present states of rows into the list, most of which stay where they are. */
export function replaced<T extends Listed>(part: Part<T>, rows: readonly T[], rules: Rules<T>): Part<T> {
  const { matches, compare } = rules;
  const staying = new Map<string, T>();
  const present = new Map(part.items.map((one) => [one.db_id, one]));
  for (const row of rows) {
    const old = present.get(row.db_id);
    if (old !== undefined && matches(row) && (compare === null || compare(old, row) === 0))
      staying.set(row.db_id, row);
  }
  let now: Part<T> = { ...part, items: part.items.map((one) => staying.get(one.db_id) ?? one) };
  for (const row of rows) if (!staying.has(row.db_id)) now = placed(now, row, rules);
  return now;
}

/** The number of rows up to that one, of sorted rows. */
function countUpTo<T>(rows: readonly T[], row: T, compare: (one: T, other: T) => number): number {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(rows[middle] as T, row) <= 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** With the pages' starts where they are now among the rows. */
export function aligned<T>(part: Part<T>, compare: Rules<T>['compare']): Part<T> {
  if (compare === null) return part;
  const pages = part.pages.map((one) =>
    one.after === null ? one : { ...one, at: countUpTo(part.items, one.after, compare) },
  );
  return { ...part, pages };
}

/**
 * The starts of pages after one was read again. The page that follows begins where this answer ends: rows that came or
 * went would otherwise leave others between the two that no reading covers.
 */
export function readAgain<T>(
  part: Part<T>,
  start: PageStart<T>,
  page: Part<T>,
  compare: Rules<T>['compare'],
): Part<T> {
  const index = part.pages.findIndex(({ cursor }) => cursor === start.cursor);
  if (index === -1) return part;
  const { next, end } = page;
  const asked = page.pages[0]?.asked ?? start.asked;
  const pages = part.pages.with(index, { ...start, asked });
  if (compare === null) {
    const isGrown = part.next === null && index === pages.length - 1;
    return { ...part, pages, ...(isGrown && { next, end }) };
  }
  const read = pages.slice(0, index + 1);
  if (next === null || end === null) return { ...part, pages: read, next: null, end: end ?? start.after };
  // why: a cursor whose row moved may lead to rows before it
  if (start.after !== null && compare(end, start.after) <= 0) return { ...part, pages };
  const at = countUpTo(part.items, end, compare);
  if (at === part.items.length) return { ...part, pages: read, next, end };
  const before = part.pages.findLast((one) => one.at <= at) ?? start;
  const following = {
    cursor: next,
    asked: Math.min(before.asked, part.pages[index + 1]?.asked ?? before.asked),
    at,
    after: end,
  };
  return {
    ...part,
    pages: [...read, following, ...part.pages.slice(index + 2).filter((one) => one.at > at)],
  };
}

/** What a page of the list, read again, no longer has between its start and its last row. */
export function goneFrom<T extends Listed>(
  { items }: Part<T>,
  page: Part<T>,
  { after }: PageStart<T>,
  compare: Rules<T>['compare'],
): readonly T[] {
  const { next, end } = page;
  if (compare === null) return after === null && end === null ? items : [];
  const present = new Set(page.items.map(({ db_id }) => db_id));
  const isWithin = (row: T): boolean =>
    (after === null || compare(after, row) < 0) && (next === null || end === null || compare(row, end) < 0);
  return items.filter((row) => !present.has(row.db_id) && isWithin(row));
}

/** Whether pages alone do not say which rows there are: in an order of the service, or by their number. */
export const isOff = <T>({ items, next, total }: Part<T>, compare: Rules<T>['compare']): boolean =>
  compare === null || (next === null && items.length !== total);
