import { signal } from '@preact/signals';
import { hasStatus } from '../../api/errors.ts';
import {
  aligned,
  EMPTY,
  goneFrom,
  isOff,
  joined,
  type Listed,
  type ListPage,
  type PageStart,
  type Part,
  placed,
  type Rules,
  readAgain,
  replaced,
  without,
} from './part.ts';

type Source<T, Q> = {
  readonly readPage: (query: Q, cursor: string | null) => Promise<ListPage<T>>;
  readonly rulesOf: (query: Q) => Rules<T>;
};

export type Loaded<T, Q> = Part<T> & { readonly query: Q };

/** What an answer says of a row; null: there is no such row. `asked` numbers the question. */
type Known<T> = { readonly row: T | null; readonly asked: number };

type More = { readonly of: unknown; readonly cursor: string; readonly done: Promise<void> };

/** The index of the first and of the last row on screen. */
export type View = readonly [number, number];

/** A longer list, of more than one page, is read again only in part. */
const READ_WHOLE = 200;
/** For one refresh. What moved between the pages is read the next time. */
const READS_AT_ONCE = 4;
/** At most so often, a long list is read as a whole, which takes a request for each page. */
const WHOLE_EVERY_MS = 60_000;

/**
 * The start of a list, which grows by pages and is read again in parts. Answers come in any order: of each row, the one
 * that was asked for last counts.
 */
export class PartialList<T extends Listed, Q> {
  readonly loaded = signal<Loaded<T, Q> | null>(null);
  readonly #source: Source<T, Q>;
  readonly #known = new Map<string, Known<T>>();
  #asked = 0;
  #staleBefore = 0;
  #wholeAtMs = 0;
  #wholeSince = 0;
  #more: More | null = null;

  constructor(source: Source<T, Q>) {
    this.#source = source;
  }

  /** Whether it is too long to be read again as a whole for each change. */
  isLong = (query: Q): boolean => this.#sizeOf(query) > READ_WHOLE;

