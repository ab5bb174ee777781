import { type Api, at, type CallOptions, dataOf, type Schemas } from '../request/api.ts';
import { listAt } from '../request/lists.ts';

export type ContainerChange = Partial<Schemas['UpdateContainerRequest']>;

/** The containers that the caller may see. `id` is a runtime id, a `db_id` or an agent's id. */
export function containersOf(api: Api) {
  const get = (id: string, options?: CallOptions) => dataOf(api.GET('/api/containers/{id}', at(id, options)));
  return {
    get,
    list: listAt(api, '/api/containers', 'containers'),
    /** Creates and starts a container. The answer may still be `creating`: events report the end. */
    create: (body: Schemas['CreateContainerRequest'], options?: CallOptions) =>
      dataOf(api.POST('/api/containers', { body, ...options })),
    start: (id: string, options?: CallOptions) =>
      dataOf(api.POST('/api/containers/{id}/start', at(id, options))),
    stop: (id: string, options?: CallOptions) =>
      dataOf(api.POST('/api/containers/{id}/stop', at(id, options))),
    /** Changes the name or limits; what is not given stays. New limits restart the container. */
    update: async (id: string, change: ContainerChange, options?: CallOptions) => {
      const { name, resources } = await get(id, options);
      const body = { name, ...resources, ...change };
      return await dataOf(api.PATCH('/api/containers/{id}', { body, ...at(id, options) }));
    },
    /** It can be restored for some days. */
    delete: (id: string, options?: CallOptions) =>
      dataOf(api.DELETE('/api/containers/{id}', at(id, options))),
    /** `id`: the `db_id` of a deleted container, whose volume is still kept. */
    restore: (id: string, options?: CallOptions) =>
      dataOf(api.POST('/api/containers/{id}/restore', at(id, options))),
    /** Erases what is kept of a deleted container. `name` confirms which one. */
    purge: (id: string, name: string, options?: CallOptions) =>
      dataOf(api.POST('/api/containers/{id}/purge', { body: { name }, ...at(id, options) })),
    /** When and why it ends by itself. */
    lifetime: (id: string, options?: CallOptions) =>
      dataOf(api.GET('/api/containers/{id}/lifetime', at(id, options))),
    /** Changes when it ends by itself; absent fields stay, `null` removes an end. */
    setLifetime: (id: string, body: Schemas['LifetimeRequest'], options?: CallOptions) =>
      dataOf(api.PATCH('/api/containers/{id}/lifetime', { body, ...at(id, options) })),
    /** What would be lost if it were recreated. */
    changes: (id: string, options?: CallOptions) =>
      dataOf(api.GET('/api/containers/{id}/changes', at(id, options))),
    /** What running containers use, and have used in the last hour. `ids`: up to 100 `db_id`s. */
    figures: async (dbIds: readonly string[], options?: CallOptions) =>
      (await dataOf(api.GET('/api/figures', { params: { query: { ids: dbIds.join(',') } }, ...options })))
        .figures,
    stats: (id: string, options?: CallOptions) =>
      dataOf(api.GET('/api/containers/{id}/stats', at(id, options))),
    retryRoleSetup: (id: string, options?: CallOptions) =>
      dataOf(api.POST('/api/containers/{id}/role-setup/retry', at(id, options))),
    cancelRoleSetup: (id: string, options?: CallOptions) =>
      dataOf(api.POST('/api/containers/{id}/role-setup/cancel', at(id, options))),
  };
}

export type Containers = ReturnType<typeof containersOf>;
