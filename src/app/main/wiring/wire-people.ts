import { invitationRoutes } from '../../../adapters/http/routes/identity/people/invitations.ts';
import { resetRoutes } from '../../../adapters/http/routes/identity/people/resets.ts';
import { userRoutes } from '../../../adapters/http/routes/identity/people/users.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import type { Clock } from '../../../ports/clock.ts';
import { invitations } from '../../identity/people/invitations.ts';
import { type ResetDeps, resets } from '../../identity/people/resets.ts';
import { users } from '../../identity/people/users.ts';

export type PeopleDeps = ResetDeps & { readonly clock: Clock; readonly monotonicMs: () => number };

/** What administrators do with users: invite, create, change, reset. */
export const peopleRoutes = (
  deps: PeopleDeps,
  secureCookie: boolean,
  publicUrl: () => string,
): readonly Routes[] => [
  userRoutes(users(deps), publicUrl),
  invitationRoutes({ invitations: invitations(deps), secureCookie, publicUrl }),
  resetRoutes({ resets: resets(deps), secureCookie, publicUrl }),
];