  /** Reads it again: of a long list, the pages with the first and the last row on screen. */
  async refresh(query: Q, view: View, isWanted: () => boolean): Promise<void> {
    if (!this.isLong(query)) return await this.readWhole(query, isWanted);
    if (!this.isStaleIn(view)) this.markStale();
    for (let reads = 0; reads < READS_AT_ONCE; reads += 1) {
      const start = this.#staleIn(view);
      if (start === undefined) break;
      await this.#orWhole(query, () => this.#readFrom(start));
    }
    if (performance.now() - this.#wholeAtMs <= WHOLE_EVERY_MS || this.loaded.value === null) return;
    if (isOff(this.loaded.value, this.#source.rulesOf(query).compare)) await this.readWhole(query, isWanted);
  }

  /** Reads from the start, at least as much as is loaded. Shows it only if it is still wanted then. */
  async readWhole(query: Q, isWanted: () => boolean): Promise<void> {
    this.#wholeAtMs = performance.now();
    const since = this.#asked;
    let part: Part<T> = EMPTY;
    do {
      part = await this.#withPage(part, query, part.next);
    } while (part.next !== null && part.items.length < this.#sizeOf(query));
    if (!isWanted()) return;
    this.#show(query, this.#withNewer(part, since, query));
    this.#forgetUpTo(since);
  }

  /** Keeps no old answer for a row that the list no longer has. */
  #forgetUpTo(since: number): void {
    this.#wholeSince = since;
    const present = new Set(this.loaded.value?.items.map(({ db_id }) => db_id));
    for (const [dbId, { asked }] of this.#known)
      if (asked <= since && !present.has(dbId)) this.#known.delete(dbId);
  }

  /** Reads the next page, if there is one. What another reading has changed at the end since then stays. */
  readMore(): Promise<void> {
    const before = this.loaded.value;
    if (before === null || before.next === null) return Promise.resolve();
    const { query, next: cursor } = before;
    if (this.#more?.of === query && this.#more.cursor === cursor) return this.#more.done;
    const done = this.#orWhole(query, () => this.#append(query, cursor)).finally(() => {
      if (this.#more?.done === done) this.#more = null;
    });
    this.#more = { of: query, cursor, done };
    return done;
  }

  /** Another version of the service may refuse the cursors that are known. */
  async #orWhole(query: Q, read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (failure) {
      if (!hasStatus(failure, 400)) throw failure;
      await this.readWhole(query, () => this.loaded.value?.query === query);
    }
  }

  async #append(query: Q, cursor: string): Promise<void> {
    const since = this.#asked;
    const page = await this.#withPage(EMPTY, query, cursor);
    const now = this.loaded.value;
    if (now?.query !== query || now.next !== cursor) return;
    const asked = page.pages[0]?.asked ?? since;
    const part = { ...joined(now, page, { cursor, asked }), end: page.end ?? now.end };
    this.#show(query, this.#withNewer(part, since, query));
  }

  /** Reads the page again that has the row at that index. */
  async readAround(index: number): Promise<void> {
    const start = this.loaded.value?.pages.findLast(({ at }) => at <= index);
    if (start !== undefined) await this.#readFrom(start);
  }

  async #readFrom(start: PageStart<T>): Promise<void> {
    const before = this.loaded.value;
    if (before === null) return;
    const { query } = before;
    const since = this.#asked;
    const page = await this.#withPage(EMPTY, query, start.cursor);
    const now = this.loaded.value;
    if (now?.query !== query) return;
    const part = readAgain(now, start, page, this.#source.rulesOf(query).compare);
    const renewed = { ...this.#renewed(part, page, start, query), total: page.total };
    this.#show(query, this.#withNewer(renewed, since, query));
  }

  /** Reads one row again; it goes to where it belongs now. */
  async renew(dbId: string, read: () => Promise<T | null>): Promise<void> {
    this.#asked += 1;
    const asked = this.#asked;
    const row = await read();
    // why: a later reading of the whole list has not found it
    if (asked <= this.#wholeSince && !this.has(dbId)) return;
    const now = this.loaded.value;
    if (!this.#learn(dbId, row, asked) || now === null) return;
    const part = row === null ? without(now, dbId) : placed(now, row, this.#source.rulesOf(now.query));
    this.#show(now.query, part);
  }

  has = (dbId: string): boolean => this.loaded.value?.items.some(({ db_id }) => db_id === dbId) ?? false;

  /** Of the rows, those that were read longest ago. */
  oldest = (rows: readonly T[], count: number): readonly string[] =>
    rows
      .map(({ db_id }) => ({ db_id, asked: this.#known.get(db_id)?.asked ?? 0 }))
      .sort((one, other) => one.asked - other.asked)
      .slice(0, count)
      .map(({ db_id }) => db_id);

  /** From now on, each loaded page may be old until it is read again. */
  markStale(): void {
    this.#asked += 1;
    this.#staleBefore = this.#asked;
  }

  /** Whether a page with rows between these may be old. */
  isStaleIn = (view: View): boolean => this.#staleIn(view) !== undefined;

  #staleIn([first, last]: View): PageStart<T> | undefined {
    const pages = this.loaded.value?.pages ?? [];
    return pages.find(
      ({ at, asked }, index) =>
        asked < this.#staleBefore && at <= last && (pages[index + 1]?.at ?? Number.POSITIVE_INFINITY) > first,
    );
  }

  forget(): void {
    this.#known.clear();
    this.loaded.value = null;
  }

  #sizeOf = (query: Q): number => (this.loaded.value?.query === query ? this.loaded.value.items.length : 0);

  async #withPage(part: Part<T>, query: Q, cursor: string | null): Promise<Part<T>> {
    this.#asked += 1;
    const asked = this.#asked;
    const page = await this.#source.readPage(query, cursor);
    const isOrdered = this.#source.rulesOf(query).compare !== null;
    const items = page.items.flatMap((row) => {
      const isNewest = this.#learn(row.db_id, row, asked);
      const newest = this.#known.get(row.db_id)?.row ?? null;
      // why: what is newer may belong elsewhere
      return newest === null || (!isNewest && isOrdered) ? [] : [newest];
    });
    const end = page.items.at(-1) ?? part.end;
    return { ...joined(part, { ...page, items }, { cursor, asked }), end };
  }

  /** False where a newer answer is known. */
  #learn(dbId: string, row: T | null, asked: number): boolean {
    const before = this.#known.get(dbId);
    if (before !== undefined && before.asked > asked) return false;
    const isSame = before !== undefined && JSON.stringify(before.row) === JSON.stringify(row);
    this.#known.set(dbId, { row: isSame ? before.row : row, asked });
    return true;
  }

  /** With the rows of which something newer is known than the part says. */
  #withNewer(part: Part<T>, since: number, query: Q): Part<T> {
    const rules = this.#source.rulesOf(query);
    const present = new Set(part.items.map(({ db_id }) => db_id));
    let now = part;
    for (const [dbId, { row, asked }] of this.#known)
      if (row !== null && asked > since && !present.has(dbId)) now = placed(now, row, rules);
    return now;
  }

  /** With the rows of a page that was read again. */
  #renewed(part: Part<T>, page: Part<T>, start: PageStart<T>, query: Q): Part<T> {
    const rules = this.#source.rulesOf(query);
    const gone = goneFrom(part, page, start, rules.compare);
    const asked = page.pages[0]?.asked ?? 0;
    const old = gone.filter(({ db_id }) => (this.#known.get(db_id)?.asked ?? 0) < asked);
    // why: what left this page may have come to another
    if (old.length > 0) this.markStale();
    return old.reduce((now, { db_id }) => without(now, db_id), replaced(part, page.items, rules));
  }

  #show(query: Q, part: Part<T>): void {
    const before = this.loaded.value?.items ?? [];
    const isSame =
      before.length === part.items.length && before.every((row, index) => row === part.items[index]);
    // why: the same object draws nothing again
    const items = isSame ? before : part.items;
    this.loaded.value = { ...aligned({ ...part, items }, this.#source.rulesOf(query).compare), query };
  }
}
