import { type Api, at, type CallOptions, dataOf, type Schemas } from '../request/api.ts';
import { listAt } from '../request/lists.ts';

/**
 * The containers of all users, for administrators. `id` is a `db_id`. `delete` and `transfer` need a `password` or
 * `code` if the sign-in is old, and refuse API tokens.
 */
export const adminContainersOf = (api: Api) => ({
  list: listAt(api, '/api/admin/containers', 'containers'),
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
