import type { Users } from '../../../../../app/identity/people/users.ts';
import type { Person } from '../../../../../ports/identity/people/person-repository.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import { paged, timeOrNull } from '../../../pagination.ts';
import * as refusals from '../../../refusals.ts';
import { bodyOf } from '../../../replies/bodies.ts';
import { IdParams } from '../../../schema/common.ts';
import * as schema from '../../../schema/identity/people/users.ts';
import { joinRoutes, type Routes } from '../../../server.ts';
import { linkUrl, toResetLinkBody } from './link-bodies.ts';

/** `publicUrl`: where browsers reach the page that sets a password. */
export const userRoutes = (users: Users, publicUrl: () => string): Routes =>
  joinRoutes(listRoute(users), createRoute(users, publicUrl), changeRoute(users));

const listRoute =
  (users: Users): Routes =>
  (http) => {
    http.get(
      '/api/admin/users',
      operation('adminUsers.list', 'List all users', {
        config: { scope: 'admin', failure: 'failed to list users' },
        querystring: schema.UserPageQuery,
        response: { 200: schema.UserPage },
      }),
      async ({ query: { role, tier, search, ...page }, caller, origin }) => {
        const filter = {
          ...(role === undefined ? {} : { role }),
          ...(tier === undefined ? {} : { tier }),
          ...(search === undefined ? {} : { search }),
        };
        const { items, next } = await paged(page, (request) => users.list(request, filter, caller, origin));
        return { users: items.map(toManagedUser), next_cursor: next };
      },
    );
  };

const createRoute =
  (users: Users, publicUrl: () => string): Routes =>
  (http) => {
    http.post(
      '/api/admin/users',
      operation('adminUsers.create', 'Create a user, with a link for the first password', {
        config: { scope: 'admin', failure: 'failed to create user' },
        refusals: [
          ...refusals.CONFIRMATION,
          ...(['login_token_required', 'token_dependent', 'link_limit_reached'] as const),
        ],
        body: schema.NewUserRequest,
        response: { 201: schema.UserCreatedBody },
      }),
      async ({ body: { password, code, ends_at, ...rest }, caller, origin }, reply) => {
        const asked = { ...rest, ...endOf(ends_at) };
        const { person, link } = orThrow(await users.create(asked, { password, code }, caller, origin));
        const url = linkUrl(publicUrl(), 'reset', link.code);
        return reply.code(201).send({ user: toManagedUser(person), link: { ...toResetLinkBody(link), url } });
      },
    );
  };

const changeRoute =
  (users: Users): Routes =>
  (http) => {
    http.patch(
      '/api/admin/users/:id',
      operation('adminUsers.update', "Change a user's tier, role or end, or disable the user", {
        config: { scope: 'admin', failure: 'failed to update user' },
        refusals: [
          ...refusals.CONFIRMATION,
          ...(['login_token_required', 'user_not_found'] as const),
          ...(['last_administrator', 'user_being_deleted'] as const),
        ],
        params: IdParams,
        body: schema.UserChangeRequest,
        response: { 200: schema.ManagedUserBody },
      }),
      async ({ params, body, caller, origin }) => {
        const { password, code, disabled_reason: disabledReason, ends_at, ...rest } = body;
        const reason = disabledReason === undefined ? {} : { disabledReason };
        const change = { ...rest, ...reason, ...endOf(ends_at) };
        const done = await users.change(params.id, change, { password, code }, caller, origin);
        return toManagedUser(orThrow(done));
      },
    );
  };

const endOf = (text: string | null | undefined) =>
  text === undefined ? {} : { endsAt: timeOrNull(text, 'ends_at') };

const serializeManagedUser = bodyOf(schema.ManagedUserBody);

const toManagedUser = ({ user, ...person }: Person) =>
  serializeManagedUser({
    ...user,
    ...person,
    beingDeleted: person.isBeingDeleted,
    passwordSet: person.hasPassword,
  });
