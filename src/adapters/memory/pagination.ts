import { type Page, type PageRequest, UnknownPage } from '../../ports/pagination.ts';

/** A part of a list, newest first or reversed, continued after the last item's id. */
export function pageOf<T extends { readonly id: string }>(
  newestFirst: readonly T[],
  { after, limit, oldestFirst = false }: PageRequest,
): Page<T> {
  const all = oldestFirst ? newestFirst.toReversed() : newestFirst;
  const last = after === null ? -1 : all.findIndex(({ id }) => id === after);
  if (after !== null && last === -1) throw new UnknownPage('no such position in the list');
  const items = all.slice(last + 1, last + 1 + limit);
  const more = last + 1 + limit < all.length;
  return { items, next: more ? (items.at(-1)?.id ?? null) : null };
}
