/** A part of a long list. `after` is the `next` of the part before; null for the first. */
export type PageRequest = { readonly after: string | null; readonly limit: number };

/** `next` is null at the end. What a store makes of it is its own affair. */
export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };

/** `after` was never a `next`. */
export class UnknownPage extends Error {
  override name = 'UnknownPage';
}
