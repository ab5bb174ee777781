/** A part of a long list. `after` is the previous part's `next`; null for the first. */
export type PageRequest = {
  readonly after: string | null;
  readonly limit: number;
  /** Otherwise newest first. */
  readonly oldestFirst?: boolean;
};

/** `next` is null at the end and opaque otherwise. */
export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };

/** `after` is no `next` of this list. */
export class UnknownPage extends Error {
  override name = 'UnknownPage';
}
