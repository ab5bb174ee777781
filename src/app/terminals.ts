import { randomUUID } from 'node:crypto';
import { type Caller, isLocked, type Origin } from '../domain/caller.ts';
import type { Container } from '../domain/container.ts';
import type { DomainError } from '../domain/errors.ts';
import { ok, type Result, refuse } from '../domain/result.ts';
import { type CloseReason, muxSessionName, type TerminalKey, terminalKey } from '../domain/terminal.ts';
import { guestExpired } from '../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { Repositories, Storage } from '../ports/repositories.ts';
import type { PtyStream, TerminalBackend } from '../ports/terminal-backend.ts';
import { findOwn, handleOf } from './containers/access.ts';
import { type LiveTerminal, liveTerminals, type TerminalConnection } from './live-terminals.ts';

/** What a client asks for with the upgrade; values are valid already. */
export type TerminalAsk = {
  readonly connectionId: string;
  readonly cols: number;
  readonly rows: number;
  readonly forceNew: boolean;
};

/** The right to open one terminal, checked before the upgrade. */
export type TerminalGrant = {
  readonly caller: Caller;
  readonly container: Container;
  readonly ask: TerminalAsk;
  readonly origin: Origin;
};

/** A terminal that is open: its stream, and what to do when the socket has gone. */
export type OpenTerminal = {
  readonly id: string;
  readonly key: TerminalKey;
  readonly pty: PtyStream;
  resize(cols: number, rows: number): Promise<void>;
  /** The peer has answered a ping. */
  pinged(): void;
  release(): Promise<void>;
};

export type TerminalDeps = {
  readonly storage: Storage;
  readonly backend: TerminalBackend;
  readonly clock: Clock;
};

export type Terminals = ReturnType<typeof terminals>;

/** Opens terminals and knows the live ones of this process. */
export function terminals({ storage, backend, clock }: TerminalDeps) {
  const { repositories, inTransaction } = storage;
  const live = liveTerminals(clock);

  return {
    /** The checks that come before the upgrade. */
    async authorize(
      id: string,
      ask: TerminalAsk,
      caller: Caller,
      origin: Origin,
    ): Promise<Result<TerminalGrant, DomainError>> {
      const found = await findOwn(repositories, id, caller);
      if (!found.ok) return found;
      if (guestExpired(caller.user, clock.now())) return refuse({ code: 'guest_session_expired' });
      if (found.value.state !== 'running') return refuse({ code: 'container_not_running' });
      return ok({ caller, container: found.value, ask, origin });
    },

    /** Opens the pseudo-terminal behind an upgraded socket. Throws what the backend throws. */
    async open(grant: TerminalGrant, connection: TerminalConnection): Promise<OpenTerminal> {
      const handle = handleOf(grant.container);
      if (handle === null) throw new Error(`container ${grant.container.dbId} runs without a runtime id`);
      const { connectionId, cols, rows, forceNew } = grant.ask;
      const entry = liveEntry(grant, handle.runtimeId, connection, clock.now());
      live.register(entry);
      let pty: PtyStream | undefined;
      try {
        const muxSession = muxSessionName(connectionId);
        const { shell } = grant.container;
        pty = await backend.open(handle, { muxSession, cols, rows, forceNew, marker: entry.id, shell });
        entry.muxSession = pty.muxSession;
        await inTransaction((tx) => recordOpened(tx, entry, grant));
        return openTerminal(entry, grant, pty);
      } catch (error) {
        live.unregister(entry);
        await pty?.close().catch(() => undefined);
        throw error;
      }
    },

    /** Whether somebody may keep an open terminal, going by what is known of them now. */
    mayStay: (now: Caller): boolean => !isLocked(now) && !guestExpired(now.user, clock.now()),

    /** Those of this process, newest first. */
    list: live.list,
    find: live.find,

    /** Closes every terminal of a container. */
    closeAll(dbId: string, reason: CloseReason): void {
      live.close(reason, ({ containerId }) => containerId === dbId);
    },

    /** Closes every terminal of this process. */
    closeEverything: (reason: CloseReason): void => live.close(reason),

    /** Writes what is due of the records, and clears away those of processes that died; for a timer. */
    writeDue: () => live.writeDue(repositories.terminals),
  };

  function openTerminal(entry: LiveTerminal, grant: TerminalGrant, pty: PtyStream): OpenTerminal {
    return {
      id: entry.id,
      key: entry.key,
      pty,
      resize(cols, rows) {
        Object.assign(entry, { cols, rows });
        return pty.resize(cols, rows);
      },
      pinged() {
        entry.lastPingAt = clock.now();
      },
      async release() {
        live.unregister(entry);
        await pty.close();
        await inTransaction((tx) => recordClosed(tx, entry, grant));
      },
    };
  }
}

function liveEntry(
  { caller: { user }, container, ask }: TerminalGrant,
  runtimeId: string,
  connection: TerminalConnection,
  now: Date,
): LiveTerminal {
  return {
    id: randomUUID(),
    key: terminalKey(runtimeId, user.id, ask.connectionId),
    userId: user.id,
    username: user.username,
    containerId: container.dbId,
    containerName: container.name,
    connectionId: ask.connectionId,
    owner: container.ownerId === user.id,
    createdAt: now,
    connection,
    muxSession: null,
    cols: ask.cols,
    rows: ask.rows,
    lastPingAt: now,
  };
}

async function recordOpened(
  tx: Repositories,
  { id, userId, containerId }: LiveTerminal,
  { origin }: TerminalGrant,
): Promise<void> {
  await tx.terminals.insert({ id, userId, containerId });
  await tx.audit.append({ userId, action: 'terminal_opened', ...origin, details: containerId });
  await tx.containers.touch(containerId);
}

async function recordClosed(
  tx: Repositories,
  { id, userId, containerId }: LiveTerminal,
  { origin }: TerminalGrant,
): Promise<void> {
  await tx.terminals.remove(id);
  await tx.audit.append({ userId, action: 'terminal_closed', ...origin, details: containerId });
}
