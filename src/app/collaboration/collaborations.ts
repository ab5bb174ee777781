import { randomUUID } from 'node:crypto';
import type { Container } from '../../domain/containers/container.ts';
import { type Caller, type RequestOrigin, reaches } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { ok, refuse } from '../../domain/result.ts';
import {
  type Collaboration,
  type CollaborationEvent,
  type CollaborationMode,
  DEFAULT_MINUTES,
  decideCollaboration,
  MAX_COLLABORATIONS,
  minutesFaults,
} from '../../domain/terminals/collaboration.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { NewCollaboration } from '../../ports/terminals/collaboration-repository.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import type { AsyncResult } from '../async-result.ts';
import { findOwn } from '../containers/find-container.ts';
import { findWithHandle, refuseIfStopped } from '../containers/inside/running-container.ts';
import { mayMakeLasting } from '../identity/account/lasting-credential.ts';
import { lockCaller } from '../identity/account/lock-caller.ts';
import type { LoginThrottle } from '../identity/auth/login-throttle.ts';
import { newSecret, sha256 } from '../identity/auth/secrets.ts';
import { orRollBack } from '../transaction.ts';
import { type CollaborationEffectDeps, collaborationEffects } from './collaboration-effects.ts';
import { publishShareChange } from './shared-terminals.ts';

export type CollaborationDeps = CollaborationEffectDeps & {
  readonly backend: Pick<TerminalBackend, 'hasMultiplexer'>;
  readonly throttle: LoginThrottle;
  readonly clock: Clock;
  /** The origin that people open. */
  readonly publicUrl: () => string;
};

export type NewShare = { readonly mode: CollaborationMode; readonly minutes?: number | undefined };

/** The code is shown only now. */
export type Shared = { readonly collaboration: Collaboration; readonly code: string; readonly url: string };

export type Joined = { readonly collaboration: Collaboration; readonly container: Container };

const NOT_FOUND = refuse({ code: 'collaboration_not_found' } as const);

type State = CollaborationDeps & { readonly effects: ReturnType<typeof collaborationEffects> };

export type Collaborations = ReturnType<typeof collaborations>;

/** Sharing a main terminal: who may join, and how it ends. `shared-terminals.ts` has the open sockets. */
export function collaborations(deps: CollaborationDeps) {
  const { repositories } = deps.storage;
  const effects = collaborationEffects(deps);
  const state: State = { ...deps, effects };

  return {
    create: (id: string, share: NewShare, caller: Caller, origin: RequestOrigin): AsyncResult<Shared> =>
      create(state, id, share, caller, origin),

    /** The live ones of the caller's container, newest first. */
    async list(id: string, caller: Caller): AsyncResult<readonly Collaboration[]> {
      const found = await findOwn(repositories, id, caller);
      if (!found.ok) return found;
      return ok(await repositories.collaborations.listLive(found.value.dbId, caller.user.id));
    },

    /** Joins. Wrong codes are counted, for the user and for the address. */
    join: (code: string, caller: Caller, origin: RequestOrigin): AsyncResult<Joined> =>
      join(state, code, caller, origin),

    async get(id: string, caller: Caller): AsyncResult<Collaboration> {
      const found = isUuid(id) ? await repositories.collaborations.find(id.toLowerCase()) : null;
      return found !== null && mayBeSeenBy(found, caller) ? ok(found) : NOT_FOUND;
    },

    /** The owner ends it; a participant leaves for good. */
    remove: (id: string, caller: Caller, origin: RequestOrigin) =>
      change(state, id, { type: 'delete', userId: caller.user.id }, caller, origin),

    /** The owner removes a participant, whom the same code does not admit again. */
    putOut: (id: string, userId: string, caller: Caller, origin: RequestOrigin) =>
      change(
        state,
        id,
        { type: 'put_out', by: caller.user.id, userId: userId.toLowerCase() },
        caller,
        origin,
      ),

    keep: effects.keep,
  };
}

const mayBeSeenBy = ({ ownerId, endedAt, dbId, participants }: Collaboration, caller: Caller): boolean => {
  const { id } = caller.user;
  const isPart = ownerId === id || (endedAt === null && participants.some((one) => one.userId === id));
  return isPart && reaches(caller, dbId);
};

