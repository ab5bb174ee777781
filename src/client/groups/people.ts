import { type Api, type CallOptions, dataOf, type ListQuery, type Schemas } from '../request/api.ts';
import { List } from '../request/pages.ts';

const at = (id: string, options?: CallOptions) => ({ params: { path: { id } }, ...options });

/**
 * Users, for administrators. A change that concerns an administrator needs a `password` or `code` if the sign-in is
 * old.
 */
export const usersOf = (api: Api) => ({
  list: (query: ListQuery<'/api/admin/users'> = {}, options?: CallOptions) =>
    new List<Schemas['ManagedUser']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/users', { params, ...options }));
      return { items: answer.users, next: answer.next_cursor };
    }),
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
  list: (query: ListQuery<'/api/admin/invitations'> = {}, options?: CallOptions) =>
    new List<Schemas['Invitation']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/invitations', { params, ...options }));
      return { items: answer.invitations, next: answer.next_cursor };
    }),
  create: (body: Schemas['InvitationRequest'] = {}, options?: CallOptions) =>
    dataOf(api.POST('/api/admin/invitations', { body, ...options })),
  withdraw: (id: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/invitations/{id}', at(id, options))),
});

/** Links that set a password, or remove the second factor. */
export const resetLinksOf = (api: Api) => ({
  list: (query: ListQuery<'/api/admin/reset-links'> = {}, options?: CallOptions) =>
    new List<Schemas['ResetLink']>(async (page) => {
      const params = { query: { ...query, ...page } };
      const answer = await dataOf(api.GET('/api/admin/reset-links', { params, ...options }));
      return { items: answer.reset_links, next: answer.next_cursor };
    }),
  withdraw: (id: string, options?: CallOptions) =>
    dataOf(api.DELETE('/api/admin/reset-links/{id}', at(id, options))),
});
