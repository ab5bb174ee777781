import { type Api, type CallOptions, dataOf, type ListQuery, type Schemas } from '../request/api.ts';
import { List } from '../request/pages.ts';

const at = (id: string, options?: CallOptions) => ({ params: { path: { id } }, ...options });

/**
 * The containers of all users, for administrators. `id` is a `db_id`. `delete` and `transfer` need a `password` or
 * `code` if the sign-in is old, and refuse API tokens.
 */
export const adminContainersOf = (api: Api) => ({
  list: (query: ListQuery<'/api/admin/containers'> = {}, options?: CallOptions) =>
    new List<Schemas['Container']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/containers', { params, ...options }));
      return { items: answer.containers, next: answer.next_cursor };
    }),
  stop: (id: string, options?: CallOptions) =>
    dataOf(api.POST('/api/admin/containers/{id}/stop', at(id, options))),
  /** It can be restored for some days. */
  delete: (id: string, body: Schemas['AdminContainerDeletionRequest'] = {}, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/containers/{id}', { body, ...at(id, options) })),
  /** To its owner, within the owner's limits. */
  restore: (id: string, options?: CallOptions) =>
    dataOf(api.POST('/api/admin/containers/{id}/restore', at(id, options))),
  /** Stops it and gives it to another user. A repeat changes nothing. */
  transfer: (id: string, body: Schemas['ContainerTransferRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/containers/{id}/transfer', { body, ...at(id, options) })),
});
