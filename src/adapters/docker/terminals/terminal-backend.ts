import type Docker from 'dockerode';
import { ContainerNotRunning, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import {
  type PtyStream,
  type TerminalBackend,
  TerminalNotStarted,
  type TerminalRequest,
} from '../../../ports/terminals/terminal-backend.ts';
import { type EngineCalls, engineCalls, inContainer } from '../engine/engine-client.ts';
import { runScript } from '../exec/exec.ts';
import { HAS_TMUX } from './open-scripts.ts';
import { ptyOpener, type ShellKind } from './pty-opener.ts';
import { terminalEnders } from './session-killers.ts';
import { listLeftovers } from './terminal-leftovers.ts';
import { notStarted } from './terminal-start.ts';

/** Terminals in containers of one Docker engine: inside tmux where the image has it. */
export function dockerTerminals(docker: Docker): TerminalBackend {
  const calls = engineCalls(docker);
  const hasTmux = tmuxFinder(calls);
  const ends = terminalEnders(calls);
  const { start, startSpare, begin, opened, release } = ptyOpener(calls, ends);

  const openAs = async (runtimeId: string, request: TerminalRequest, shell: ShellKind): Promise<PtyStream> =>
    begin(runtimeId, request, await start(runtimeId, request, shell));

  /** Whatever keeps tmux from getting its terminal may affect the engine too. */
  async function openFallback(
    runtimeId: string,
    request: TerminalRequest,
    error: unknown,
  ): Promise<PtyStream> {
    if (!mayFallBack(request, error)) throw error;
    const pty = await openAs(runtimeId, request, 'plain').catch((error: unknown) => {
      if (!mayFallBack(request, error)) throw error;
      return openAs(runtimeId, request, 'without_tty');
    });
    return { ...pty, isFallback: true };
  }

  return {
    async open({ runtimeId, ownerId }, request) {
      calls.slots.belongs(runtimeId, ownerId);
      let isPlain = false;
      try {
        const started =
          (await startSpare(runtimeId, request)) ?? (await start(runtimeId, request, 'in_tmux'));
        isPlain = !started.isTmux;
        const pty = await begin(runtimeId, request, started);
        opened({ runtimeId, ownerId: calls.slots.ownerOf(runtimeId) });
        return pty;
      } catch (error) {
        if (error instanceof TerminalNotStarted && error.fault === 'no_processes') release(runtimeId);
        if (isPlain) throw error;
        return await openFallback(runtimeId, request, error);
      }
    },
    checkReach: async () => {},
    hasMultiplexer: async ({ runtimeId }) => await inContainer(hasTmux(runtimeId)),

    async killMuxSession({ runtimeId }: RuntimeHandle, name, isWanted = NOBODY) {
      try {
        await inContainer(ends.session(runtimeId, { name, isWanted }));
      } catch (error) {
        // A container that is gone or stopped has no session.
        if (!(error instanceof ContainerNotRunning)) throw error;
      }
    },
    leftovers: ({ runtimeId }) => listLeftovers(calls, runtimeId),
    endMarked: ({ runtimeId }, marker) => ends.leftover(runtimeId, marker),
  };
}

/** A shell of their own does not help participants, and a full container has no processes for it. */
const mayFallBack = ({ sharedAs }: TerminalRequest, error: unknown): boolean =>
  sharedAs === undefined && error instanceof TerminalNotStarted && error.fault === 'other';

/** A container without tmux is asked again, since it may be installed. */
function tmuxFinder(calls: EngineCalls): (runtimeId: string) => Promise<boolean> {
  const known = new Set<string>();
  return async (runtimeId) => {
    if (known.has(runtimeId)) return true;
    const answer = (await runScript(calls, runtimeId, HAS_TMUX, [])).trim();
    if (answer === '') throw await notStarted(calls, runtimeId);
    if (answer === 'yes') known.add(runtimeId);
    return answer === 'yes';
  };
}

const NOBODY = async (): Promise<boolean> => false;
