import type { RemoveUser } from '../../../../../app/containers/removal/remove-user.ts';
import { Refusal } from '../../../../../domain/errors.ts';
import type { ContainerPlan } from '../../../../../domain/identity/people/user-removal.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { IdParams } from '../../../schema/common.ts';
import { UserDeletedBody, UserDeletionRequest } from '../../../schema/identity/people/users.ts';
import type { Routes } from '../../../server.ts';

export const userRemovalRoutes =
  (removeUser: RemoveUser): Routes =>
  (http) => {
    http.delete(
      '/api/admin/users/:id',
      operation('adminUsers.delete', 'Delete a user', {
        config: { scope: 'admin', failure: 'failed to delete user' },
        refusals: [
          ...refusals.CONFIRMATION,
          ...(['login_token_required', 'user_not_found', 'own_account'] as const),
          ...(['last_administrator', 'user_has_containers', 'user_receives_containers'] as const),
        ],
        params: IdParams,
        body: UserDeletionRequest,
        response: { 200: UserDeletedBody, 202: UserDeletedBody },
      }),
      async ({ params, body: { containers, to, ...given }, caller, origin }, reply) => {
        const plan = planOf(containers, to);
        const { userId, isDone } = orThrow(await removeUser(params.id, plan, given, caller, origin));
        return reply.code(isDone ? 200 : 202).send({ id: userId, deleted: isDone });
      },
    );
  };

function planOf(containers: ContainerPlan['kind'] | undefined, to: string | undefined): ContainerPlan | null {
  const isTransfer = containers === 'transfer';
  if (isTransfer !== (to !== undefined)) {
    throw new Refusal({
      code: 'validation_failed',
      fields: { to: isTransfer ? 'is required' : 'belongs to containers: transfer' },
    });
  }
  if (to !== undefined) return { kind: 'transfer', toUserId: to };
  return containers === undefined ? null : { kind: 'delete' };
}
