import type { Users } from '../../../../app/identity/account/users.ts';
import { orThrow } from '../../errors.ts';
import { paged } from '../../pagination.ts';
import { IdParams } from '../../schema/common.ts';
import { UserBody } from '../../schema/sign-in.ts';
import { UserChangeRequest, UserPage, UserPageQuery } from '../../schema/users.ts';
import type { Routes } from '../../server.ts';
import { toUserBody } from './user-body.ts';

export const userRoutes =
  (users: Users): Routes =>
  (http) => {
    http.get(
      '/api/admin/users',
      {
        config: { scope: 'admin', failure: 'failed to list users' },
        schema: {
          operationId: 'adminUsers.list',
          summary: 'List all users',
          querystring: UserPageQuery,
          response: { 200: UserPage },
        },
      },
      async ({ query: { role, tier, ...page }, caller, origin }) => {
        const filter = { ...(role === undefined ? {} : { role }), ...(tier === undefined ? {} : { tier }) };
        const { items, next } = await paged(page, (request) => users.list(request, filter, caller, origin));
        return { users: items.map(toUserBody), next_cursor: next };
      },
    );

    http.patch(
      '/api/admin/users/:id',
      {
        config: { scope: 'admin', failure: 'failed to update user' },
        schema: {
          operationId: 'adminUsers.update',
          summary: "Change a user's tier or role, or disable the user",
          refusals: ['user_not_found', 'last_administrator'],
          params: IdParams,
          body: UserChangeRequest,
          response: { 200: UserBody },
        },
      },
      async ({ params, body, caller, origin }) =>
        toUserBody(orThrow(await users.change(params.id, body, caller, origin))),
    );
  };
