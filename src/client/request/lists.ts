import type { paths } from '../generated/openapi.d.ts';
import { type Api, type CallOptions, dataOf, type ListQuery } from './api.ts';
import { List } from './pages.ts';

/** What a GET of the path answers. */
type AnswerAt<P extends keyof paths> = paths[P] extends {
  readonly get: {
    readonly responses: { readonly 200: { readonly content: { readonly 'application/json': infer A } } };
  };
}
  ? A
  : never;

type ItemOf<A, K extends keyof A> = A[K] extends readonly (infer Item)[] ? Item : never;

/** The call that lists what is at a path; its answers have the items in the field `key`. */
export const listAt =
  <P extends keyof paths, K extends keyof AnswerAt<P>>(api: Api, path: P, key: K) =>
  (query: ListQuery<P> = {} as ListQuery<P>, options?: CallOptions) =>
    new List<ItemOf<AnswerAt<P>, K>>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET(path as '/api/tokens', { params, ...options }));
      const { [key]: items, next_cursor: next } = answer as unknown as Answer<ItemOf<AnswerAt<P>, K>, K>;
      return { items, next };
    });

type Answer<Item, K extends PropertyKey> = Readonly<Record<K, readonly Item[]>> & {
  readonly next_cursor?: string | null;
};
