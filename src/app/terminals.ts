import { randomUUID } from 'node:crypto';
import type { Caller, Origin } from '../domain/caller.ts';
import type { Container } from '../domain/container.ts';
import type { DomainError } from '../domain/errors.ts';
import { ok, type Result, refuse } from '../domain/result.ts';
import {
  CLOSE,
  type CloseReason,
  muxSessionName,
  type TerminalKey,
  terminalKey,
} from '../domain/terminal.ts';
import { guestExpired } from '../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { Storage } from '../ports/repositories.ts';
import type { PtyStream, TerminalBackend } from '../ports/terminal-backend.ts';
import { findOwn, handleOf } from './containers/access.ts';

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

/** The socket as the use case sees it. */
export type TerminalConnection = { close(reason: CloseReason): void };

/** A terminal that is open: its stream, and what to do when the socket has gone. */
export type OpenTerminal = {
  readonly id: string;
  readonly key: TerminalKey;
  readonly pty: PtyStream;
  release(): Promise<void>;
};

type Live = {
  readonly id: string;
  readonly dbId: string;
  readonly key: TerminalKey;
  readonly connection: TerminalConnection;
};

export type TerminalDeps = {
  readonly storage: Storage;
  readonly backend: TerminalBackend;
  readonly clock: Clock;
};

export type Terminals = ReturnType<typeof terminals>;

/** Opens terminals and knows the live ones of this process. */
export function terminals({ storage, backend, clock }: TerminalDeps) {
  const { repositories } = storage;
  const live = new Map<TerminalKey, Live>();

  const register = (entry: Live): void => {
    live.get(entry.key)?.connection.close(CLOSE.replaced);
    live.set(entry.key, entry);
  };

  // The late close of a replaced socket must not remove its successor, hence the identity check.
  const unregister = (entry: Live): void => {
    if (live.get(entry.key) === entry) live.delete(entry.key);
  };

  async function record(action: 'terminal_opened' | 'terminal_closed', grant: TerminalGrant): Promise<void> {
    const { caller, container, origin } = grant;
    await repositories.audit.append({ userId: caller.user.id, action, ...origin, details: container.dbId });
  }

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
      const { caller, container, ask } = grant;
      const handle = handleOf(container);
      if (handle === null) throw new Error(`container ${container.dbId} runs without a runtime id`);
      const id = randomUUID();
      const key = terminalKey(handle.runtimeId, caller.user.id, ask.connectionId);
      const entry: Live = { id, dbId: container.dbId, key, connection };
      register(entry);
      try {
        const { connectionId, cols, rows, forceNew } = ask;
        const muxSession = muxSessionName(connectionId);
        const { shell } = container;
        const pty = await backend.open(handle, { muxSession, cols, rows, forceNew, marker: id, shell });
        await Promise.all([record('terminal_opened', grant), repositories.containers.touch(container.dbId)]);
        return { id, key, pty, release: () => release(entry, grant, pty) };
      } catch (error) {
        unregister(entry);
        throw error;
      }
    },

    /** Whether somebody may keep an open terminal, going by what is known of them now. */
    mayStay: ({ user }: Caller): boolean => !guestExpired(user, clock.now()),

    /** Closes every terminal of a container. */
    closeAll(dbId: string, reason: CloseReason): void {
      for (const entry of live.values()) if (entry.dbId === dbId) entry.connection.close(reason);
    },

    /** Closes every terminal of this process. */
    closeEverything(reason: CloseReason): void {
      for (const entry of live.values()) entry.connection.close(reason);
    },
  };

  async function release(entry: Live, grant: TerminalGrant, pty: PtyStream): Promise<void> {
    unregister(entry);
    await pty.close();
    await record('terminal_closed', grant);
  }
}
