import { ContainerNotRunning, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import {
  type PtyStream,
  type TerminalBackend,
  TerminalNotStarted,
  type TerminalRequest,
} from '../../../ports/terminals/terminal-backend.ts';
import { runScript } from '../exec/run-script.ts';
import { HAS_TMUX } from './open-scripts.ts';
import { ptyOpener, type ShellKind } from './pty-opener.ts';
import { terminalEnders } from './session-killers.ts';
import { listLeftovers } from './terminal-leftovers.ts';
import { notStarted } from './terminal-start.ts';

/** Terminals in containers of one engine: inside tmux where the image has it. `idOf` also records the container's owner. */
export function shellTerminals(
  programs: ContainerPrograms,
  idOf: (handle: RuntimeHandle) => string,
): TerminalBackend {
  const hasTmux = tmuxFinder(programs);
  const enders = terminalEnders(programs);
  const { start, startSpare, awaitFirstOutput, noteOpened, release } = ptyOpener(programs, enders);

  const openAs = async (runtimeId: string, request: TerminalRequest, shell: ShellKind): Promise<PtyStream> =>
    awaitFirstOutput(runtimeId, request, await start(runtimeId, request, shell));

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
    async open(handle, request) {
      const runtimeId = idOf(handle);
      let isPlain = false;
      try {
        const started =
          (await startSpare(runtimeId, request)) ?? (await start(runtimeId, request, 'in_tmux'));
        isPlain = !started.isTmux;
        request.onStarted?.(started.pty.muxSession);
        const pty = await awaitFirstOutput(runtimeId, request, started);
        noteOpened({ runtimeId, ownerId: programs.ownerOf(runtimeId) });
        return pty;
      } catch (error) {
        if (error instanceof TerminalNotStarted && error.fault === 'no_processes') release(runtimeId);
        if (isPlain) throw error;
        return await openFallback(runtimeId, request, error);
      }
    },
    checkReach: async () => {},
    hasMultiplexer: async ({ runtimeId }) => await hasTmux(runtimeId),

    async killMuxSession({ runtimeId }: RuntimeHandle, name, isWanted = NOBODY) {
      try {
        await enders.session(runtimeId, { name, isWanted });
      } catch (error) {
        // A container that is gone or stopped has no session.
        if (!(error instanceof ContainerNotRunning)) throw error;
      }
    },
    leftovers: ({ runtimeId }) => listLeftovers(programs, runtimeId),
    endMarked: ({ runtimeId }, marker) => enders.leftover(runtimeId, marker),
  };
}

/** A shell of their own does not help participants, and a full container has no processes for it. */
const mayFallBack = ({ sharedAs }: TerminalRequest, error: unknown): boolean =>
  sharedAs === undefined && error instanceof TerminalNotStarted && error.fault === 'other';

/** A container without tmux is asked again, since it may be installed. */
function tmuxFinder(programs: ContainerPrograms): (runtimeId: string) => Promise<boolean> {
  const known = new Set<string>();
  return async (runtimeId) => {
    if (known.has(runtimeId)) return true;
    const answer = (await runScript(programs, runtimeId, HAS_TMUX, [])).trim();
    if (answer === '') throw await notStarted(programs, runtimeId);
    if (answer === 'yes') known.add(runtimeId);
    return answer === 'yes';
  };
}

const NOBODY = async (): Promise<boolean> => false;
