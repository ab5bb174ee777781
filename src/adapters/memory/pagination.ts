import { type Page, type PageRequest, UnknownPage } from '../../ports/pagination.ts';

/** A part of a sorted list, continued after the last item's id. */
export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  { after, limit }: PageRequest,
): Page<T> {
  const last = after === null ? -1 : all.findIndex(({ id }) => id === after);
  if (after !== null && last === -1) throw new UnknownPage('no such place in the list');
  const items = all.slice(last + 1, last + 1 + limit);
  const more = last + 1 + limit < all.length;
  return { items, next: more ? (items.at(-1)?.id ?? null) : null };
}