async function create(
  state: State,
  id: string,
  { mode, minutes = DEFAULT_MINUTES }: NewShare,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Shared> {
  const { storage, backend, bus, clock, publicUrl } = state;
  const found = await findWithHandle({ storage }, id, caller);
  if (!found.ok) return found;
  const fields = minutesFaults(minutes);
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  const { container, handle } = found.value;
  if (guestExpired(caller.user, clock.now())) return refuse({ code: 'guest_session_expired' });
  if (container.state !== 'running') return refuse({ code: 'container_not_running' });
  const muxed = await refuseIfStopped<boolean>(backend.hasMultiplexer(handle).then(ok));
  if (!muxed.ok) return muxed;
  if (!muxed.value) return refuse({ code: 'sharing_needs_tmux' });
  const code = newSecret();
  const { dbId } = container;
  const asked = { id: randomUUID(), dbId, ownerId: caller.user.id, mode, minutes, codeHash: sha256(code) };
  const made = await orRollBack(storage.inTransaction, (tx) => insert(state, tx, asked, caller, origin));
  if (!made.ok) return made;
  publishShareChange(bus, dbId);
  return ok({ collaboration: made.value, code, url: `${publicUrl()}/join#code=${code}` });
}

async function insert(
  { effects }: State,
  tx: Repositories,
  asked: NewCollaboration,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Collaboration> {
  const { dbId, ownerId } = asked;
  // Who joins stays after the caller's session has ended.
  const present = await lockCaller(tx, caller);
  if (!present.ok) return present;
  const lasting = await mayMakeLasting(tx, caller);
  if (!lasting.ok) return lasting;
  // An earlier delete has ended everything.
  const locked = await tx.roleSetups.findForUpdate(dbId);
  if (locked?.state !== 'running') return refuse({ code: 'container_not_running' });
  // It may have been given away before the lock.
  const own = await findOwn(tx, dbId, caller);
  if (!own.ok) return own;
  const live = await tx.collaborations.listLive(dbId, ownerId);
  if (live.length >= MAX_COLLABORATIONS)
    return refuse({ code: 'collaboration_limit_reached', max: MAX_COLLABORATIONS });
  const collaboration = await tx.collaborations.insert(asked);
  const action = 'collaboration_started';
  await effects.write(tx, collaboration, [{ do: 'record', action, userId: ownerId }], origin);
  return ok(collaboration);
}

async function join(
  { storage, throttle, clock, effects }: State,
  code: string,
  { user }: Caller,
  origin: RequestOrigin,
): AsyncResult<Joined> {
  if (guestExpired(user, clock.now())) return refuse({ code: 'guest_session_expired' });
  return await storage.inTransaction(async (tx): AsyncResult<Joined> => {
    const tried = await throttle.tryShared(tx, 'collaboration', user.id, origin, () =>
      tx.collaborations.findByCodeForUpdate(sha256(code)),
    );
    if (!tried.ok) return tried;
    if (tried.value === null) return NOT_FOUND;
    const event = { type: 'join', userId: user.id, now: clock.now() } as const;
    const decided = decideCollaboration(tried.value, event);
    if (!decided.ok) return decided;
    await effects.write(tx, tried.value, decided.value, origin);
    const collaboration = (await tx.collaborations.find(tried.value.id)) ?? tried.value;
    const container = await tx.containers.findAny(collaboration.dbId);
    return container === null ? NOT_FOUND : ok({ collaboration, container });
  });
}

async function change(
  { storage, effects }: State,
  id: string,
  event: CollaborationEvent,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Collaboration> {
  if (!isUuid(id)) return NOT_FOUND;
  const done = await orRollBack(storage.inTransaction, async (tx) => {
    const locked = await tx.collaborations.findForUpdate(id.toLowerCase());
    if (locked === null || !reaches(caller, locked.dbId)) return NOT_FOUND;
    const decided = decideCollaboration(locked, event);
    if (!decided.ok) return decided;
    await effects.write(tx, locked, decided.value, origin);
    const now = (await tx.collaborations.find(locked.id)) ?? locked;
    return ok({ locked, effects: decided.value, now });
  });
  if (!done.ok) return done;
  effects.follow(done.value.locked, done.value.effects);
  return ok(done.value.now);
}
