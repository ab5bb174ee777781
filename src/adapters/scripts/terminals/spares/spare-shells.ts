import { randomUUID } from 'node:crypto';
import type {
  ContainerProgram,
  ContainerPrograms,
} from '../../../../ports/containers/inside/container-programs.ts';
import { outputUntil } from '../terminal-start.ts';
import { type SparePool, sparePool } from './spare-pool.ts';
import { SPARE_END, SPARE_READY, spareProgram } from './spare-scripts.ts';

const READY_WITHIN_SECONDS = 20;
/** For the mark; nothing else is printed before. */
const READY_BYTES = 4_096;
const ENDED_WITHIN_MS = 1_000;

/** A program that waits in a container. `mark` is a NAME=VALUE of its environment. */
export type SpareShell = { readonly opened: ContainerProgram; readonly mark: string };

/**
 * Starting a program in a container is most of the time that opening a terminal takes. A spare was started before, and
 * waits for its arguments. `program` is what spares become.
 */
export const spareShells = (
  programs: ContainerPrograms,
  env: Readonly<Record<string, string>>,
  program: string,
): SparePool<SpareShell> =>
  sparePool({
    start: (runtimeId) => startSpare(programs, runtimeId, env, program),
    keepAlive: ({ opened: { stream } }) => void stream.write('\n'),
    end: ({ opened }) => endSpare(opened),
    // It has nothing to say: output, too, means that something is wrong, and the end of the stream is noticed by reading.
    whenUseless: ({ opened: { stream } }, done) => void stream.once('readable', done),
    isIdle: programs.isIdle,
    monotonicMs: () => performance.now(),
  });

/** For a spare taken from the pool: from now on its output is no sign of a fault. */
export const stopWatching = ({ opened: { stream } }: SpareShell): void =>
  void stream.removeAllListeners('readable');

/** Throws when the container cannot run one. */
async function startSpare(
  programs: ContainerPrograms,
  runtimeId: string,
  env: Readonly<Record<string, string>>,
  program: string,
): Promise<SpareShell> {
  const id = randomUUID();
  const command = ['sh', '-c', spareProgram(), 'berth', program];
  const opened = await programs.start(runtimeId, {
    command,
    env: { ...env, BERTH_SPARE: id },
    form: 'terminal',
    stdin: true,
    isInBackground: true,
  });
  const isReady = (tail: Buffer): boolean => tail.includes(SPARE_READY);
  const limits = { seconds: READY_WITHIN_SECONDS, maxBytes: READY_BYTES };
  const output = await outputUntil(opened.stream, limits, isReady, SPARE_READY.length);
  if (output?.isEnough === true) return { opened, mark: `BERTH_SPARE=${id}` };
  endSpare(opened);
  throw new Error('a spare did not start');
}

/** Asks it to end. Its output is not read any more, so its end would not be noticed. */
export function endSpare({ stream }: ContainerProgram): void {
  const destroy = (): void => void stream.destroy();
  stream.write(`${SPARE_END}\n`, destroy);
  setTimeout(destroy, ENDED_WITHIN_MS).unref();
}
