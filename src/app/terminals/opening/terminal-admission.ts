import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { TerminalRegistry } from '../terminal-registry.ts';
import { type AuthorizeTerminalDeps, authorizeTerminal } from './authorize-terminal.ts';
import { BUSY, NO_TURN, type TerminalQueue, type Turn } from './terminal-queue.ts';
import { type TerminalGrant, type TerminalOptions, targetOf } from './terminal-target.ts';

export type TerminalAdmissionDeps = Omit<AuthorizeTerminalDeps, 'backend'> & {
  readonly backend: Parameters<typeof targetOf>[1];
  readonly registry: Pick<TerminalRegistry, 'needsOpening'>;
  readonly queue: TerminalQueue;
};

/** A right to open a terminal now. */
export type Admitted = { readonly grant: TerminalGrant; readonly turn: Turn };

/** Before the upgrade: checks the right to a terminal, and waits for a turn to open it. */
export function terminalAdmission(deps: TerminalAdmissionDeps) {
  const { backend, registry, queue } = deps;

  async function authorize(
    id: string,
    options: TerminalOptions,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<TerminalGrant> {
    const right = await authorizeTerminal(deps, id, options, caller);
    return right.ok ? ok({ caller, ...right.value, options, origin }) : right;
  }

  /** Agents cost the engine nothing, and one that is silent must delay no container. */
  const needsNoTurn = (grant: TerminalGrant): boolean => {
    if (isAgent(grant.container)) return true;
    const { resume, forceNew } = grant.options;
    return !registry.needsOpening(targetOf(grant, backend), { resumes: resume?.stream ?? null, forceNew });
  };

  return {
    /** Whether the caller could open the terminal now. */
    async check(
      id: string,
      options: TerminalOptions,
      caller: Caller,
      origin: RequestOrigin,
    ): AsyncResult<TerminalGrant> {
      const granted = await authorize(id, options, caller, origin);
      if (!granted.ok || needsNoTurn(granted.value)) return granted;
      const { dbId } = granted.value.container;
      return queue.isBusy({ resourceId: dbId, userId: caller.user.id }) ? refuse(BUSY) : granted;
    },

    /** Waits for the caller's turn. A resume does not wait, nor does an agent's terminal. */
    async admit(
      id: string,
      options: TerminalOptions,
      caller: Caller,
      origin: RequestOrigin,
      gone: AbortSignal,
    ): AsyncResult<Admitted> {
      const granted = await authorize(id, options, caller, origin);
      if (!granted.ok) return granted;
      if (needsNoTurn(granted.value)) return ok({ grant: granted.value, turn: NO_TURN });
      const { dbId } = granted.value.container;
      const turn = await queue.turn({ resourceId: dbId, userId: caller.user.id }, gone);
      if (!turn.ok) return turn;
      if (!turn.value.hasWaited) return ok({ grant: granted.value, turn: turn.value });
      const still = await authorize(id, options, caller, origin).catch((error: unknown) => {
        turn.value.abandon();
        throw error;
      });
      if (still.ok) return ok({ grant: still.value, turn: turn.value });
      turn.value.abandon();
      return still;
    },
  };
}
