import type { Caller } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { MAIN_CONNECTION } from '../../../domain/terminals/terminal.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';
import type { AsyncResult } from '../../async-result.ts';
import { findVisible, handleOf } from '../../containers/find-container.ts';
import { refuseIfStopped } from '../../containers/inside/running-container.ts';
import type { TerminalGrant, TerminalOptions } from './terminal-target.ts';

export type AuthorizeTerminalDeps = {
  readonly repositories: Repositories;
  readonly backend: Pick<TerminalBackend, 'hasMultiplexer' | 'checkReach'>;
  readonly clock: Clock;
};

/** Whether the caller may open a terminal of this container now, as its owner or as a participant. */
export async function authorizeTerminal(
  { repositories, backend, clock }: AuthorizeTerminalDeps,
  id: string,
  options: TerminalOptions,
  caller: Caller,
): AsyncResult<Pick<TerminalGrant, 'container' | 'access' | 'mode' | 'shows'>> {
  const found = await findVisible(repositories, id, caller);
  if (!found.ok) return found;
  const { container, access } = found.value;
  if (guestExpired(caller.user, clock.now())) return refuse({ code: 'guest_session_expired' });
  if (container.state !== 'running') return refuse({ code: 'container_not_running' });
  const given = access?.mode ?? 'control';
  const right = { container, access, mode: options.viewOnly ? 'view' : given, shows: null } as const;
  const handle = handleOf(container);
  if (handle === null) return refuse({ code: 'container_not_running' });
  const reached = await refuseIfStopped<null>(backend.checkReach(handle).then(() => ok(null)));
  if (!reached.ok) return reached;
  if (access === null && options.shows === undefined) return ok(right);
  const fields = access === null ? {} : participantFaults(options);
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  const muxed = await refuseIfStopped<boolean>(backend.hasMultiplexer(handle).then(ok));
  if (!muxed.ok) return muxed;
  if (access === null) return ok({ ...right, shows: muxed.value ? (options.shows ?? null) : null });
  return muxed.value ? ok(right) : refuse({ code: 'sharing_needs_tmux' });
}

/** Only the main terminal is shared, and only its owner restarts it. */
const participantFaults = ({
  connectionId,
  forceNew,
  record,
}: TerminalOptions): Readonly<Record<string, string>> => ({
  ...(connectionId === MAIN_CONNECTION ? {} : { connectionId: 'must be main for a shared terminal' }),
  ...(forceNew ? { new: 'is for the owner of the container' } : {}),
  ...(record ? { record: 'is for the owner of the container' } : {}),
});
