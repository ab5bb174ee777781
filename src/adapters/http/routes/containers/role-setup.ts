import type { RoleSetups } from '../../../../app/containers/role-setup/role-setups.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import { ContainerParams } from '../../schema/common.ts';
import { ContainerBody } from '../../schema/containers/containers.ts';
import type { Routes } from '../../server.ts';
import { toContainerBody } from './container-body.ts';

const REFUSALS = {
  retry: [...refusals.INSIDE, 'guest_session_expired', 'role_setup_not_needed'],
  cancel: [...refusals.INSIDE, 'role_setup_not_active'],
} as const;

export const roleSetupRoutes =
  (setups: Pick<RoleSetups, 'retry' | 'cancel'>): Routes =>
  (http) => {
    for (const action of ['retry', 'cancel'] as const) {
      http.post(
        `/api/containers/:id/role-setup/${action}`,
        operation(
          `containers.${action}RoleSetup`,
          action === 'retry'
            ? 'Install the tools of the role again'
            : 'Stop installing the tools of the role',
          {
            config: {
              scope: 'write',
              forRestricted: true,
              makesRecord: true,
              failure: `failed to ${action} the role setup`,
            },
            refusals: REFUSALS[action],
            params: ContainerParams,
            response: { 200: ContainerBody },
          },
        ),
        async ({ params, caller, origin }) =>
          toContainerBody(orThrow(await setups[action](params.id, caller, origin))),
      );
    }
  };
