import type { Leftovers } from '../../../domain/terminals/terminal-reaping.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import { LIST_LEFTOVERS } from '../exec/process-scripts.ts';
import { printedBy } from '../exec/run-script.ts';

const SESSION = /^session ([A-Za-z0-9_-]{1,80})$/;
const MARK = /^BERTH_TERM=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
/** More processes than any machine runs. A truncated list is discarded. */
const MAX_BYTES = 8_388_608;
const WITHIN_SECONDS = 30;

/** Lists what terminals have left in a container. Its output is untrusted: only names are used. */
export async function listLeftovers(programs: ContainerPrograms, runtimeId: string): Promise<Leftovers> {
  const printed = await printedBy(programs, runtimeId, LIST_LEFTOVERS, [], MAX_BYTES, WITHIN_SECONDS);
  const lines = new Set(printed.toString('latin1').split('\n'));
  if (!lines.has('end')) throw new RuntimeFailure('a container did not report its leftover processes');
  const found = (pattern: RegExp): string[] => [...lines].flatMap((line) => pattern.exec(line)?.[1] ?? []);
  return { sessions: found(SESSION), marks: found(MARK) };
}
