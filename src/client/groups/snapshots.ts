import { type Api, at, type CallOptions, dataOf, type Schemas } from '../request/api.ts';
import { listAt } from '../request/lists.ts';

/** Copies of the caller's containers with their volumes. `container` is a runtime id or a `db_id`. */
export const snapshotsOf = (api: Api) => ({
  list: listAt(api, '/api/snapshots', 'snapshots'),
  get: (id: string, options?: CallOptions) => dataOf(api.GET('/api/snapshots/{id}', at(id, options))),
  /** Takes one; a running container is paused meanwhile. The answer may still be `creating`. */
  take: (container: string, body: Schemas['SnapshotRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/containers/{id}/snapshots', { body, ...at(container, options) })),
  /** Makes containers with the current files of another. The answer may still be `creating`. */
  fork: (container: string, body: Schemas['ForkRequest'] = {}, options?: CallOptions) =>
    dataOf(api.POST('/api/containers/{id}/forks', { body, ...at(container, options) })),
  /** Undoes a deletion; `list({ deleted: 'true' })` has those that can be restored. */
  restore: (id: string, body: Schemas['SnapshotRestore'] = {}, options?: CallOptions) =>
    dataOf(api.POST('/api/snapshots/{id}/restore', { body, ...at(id, options) })),
  /** Deletes one. Containers made from it stay. */
  delete: (id: string, options?: CallOptions) => dataOf(api.DELETE('/api/snapshots/{id}', at(id, options))),
});

export type Snapshots = ReturnType<typeof snapshotsOf>;
