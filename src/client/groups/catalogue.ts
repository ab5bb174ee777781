import { type Api, type CallOptions, dataOf } from '../request/api.ts';

/** What containers can be made of. */
export const catalogueOf = (api: Api) => ({
  images: async (options?: CallOptions) => (await dataOf(api.GET('/api/images', { ...options }))).images,
  roles: async (options?: CallOptions) => (await dataOf(api.GET('/api/roles', { ...options }))).roles,
  /** What the container engine does. */
  engine: async (options?: CallOptions) => await dataOf(api.GET('/api/engine', { ...options })),
  tiers: async (options?: CallOptions) => (await dataOf(api.GET('/api/tiers', { ...options }))).tiers,
});
