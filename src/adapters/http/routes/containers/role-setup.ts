import type { RoleSetups } from '../../../../app/containers/role-setup/role-setups.ts';
import { orThrow } from '../../errors.ts';
import { IdParams } from '../../schema/common.ts';
import { ContainerBody } from '../../schema/containers.ts';
import type { Routes } from '../../server.ts';
import { toContainerBody } from './container-body.ts';

export const roleSetupRoutes =
  (setups: Pick<RoleSetups, 'retry' | 'cancel'>): Routes =>
  (http) => {
    for (const action of ['retry', 'cancel'] as const) {
      http.post(
        `/api/containers/:id/role-setup/${action}`,
        {
          config: { scope: 'write', failure: `failed to ${action} the role setup` },
          schema: { params: IdParams, response: { 200: ContainerBody } },
        },
        async ({ params, caller, origin }) =>
          toContainerBody(orThrow(await setups[action](params.id, caller, origin))),
      );
    }
  };
