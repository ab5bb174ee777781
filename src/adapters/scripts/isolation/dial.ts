import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import { printedBy } from '../exec/run-script.ts';
import { canaryDial } from './isolation-scripts.ts';

/** A container with half a processor is slow on a busy machine. */
const DIAL_SECONDS = 30;
const DIAL_BYTES = 65_536;
/** Each takes three seconds. */
const SELF_TRIES = 8;

type Starts = Pick<ContainerPrograms, 'start'>;

/**
 * Those of the targets, `ADDRESS:PORT`, that a container reaches, and what the script `also` finds. Throws when it did not
 * try all.
 */
export async function dial(
  programs: Starts,
  id: string,
  targets: readonly string[],
  also = '',
): Promise<readonly string[]> {
  const lines = (await printedBy(programs, id, canaryDial(also), targets, DIAL_BYTES, DIAL_SECONDS))
    .toString()
    .trim()
    .split('\n');
  if (lines.pop() !== 'tried all') throw new Error('the test container did not try everything');
  return lines;
}

/**
 * The control of a check: by the same means, the neighbour must be reachable from itself. On a busy machine perl may need
 * several seconds to listen.
 */
export async function answersItself(programs: Starts, neighbour: string, there: string): Promise<void> {
  for (let n = 0; n < SELF_TRIES; n += 1) {
    if ((await dial(programs, neighbour, [there])).includes(there)) return;
  }
  throw new Error('the neighbour does not respond to itself');
}
