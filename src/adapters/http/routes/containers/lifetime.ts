import type { Containers } from '../../../../app/containers/containers.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import { ContainerParams } from '../../schema/common.ts';
import { LifetimeBody, LifetimeRequestBody } from '../../schema/containers/lifetime.ts';
import type { Routes } from '../../server.ts';
import { toLifetimeBody, toLifetimeRequest } from './lifetime-body.ts';

const url = '/api/containers/:id/lifetime';

/** When a container ends by itself. */
export const lifetimeRoutes =
  (containers: Pick<Containers, 'readLifetime' | 'changeLifetime'>): Routes =>
  (http) => {
    http.get(
      url,
      operation('containers.lifetime', 'Read when and why a container ends by itself', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read lifetime' },
        refusals: ['container_not_found', 'not_authorized', 'not_for_agents'],
        params: ContainerParams,
        response: { 200: LifetimeBody },
      }),
      async ({ params, caller }) => toLifetimeBody(orThrow(await containers.readLifetime(params.id, caller))),
    );

    http.patch(
      url,
      operation('containers.changeLifetime', 'Change when a container ends, or keep it longer', {
        config: {
          scope: 'write',
          forRestricted: true,
          makesRecord: true,
          failure: 'failed to change lifetime',
        },
        refusals: ['container_not_found', 'not_authorized', 'not_for_agents', 'guest_session_expired'],
        params: ContainerParams,
        body: LifetimeRequestBody,
        response: { 200: LifetimeBody },
      }),
      async ({ params, body, caller, origin }) => {
        const request = toLifetimeRequest(body);
        return toLifetimeBody(orThrow(await containers.changeLifetime(params.id, request, caller, origin)));
      },
    );
  };
