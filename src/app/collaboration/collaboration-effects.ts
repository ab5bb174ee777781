import type { RequestOrigin } from '../../domain/identity/caller.ts';
import { unreachable } from '../../domain/result.ts';
import {
  type Collaboration,
  type CollaborationEffect,
  decideCollaboration,
  participantSession,
} from '../../domain/terminals/collaboration.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import { handleOf } from '../containers/find-container.ts';
import { publishShareChange } from './shared-terminals.ts';

export type CollaborationEffectDeps = {
  readonly storage: Storage;
  readonly backend: Pick<TerminalBackend, 'killMuxSession'>;
  readonly bus: Bus;
  readonly log: Logger;
};

/** In the transaction of the container's delete; participants' sockets close with its terminals. */
export async function endSharesOf(tx: Repositories, dbId: string, origin: RequestOrigin): Promise<void> {
  const action = 'collaboration_ended';
  for (const ended of await tx.collaborations.endAllOf(dbId)) {
    await tx.audit.append({ userId: ended.ownerId, action, ...origin, details: detailsOf(ended) });
  }
}

const detailsOf = ({ id, dbId, mode }: Collaboration, participantId?: string): string =>
  JSON.stringify({ id, container_id: dbId, mode, participant_id: participantId });

const SESSIONS_LEFT = 'could not end the sessions of a collaboration; retrying later';

const NOWHERE: RequestOrigin = { ipAddress: '', userAgent: '' };

/** Effects written with the decision; the others follow the commit. */
async function writeOne(
  tx: Repositories,
  collaboration: Collaboration,
  effect: CollaborationEffect,
  origin: RequestOrigin,
): Promise<void> {
  const { id: collaborationId } = collaboration;
  switch (effect.do) {
    case 'admit':
      return await tx.participations.admit({ collaborationId, ...effect });
    case 'dismiss':
      return await tx.participations.dismiss({ collaborationId, ...effect });
    case 'put_out':
      return await tx.participations.putOut({ collaborationId, ...effect });
    case 'end':
      return await tx.collaborations.end(collaborationId);
    case 'record': {
      const { action, userId, participantId } = effect;
      const details = detailsOf(collaboration, participantId);
      return await tx.audit.append({ userId, action, ...origin, details });
    }
    case 'announce':
    case 'end_sessions':
      return;
    default:
      unreachable(effect);
  }
}

async function write(
  tx: Repositories,
  collaboration: Collaboration,
  effects: readonly CollaborationEffect[],
  origin: RequestOrigin,
): Promise<void> {
  for (const effect of effects) await writeOne(tx, collaboration, effect, origin);
}

/** The effects of decisions about collaborations: in the database, in other processes, and in containers. */
export function collaborationEffects(deps: CollaborationEffectDeps) {
  const { log } = deps;
  const { collaborationCleanup } = deps.storage.repositories;
  return {
    write,

    follow: (collaboration: Collaboration, effects: readonly CollaborationEffect[]): void =>
      follow(deps, collaboration, effects),

    /** Ends expired collaborations, and leftover sessions of ended ones; for a timer. */
    async keep(): Promise<void> {
      for (const id of await collaborationCleanup.overdue()) await end(deps, id);
      for (const id of await collaborationCleanup.awaitingCleanUp()) {
        await cleanUpEnded(deps, id).catch((err: unknown) => log.warn({ err, id }, SESSIONS_LEFT));
      }
    },
  };
}

function follow(
  deps: CollaborationEffectDeps,
  collaboration: Collaboration,
  effects: readonly CollaborationEffect[],
): void {
  const { bus, log } = deps;
  const { id, dbId } = collaboration;
  for (const effect of effects) {
    switch (effect.do) {
      case 'announce':
        publishShareChange(bus, dbId);
        break;
      case 'end_sessions':
        endSessions(deps, collaboration, effect.userIds).catch((err: unknown) =>
          log.warn({ err, id }, SESSIONS_LEFT),
        );
        break;
      case 'admit':
      case 'dismiss':
      case 'put_out':
      case 'end':
      case 'record':
        break;
      default:
        unreachable(effect);
    }
  }
}

/** Keeps the session of a user who may type there by another collaboration. */
async function endSessions(
  { storage: { repositories }, backend }: CollaborationEffectDeps,
  { id, dbId }: Collaboration,
  userIds: readonly string[],
): Promise<void> {
  const container = await repositories.containers.findAny(dbId);
  const handle = container?.state === 'deleted' ? null : container && handleOf(container);
  if (handle === null) return;
  const leftovers = new Set(await repositories.collaborationCleanup.leftovers(id));
  const left = userIds.filter((userId) => leftovers.has(userId));
  await Promise.all(left.map((userId) => backend.killMuxSession(handle, participantSession(userId))));
}

/** Ends the sessions that an ended collaboration left in its container, of earlier participants too. */
async function cleanUpEnded(deps: CollaborationEffectDeps, id: string): Promise<void> {
  const { collaborations, collaborationCleanup } = deps.storage.repositories;
  const ended = await collaborations.find(id);
  if (ended?.mode === 'control') await endSessions(deps, ended, await collaborationCleanup.leftovers(id));
  await collaborationCleanup.markCleanedUp(id);
}

async function end(deps: CollaborationEffectDeps, id: string): Promise<void> {
  const done = await deps.storage.inTransaction(async (tx) => {
    const locked = await tx.collaborations.findForUpdate(id);
    const decided = locked && decideCollaboration(locked, { type: 'time_over' });
    if (locked === null || decided === null || !decided.ok) return null;
    await write(tx, locked, decided.value, NOWHERE);
    return { locked, effects: decided.value };
  });
  if (done !== null) follow(deps, done.locked, done.effects);
}
