import type {
  ContainerProgram,
  ContainerPrograms,
} from '../../../ports/containers/inside/container-programs.ts';
import { type EngineCalls, LIMITS, statusOf } from '../engine/engine-client.ts';
import { exitCodeOf, isStartReport, type OpenExec, openExec, resizeExec } from './exec-stream.ts';
import { drainAfterExit, hasExited, keepTail } from './exec-tail.ts';
import { unframed } from './raw-stream.ts';
import { frames, unframedOutput } from './stream-demux.ts';

/** Processes needed to start a shell in a container: the runtime's threads, a script, its programs. */
const PROCESSES_OF_A_START = 16;

/** Programs by the exec of one Docker engine. */
export const dockerPrograms = (calls: EngineCalls): ContainerPrograms => ({
  async start(runtimeId, { form, ...request }) {
    const opened = await openExec(calls, runtimeId, { ...request, tty: form === 'terminal' });
    return program(calls, form === 'joined' ? { ...opened, stream: unframed(opened.stream) } : opened, form);
  },
  isStartReport,
  isFull: (runtimeId) => isFull(calls, runtimeId),
  isIdle: () => calls.slots.waiting() === 0,
  ownerOf: calls.slots.ownerOf,
  transfer: calls.work.transfer,
  piece: calls.work.piece,
});

const program = (calls: EngineCalls, { exec, stream }: OpenExec, form: string): ContainerProgram => ({
  stream,
  output: () => {
    const bytes = drainAfterExit(stream, hasExited(calls, exec));
    return form === 'apart' ? frames(bytes) : unframedOutput(bytes);
  },
  exitCode: () => exitCodeOf(calls, exec),
  isRunning: () => isRunning(calls, exec),
  keepTail: () => keepTail(stream, hasExited(calls, exec)),
  resize: (cols, rows) => resizeExec(calls, exec, cols, rows),
});

/** A restarted engine knows no earlier program: the reaper finds those still running. */
async function isRunning(calls: EngineCalls, exec: OpenExec['exec']): Promise<boolean> {
  try {
    return (await calls.read(LIMITS.inspect, (abortSignal) => exec.inspect({ abortSignal }))).Running;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

type Pids = { readonly pids_stats?: { readonly current?: number; readonly limit?: number } };

async function isFull(calls: EngineCalls, runtimeId: string): Promise<boolean> {
  const { pids_stats: pids = {} } = await calls.read(LIMITS.inspect, async (abortSignal): Promise<Pids> => {
    const options = { stream: false as const, 'one-shot': true, abortSignal };
    return (await calls.docker.getContainer(runtimeId).stats(options)) as Pids;
  });
  const { current = 0, limit = 0 } = pids;
  return limit > 0 && current + PROCESSES_OF_A_START > limit;
}
