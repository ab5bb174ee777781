import { type AdminAct, reasonOf } from '../../../domain/containers/administration/administration.ts';
import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { parseContainerRef } from '../../../domain/containers/container-ref.ts';
import { keptUntil } from '../../../domain/containers/volume-retention.ts';
import { type Caller, credentialId, type RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type {
  AdministeredFilter,
  AdministeredRequest,
} from '../../../ports/containers/administration/administered-container-repository.ts';
import type { ContainerRepository } from '../../../ports/containers/container-repository.ts';
import type { Page } from '../../../ports/pagination.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { oncePer } from '../../audit/audit-view-log.ts';
import type { Proofs, RequireRecentSignIn } from '../../identity/sign-in/reauthentication.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { type Acted, restoreOf, takeDownFound } from '../container-lifecycle.ts';
import { pinged } from '../operations/operation-deps.ts';

const NOTE_EVERY_MS = 600_000;

export type AdminContainerDeps = Omit<ContainerDeps, 'terminals' | 'warmPool'> & {
  readonly confirmed: RequireRecentSignIn;
  readonly monotonicMs: () => number;
};

/** `keptUntil`: of a deleted one, the earliest end of its retention. */
export type ListedContainer = { readonly container: Container; readonly keptUntil: Date | null };

export type AdminContainers = ReturnType<typeof adminContainers>;

/**
 * The containers of all users, for administrators; the routes' scope checks that. Nothing here reaches terminals, files
 * or programs. Ids are those of rows.
 */
export function adminContainers(deps: AdminContainerDeps) {
  const isNew = oncePer(NOTE_EVERY_MS, deps.monotonicMs);
  return {
    /**
     * An administrator's view is recorded, once in a while per session or token. To read some by their ids, as for their
     * names, is no view of all.
     */
    async list(
      request: AdministeredRequest,
      filter: AdministeredFilter,
      { user, credential }: Caller,
      origin: RequestOrigin,
    ): Promise<Page<ListedContainer> & { readonly total: number }> {
      const { repositories } = deps.storage;
      const page = await listed(repositories, request, filter);
      if (filter.dbIds === undefined && isNew(credentialId(credential))) {
        const action = 'containers_listed';
        await repositories.audit.append({ userId: user.id, action, ...origin, details: '' });
      }
      return page;
    },

    stop: (id: string, caller: Caller, origin: RequestOrigin) => takeDown(deps, 'stop', id, caller, origin),

    /** Needs a confirmed sign-in, never an API token. */
    async remove(id: string, given: Proofs, caller: Caller, origin: RequestOrigin): AsyncResult<Acted> {
      const found = await findLive(deps.storage.repositories, id);
      if (!found.ok) return found;
      const sure = await deps.confirmed(caller, given, origin);
      return sure.ok ? await takeDown(deps, 'delete', id, caller, origin) : sure;
    },

    /** Within the limits of its owner, as the owner would. */
    restore: (id: string, caller: Caller, origin: RequestOrigin) => restore(deps, id, caller, origin),
  };
}

async function listed(
  { administeredContainers, settings }: Repositories,
  request: AdministeredRequest,
  filter: AdministeredFilter,
): Promise<Page<ListedContainer> & { readonly total: number }> {
  const [{ items, next, total }, { retentionDays }] = await Promise.all([
    administeredContainers.page(request, filter),
    settings.read(),
  ]);
  const withEnd = items.map(({ container, isGuests }) => {
    const { deletedAt } = container;
    return {
      container,
      keptUntil: deletedAt === null ? null : keptUntil({ deletedAt, isGuests }, retentionDays),
    };
  });
  return { items: withEnd, next, total };
}

/** A live container of any user, by the row's id. */
export async function findLive(
  { containers }: Pick<Repositories, 'containers'>,
  id: string,
): AsyncResult<Container> {
  const found = await findRow(containers, id);
  const isThere = found !== null && found.state !== 'deleted' && !isAgent(found);
  return isThere ? ok(found) : refuse({ code: 'container_not_found' });
}

async function findRow(containers: Pick<ContainerRepository, 'findAny'>, id: string) {
  const ref = parseContainerRef(id);
  return ref?.kind === 'db_id' ? await containers.findAny(ref.dbId) : null;
}

async function takeDown(
  deps: AdminContainerDeps,
  kind: AdminAct & ('stop' | 'delete'),
  id: string,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Acted> {
  const answers = pinged(deps);
  const found = await findLive(deps.storage.repositories, id);
  if (!found.ok) return found;
  const request = { kind, caller, origin, ...reasonOf(kind, found.value, caller.user.id) };
  return await takeDownFound(deps, request, found.value, answers, findLive);
}

async function restore(
  deps: AdminContainerDeps,
  id: string,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Acted> {
  const { containers, users } = deps.storage.repositories;
  const found = await findRow(containers, id);
  const owner = found === null || isAgent(found) ? null : await users.findById(found.ownerId);
  if (found === null || owner === null) return refuse({ code: 'container_not_found' });
  const request = { kind: 'restore', caller, origin, ...reasonOf('restore', found, caller.user.id) } as const;
  return await restoreOf(deps, request, found.dbId, owner);
}
