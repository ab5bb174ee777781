import { type Api, at, type CallOptions, dataOf, type Schemas } from '../request/api.ts';
import { listAt } from '../request/lists.ts';

/**
 * Users, for administrators. A change that concerns an administrator needs a `password` or `code` if the sign-in is
 * old.
 */
export const usersOf = (api: Api) => ({
  list: listAt(api, '/api/admin/users', 'users'),
  /** The answer has a `link` that sets the first password. */
  create: (body: Schemas['NewUserRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/users', { body, ...options })),
  update: (id: string, body: Schemas['UserChangeRequest'], options?: CallOptions) =>
    dataOf(api.PATCH('/api/admin/users/{id}', { body, ...at(id, options) })),
  delete: (id: string, body: Schemas['UserDeletionRequest'] = {}, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/users/{id}', { body, ...at(id, options) })),
  reset: (id: string, body: Schemas['ResetLinkRequest'], options?: CallOptions) =>
    dataOf(api.POST('/api/admin/users/{id}/reset-links', { body, ...at(id, options) })),
});

/** Links that make an account. */
export const invitationsOf = (api: Api) => ({
  list: listAt(api, '/api/admin/invitations', 'invitations'),
  create: (body: Schemas['InvitationRequest'] = {}, options?: CallOptions) =>
    dataOf(api.POST('/api/admin/invitations', { body, ...options })),
  withdraw: (id: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/invitations/{id}', at(id, options))),
});

/** Links that set a password, or remove the second factor. */
export const resetLinksOf = (api: Api) => ({
  list: listAt(api, '/api/admin/reset-links', 'reset_links'),
  withdraw: (id: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/reset-links/{id}', at(id, options))),
});
