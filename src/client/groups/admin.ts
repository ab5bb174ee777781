import { type Api, type CallOptions, dataOf, type ListQuery, type Schemas } from '../request/api.ts';
import { List } from '../request/pages.ts';
import type { Requester } from '../request/requester.ts';
import { adminContainersOf } from './admin-containers.ts';
import { auditOf } from './audit.ts';
import { invitationsOf, resetLinksOf, usersOf } from './people.ts';

const at = (id: string, options?: CallOptions) => ({ params: { path: { id } }, ...options });

/** For administrators. */
export const adminOf = (api: Api, requester: Requester) => ({
  audit: auditOf(api, requester, '/api/admin/audit'),
  users: usersOf(api),
  invitations: invitationsOf(api),
  resetLinks: resetLinksOf(api),
  containers: adminContainersOf(api),
  terminals: terminalsOf(api),
  settings: {
    get: (options?: CallOptions) => dataOf(api.GET('/api/admin/settings', { ...options })),
    update: (body: Schemas['SettingsChange'], options?: CallOptions) =>
      dataOf(api.PATCH('/api/admin/settings', { body, ...options })),
  },
  /** How many deleted containers of all users still have their volume, and the disk that the volumes use. */
  deletedContainers: (options?: CallOptions) =>
    dataOf(api.GET('/api/admin/deleted-containers', { ...options })),
  announcements: announcementsOf(api),
  /** What the machines of the engines have, what their containers may use, and what they use. */
  capacity: (options?: CallOptions) => dataOf(api.GET('/api/admin/capacity', { ...options })),
  /** What each user uses. */
  usage: (query: ListQuery<'/api/admin/usage'> = {}, options?: CallOptions) =>
    new List<Schemas['Usage']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/usage', { params, ...options }));
      return { items: answer.usage, next: answer.next_cursor };
    }),
  health: healthOf(api),
  tiers: tiersOf(api),
  images: imagesOf(api),
  roles: rolesOf(api),
});

const healthOf = (api: Api) => ({
  /** Each component and process, now. */
  get: (options?: CallOptions) => dataOf(api.GET('/api/admin/health', { ...options })),
  /** The outages, newest first. */
  history: (query: ListQuery<'/api/admin/health/history'> = {}, options?: CallOptions) =>
    new List<Schemas['Outage']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/health/history', { params, ...options }));
      return { items: answer.outages, next: answer.next_cursor ?? null };
    }),
});

const announcementsOf = (api: Api) => ({
  /** Scheduled and ended ones too. */
  list: async (options?: CallOptions) =>
    (await dataOf(api.GET('/api/admin/announcements', { ...options }))).announcements,
  create: (body: Schemas['NewAnnouncementRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/announcements', { body, ...options })),
  update: (id: string, body: Schemas['AnnouncementChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/announcements/{id}', { body, ...at(id, options) })),
  delete: (id: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/announcements/{id}', at(id, options))),
});

const terminalsOf = (api: Api) => ({
  list: (query: ListQuery<'/api/admin/terminals'> = {}, options?: CallOptions) =>
    new List<Schemas['Terminal']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/terminals', { params, ...options }));
      return { items: answer.terminals, next: answer.next_cursor };
    }),
  close: (id: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/terminals/{id}', at(id, options))),
});

const tiersOf = (api: Api) => ({
  list: (query: ListQuery<'/api/admin/tiers'> = {}, options?: CallOptions) =>
    new List<Schemas['Tier']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/tiers', { params, ...options }));
      return { items: answer.tiers, next: answer.next_cursor };
    }),
  create: (body: Schemas['NewTierRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/tiers', { body, ...options })),
  update: (name: string, body: Schemas['TierChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/tiers/{id}', { body, ...at(name, options) })),
  delete: (name: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/tiers/{id}', at(name, options))),
});

const imagesOf = (api: Api) => ({
  list: (query: ListQuery<'/api/admin/images'> = {}, options?: CallOptions) =>
    new List<Schemas['Image']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/images', { params, ...options }));
      return { items: answer.images, next: answer.next_cursor };
    }),
  create: (body: Schemas['NewImageRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/images', { body, ...options })),
  update: (key: string, body: Schemas['ImageChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/images/{id}', { body, ...at(key, options) })),
  delete: (key: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/images/{id}', at(key, options))),
});

const rolesOf = (api: Api) => ({
  list: (query: ListQuery<'/api/admin/roles'> = {}, options?: CallOptions) =>
    new List<Schemas['Role']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/roles', { params, ...options }));
      return { items: answer.roles, next: answer.next_cursor };
    }),
  create: (body: Schemas['NewRoleRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/roles', { body, ...options })),
  update: (key: string, body: Schemas['RoleChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/roles/{id}', { body, ...at(key, options) })),
  delete: (key: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/roles/{id}', at(key, options))),
});
