export type Page<T> = {
  readonly items: readonly T[];
  /** Where the next page begins; null or missing for the last one. */
  readonly next: string | null | undefined;
};

export type PageQuery = { readonly cursor?: string; readonly limit: string };

const PAGE_ITEMS = '200';

/** A list that is read page by page while it is iterated. */
export class List<T> implements AsyncIterable<T> {
  readonly #load: (query: PageQuery) => Promise<Page<T>>;

  constructor(load: (query: PageQuery) => Promise<Page<T>>) {
    this.#load = load;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }

  /** The items, up to 200 at a time. */
  async *pages(): AsyncGenerator<readonly T[], void, undefined> {
    let cursor: string | null | undefined;
    do {
      const query = { limit: PAGE_ITEMS, ...(typeof cursor === 'string' && { cursor }) };
      const { items, next } = await this.#load(query);
      yield items;
      cursor = next;
    } while (typeof cursor === 'string');
  }

  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.pages()) items.push(...page);
    return items;
  }
}
