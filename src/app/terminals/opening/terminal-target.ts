import { randomUUID } from 'node:crypto';
import type { Container } from '../../../domain/containers/container.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  type CollaborationMode,
  participantSession,
  type SharedAccess,
} from '../../../domain/terminals/collaboration.ts';
import {
  MAIN_CONNECTION,
  muxSessionName,
  type TerminalKey,
  terminalKey,
} from '../../../domain/terminals/terminal.ts';
import { terminalClient } from '../../../domain/terminals/terminal-client.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';
import { handleOf } from '../../containers/find-container.ts';
import type { LiveTerminal, TerminalConnection } from '../terminal-connections.ts';
import type { TerminalTarget } from './locate-terminal.ts';

const MAIN_SESSION = muxSessionName(MAIN_CONNECTION);

/** The upgrade's parameters, already validated. */
export type TerminalOptions = {
  readonly connectionId: string;
  readonly cols: number;
  readonly rows: number;
  readonly forceNew: boolean;
  /** Record from the first byte for this socket. */
  readonly record: boolean;
  readonly viewOnly: boolean;
  /** By SSH: the session of the owner's to show beside its other viewers, where the image has a multiplexer. */
  readonly shows?: string;
  /** The lost connection's stream, and its count of output bytes received. */
  readonly resume: { readonly stream: string; readonly after: number } | null;
};

/** The right to open one terminal, checked before the upgrade. */
export type TerminalGrant = {
  readonly caller: Caller;
  readonly container: Container;
  /** The share with the caller; null for the owner. */
  readonly access: SharedAccess | null;
  readonly mode: CollaborationMode;
  /** The session whose windows it shows, as one more session of the owner's; null for its own. */
  readonly shows: string | null;
  readonly options: TerminalOptions;
  readonly origin: RequestOrigin;
};

/** What the terminal connects to. Throws for a container without a runtime id. */
export function targetOf(grant: TerminalGrant, backend: TerminalBackend): TerminalTarget {
  const { caller, container, options, access } = grant;
  const handle = handleOf(container);
  if (handle === null) throw new Error(`container ${container.dbId} runs without a runtime id`);
  const { connectionId, cols, rows } = options;
  const { shell } = container;
  const key = terminalKey(handle.runtimeId, caller.user.id, connectionId);
  const { runtimeId } = handle;
  const { id: userId } = caller.user;
  const target = { key, userId, dbId: container.dbId, handle, runtimeId, size: { cols, rows } };
  if (access !== null) return { ...target, ...participantTarget(grant, access, handle, backend) };
  const muxSession = muxSessionName(connectionId);
  const shown =
    grant.shows === null
      ? { muxSession }
      : ({ muxSession: grant.shows, sharedAs: { mode: 'control', session: muxSession } } as const);
  return {
    ...target,
    muxSession,
    isMain: connectionId === MAIN_CONNECTION,
    participation: null,
    open: (start) => backend.open(handle, { ...shown, cols, rows, shell, ...start }),
    endSession: (name, isWanted) => backend.killMuxSession(handle, name, isWanted),
  };
}

/** A view of the owner's main terminal, which outlives its participants; only their own sessions end. */
function participantTarget(
  { caller, container: { shell }, options: { cols, rows }, mode }: TerminalGrant,
  { collaborationId }: SharedAccess,
  handle: RuntimeHandle,
  backend: TerminalBackend,
): Omit<TerminalTarget, 'key' | 'userId' | 'dbId' | 'handle' | 'runtimeId' | 'size'> {
  const { id: userId } = caller.user;
  const muxSession = MAIN_SESSION;
  const session = participantSession(userId);
  const sharedAs = mode === 'view' ? ({ mode } as const) : { mode, session };
  return {
    muxSession: mode === 'view' ? muxSession : session,
    isMain: false,
    participation: { collaborationId, userId, mode },
    open: (start) =>
      backend.open(handle, { muxSession, sharedAs, cols, rows, shell, ...start, forceNew: false }),
    endSession: async (name, isWanted) => {
      if (mode === 'control') await backend.killMuxSession(handle, name, isWanted);
    },
  };
}

export const liveEntry = (
  { caller: { user }, container, options, origin }: TerminalGrant,
  key: TerminalKey,
  connection: TerminalConnection,
  now: Date,
): LiveTerminal => ({
  id: randomUUID(),
  key,
  userId: user.id,
  dbId: container.dbId,
  connectionId: options.connectionId,
  owner: container.ownerId === user.id,
  client: terminalClient(options.shows !== undefined, origin.userAgent),
  ipAddress: origin.ipAddress,
  connection,
  muxSession: null,
  cols: options.cols,
  rows: options.rows,
  lastPingAt: now,
  wasPinged: true,
  recordedAt: null,
});
