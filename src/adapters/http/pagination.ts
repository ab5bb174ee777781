import { Refusal } from '../../domain/errors.ts';
import { type PageRequest, UnknownPage } from '../../ports/pagination.ts';

const DEFAULT_LIMIT = 50;

type PageQuery = {
  readonly cursor?: string;
  readonly limit?: string;
  readonly sort?: 'created_at' | '-created_at';
};

/** Reads a part of a list by the query's cursor; an unknown cursor is a fault of the query. */
export async function paged<T>(query: PageQuery, read: (request: PageRequest) => Promise<T>): Promise<T> {
  const { cursor = null, limit, sort } = query;
  try {
    return await read({
      after: cursor,
      limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
      oldestFirst: sort === 'created_at',
    });
  } catch (error) {
    if (!(error instanceof UnknownPage)) throw error;
    throw unknownCursor();
  }
}

export const unknownCursor = (): Refusal =>
  new Refusal({ code: 'validation_failed', fields: { cursor: 'is not a cursor from an earlier page' } });

// RFC 3339, as far as it is used: a day without a time has no zone.
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i;

/** A time of a field that may be null; throws for an invalid one. */
export const timeOrNull = (text: string | null, field: string): Date | null =>
  text === null ? null : (timesOf({ [field]: text }, [field])[field] ?? null);

/** Times of a query, by field; throws for an invalid one. */
export function timesOf<K extends string>(query: { readonly [F in K]?: string }, fields: readonly K[]) {
  const times: Partial<Record<K, Date>> = {};
  for (const field of fields) {
    const text = query[field];
    if (text === undefined) continue;
    const time = new Date(TIME.test(text) ? text : Number.NaN);
    if (Number.isNaN(time.getTime())) {
      throw new Refusal({
        code: 'validation_failed',
        fields: { [field]: 'must be an ISO 8601 time with a zone' },
      });
    }
    times[field] = time;
  }
  return times;
}
