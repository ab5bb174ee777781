import { del, getPage, patch, post, under, wholeList } from '../calls.ts';
import type { Invitation, ManagedUser, ResetLink } from '../types.ts';
import type { Proof } from './account.ts';

/** What administrators do with users, and the links that they make. */

const USERS = '/api/admin/users';
const INVITATIONS = '/api/admin/invitations';
const RESET_LINKS = '/api/admin/reset-links';

export type UserChange = {
  readonly tier?: string;
  readonly role?: ManagedUser['role'];
  readonly disabled?: boolean;
  readonly disabled_reason?: string | null;
  readonly ends_at?: string | null;
};

export const listUsers = (search: string) => (cursor: string | null) =>
  getPage<ManagedUser>(USERS, 'users', { search, cursor });

export const changeUser = (id: string, body: UserChange & Proof) =>
  patch<ManagedUser>(under(USERS, id), body);

/** `to`: the id of who gets the containers. */
export type DeletionPlan = { readonly containers?: 'delete' | 'transfer'; readonly to?: string };
type Deleted = { readonly deleted: boolean };

export const deleteUser = (id: string, body: DeletionPlan & Proof) => del<Deleted>(under(USERS, id), body);

/** A new link, with the address that is shown once. */
type Made<T> = T & { readonly url: string };

export const makeResetLink = (id: string, kind: ResetLink['kind'], proof: Proof) =>
  post<Made<ResetLink>>(`${under(USERS, id)}/reset-links`, { kind, ...proof });

export type NewInvitation = Pick<Invitation, 'role' | 'tier' | 'email'> & {
  readonly expires_in_hours: number;
  readonly account_ends_at: string | null;
};

export const invite = (body: NewInvitation & Proof) => post<Made<Invitation>>(INVITATIONS, body);

/** At most 1,000 links of both kinds are open. */
const OPEN = { state: 'open', limit: '200' } as const;

export const openInvitations = (): Promise<readonly Invitation[]> =>
  wholeList((cursor) => getPage<Invitation>(INVITATIONS, 'invitations', { ...OPEN, cursor }));

export const openResetLinks = (): Promise<readonly ResetLink[]> =>
  wholeList((cursor) => getPage<ResetLink>(RESET_LINKS, 'reset_links', { ...OPEN, cursor }));

export const withdrawInvitation = (id: string) => del(under(INVITATIONS, id));

export const withdrawResetLink = (id: string) => del(under(RESET_LINKS, id));
