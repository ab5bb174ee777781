import { Type } from '@sinclair/typebox';
import type {
  AdminContainers,
  ListedContainer,
} from '../../../../../app/containers/administration/admin-containers.ts';
import type { TransferContainer } from '../../../../../app/containers/administration/transfer-container.ts';
import { CONTAINER_STATES } from '../../../../../domain/containers/container.ts';
import {
  ADMINISTERED_SORTS,
  type AdministeredSort,
} from '../../../../../ports/containers/administration/administered-container-repository.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import { paged } from '../../../pagination.ts';
import * as refusals from '../../../refusals.ts';
import { Closed, DbIds, Flag, Text } from '../../../schema/common.ts';
import * as schema from '../../../schema/containers/admin-containers.ts';
import {
  ContainerBody,
  DeletedBody,
  StoppedBody,
  UnderWayBody,
} from '../../../schema/containers/containers.ts';
import { pageQuery, sortBy } from '../../../schema/pagination.ts';
import { joinRoutes, type Routes } from '../../../server.ts';
import { toContainerBody, toRemovedBody, toStoppedBody, toUnderWayBody } from '../container-body.ts';

const LIVE_STATES = CONTAINER_STATES.filter((state) => state !== 'deleted');

const ListQuery = Closed({
  ...pageQuery,
  sort: sortBy(ADMINISTERED_SORTS),
  owner: Type.Optional(Text({ maxLength: 64 })),
  status: Type.Optional(Type.Union(LIVE_STATES.map((state) => Type.Literal(state)))),
  ids: Type.Optional(DbIds),
  q: Type.Optional(
    Type.String({
      ...Text({ maxLength: 200 }),
      description: 'Part of the name, the owner’s name, the image or the role.',
    }),
  ),
  deleted: Flag({ description: '`true`: restorable deleted containers instead of live ones.' }),
});

/** The containers of all users, for administrators. */
export const adminContainerRoutes = (containers: AdminContainers, transfer: TransferContainer): Routes =>
  joinRoutes(
    listRoutes(containers),
    stopRoutes(containers),
    deletionRoutes(containers),
    transferRoutes(transfer),
  );

/** What an administrator sees: nothing that a program inside has written. */
const hidden = <B extends ContainerBody>(body: B): B => ({
  ...body,
  role_setup: { ...body.role_setup, detail: null },
});

const toListedBody = ({ container, keptUntil }: ListedContainer): ContainerBody => {
  const { deletedAt } = container;
  return {
    ...hidden(toContainerBody(container)),
    ...(deletedAt === null || keptUntil === null
      ? {}
      : { deleted_at: deletedAt.toISOString(), kept_until: keptUntil.toISOString() }),
  };
};

const NEWEST_FIRST = '-created_at';

const listRoutes =
  (containers: AdminContainers): Routes =>
  (http) => {
    http.get(
      '/api/admin/containers',
      operation('adminContainers.list', 'List the containers of all users', {
        config: { scope: 'admin', failure: 'failed to list containers' },
        querystring: ListQuery,
        response: { 200: schema.AdminContainerPage },
      }),
      async ({ query: { cursor, limit, sort = NEWEST_FIRST, ...query }, caller, origin }) => {
        const { owner, status, ids, q, deleted } = query;
        const order = { by: sort.replace(/^-/, '') as AdministeredSort, isReverse: sort.startsWith('-') };
        const filter = {
          isDeleted: deleted === 'true',
          ...(owner === undefined ? {} : { owner }),
          ...(status === undefined ? {} : { state: status }),
          ...(ids === undefined ? {} : { dbIds: ids.split(',') }),
          ...(q === undefined ? {} : { text: q }),
        };
        const page = {
          ...(cursor === undefined ? {} : { cursor }),
          ...(limit === undefined ? {} : { limit }),
        };
        const { items, next, total } = await paged(page, ({ after, limit: most }) =>
          containers.list({ after, limit: most, sort: order }, filter, caller, origin),
        );
        return { containers: items.map(toListedBody), next_cursor: next, total };
      },
    );
  };

const stopRoutes =
  (containers: AdminContainers): Routes =>
  (http) => {
    http.post(
      '/api/admin/containers/:id/stop',
      operation('adminContainers.stop', 'Stop a container of any user', {
        config: { scope: 'admin', failure: 'failed to stop container' },
        refusals: [...refusals.ENGINE, 'container_not_found', 'container_busy'],
        params: schema.AdminContainerParams,
        response: { 200: StoppedBody, 202: UnderWayBody },
      }),
      async ({ params, caller, origin }, reply) => {
        const { container, underWay } = orThrow(await containers.stop(params.id, caller, origin));
        if (underWay) return reply.code(202).send(hidden(toUnderWayBody(container)));
        return toStoppedBody(container);
      },
    );
  };

const deletionRoutes =
  (containers: AdminContainers): Routes =>
  (http) => {
    http.delete(
      '/api/admin/containers/:id',
      operation(
        'adminContainers.delete',
        'Delete a container of any user, which can be restored for some days',
        {
          config: { scope: 'admin', failure: 'failed to delete container' },
          refusals: [
            ...refusals.CONFIRMATION,
            ...refusals.ENGINE,
            ...(['login_token_required', 'container_not_found', 'container_busy'] as const),
          ],
          params: schema.AdminContainerParams,
          body: schema.AdminDeletionRequest,
          response: { 200: DeletedBody, 202: UnderWayBody },
        },
      ),
      async ({ params, body, caller, origin }, reply) => {
        const { container: gone, underWay } = orThrow(
          await containers.remove(params.id, body, caller, origin),
        );
        if (underWay) return reply.code(202).send(hidden(toUnderWayBody(gone)));
        return toRemovedBody(gone);
      },
    );

    http.post(
      '/api/admin/containers/:id/restore',
      operation('adminContainers.restore', 'Restore a deleted container to its owner', {
        config: { scope: 'admin', failure: 'failed to restore container' },
        refusals: [
          ...refusals.ENGINE,
          ...(['container_not_found', 'container_busy', 'host_disk_short'] as const),
          ...(['container_limit_reached', 'name_taken'] as const),
          ...refusals.CANNOT_START,
        ],
        params: schema.AdminContainerParams,
        response: { 200: ContainerBody, 202: UnderWayBody },
      }),
      async ({ params, caller, origin }, reply) => {
        const { container, underWay } = orThrow(await containers.restore(params.id, caller, origin));
        if (underWay) return reply.code(202).send(hidden(toUnderWayBody(container)));
        return hidden(toContainerBody(container));
      },
    );
  };

const transferRoutes =
  (transfer: TransferContainer): Routes =>
  (http) => {
    http.post(
      '/api/admin/containers/:id/transfer',
      operation('adminContainers.transfer', 'Stop a container and give it to another user', {
        config: { scope: 'admin', failure: 'failed to transfer container' },
        refusals: [
          ...refusals.CONFIRMATION,
          ...refusals.ENGINE,
          ...(['login_token_required', 'container_not_found', 'container_busy'] as const),
          ...(['container_limit_reached', 'user_not_found'] as const),
        ],
        params: schema.AdminContainerParams,
        body: schema.TransferRequest,
        response: { 200: ContainerBody, 202: UnderWayBody },
      }),
      async ({ params, body: { to, name, ...given }, caller, origin }, reply) => {
        const wanted = { to, ...(name === undefined ? {} : { name }) };
        const { container, underWay } = orThrow(await transfer(params.id, wanted, given, caller, origin));
        if (underWay) return reply.code(202).send(hidden(toUnderWayBody(container)));
        return hidden(toContainerBody(container));
      },
    );
  };
