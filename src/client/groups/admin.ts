import { type Api, at, type CallOptions, dataOf, type Schemas } from '../request/api.ts';
import { listAt } from '../request/lists.ts';
import type { Requester } from '../request/requester.ts';
import { adminContainersOf } from './admin-containers.ts';
import { auditOf } from './audit.ts';
import { invitationsOf, resetLinksOf, usersOf } from './people.ts';

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
  usage: listAt(api, '/api/admin/usage', 'usage'),
  health: healthOf(api),
  tiers: tiersOf(api),
  images: imagesOf(api),
  roles: rolesOf(api),
});

const healthOf = (api: Api) => ({
  /** Each component and process, now. */
  get: (options?: CallOptions) => dataOf(api.GET('/api/admin/health', { ...options })),
  /** The outages, newest first. */
  history: listAt(api, '/api/admin/health/history', 'outages'),
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
  list: listAt(api, '/api/admin/terminals', 'terminals'),
  close: (id: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/terminals/{id}', at(id, options))),
});

const tiersOf = (api: Api) => ({
  list: listAt(api, '/api/admin/tiers', 'tiers'),
  create: (body: Schemas['NewTierRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/tiers', { body, ...options })),
  update: (name: string, body: Schemas['TierChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/tiers/{id}', { body, ...at(name, options) })),
  delete: (name: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/tiers/{id}', at(name, options))),
});

const imagesOf = (api: Api) => ({
  list: listAt(api, '/api/admin/images', 'images'),
  create: (body: Schemas['NewImageRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/images', { body, ...options })),
  update: (key: string, body: Schemas['ImageChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/images/{id}', { body, ...at(key, options) })),
  delete: (key: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/images/{id}', at(key, options))),
});

const rolesOf = (api: Api) => ({
  list: listAt(api, '/api/admin/roles', 'roles'),
  create: (body: Schemas['NewRoleRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/roles', { body, ...options })),
  update: (key: string, body: Schemas['RoleChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/roles/{id}', { body, ...at(key, options) })),
  delete: (key: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/roles/{id}', at(key, options))),
});
