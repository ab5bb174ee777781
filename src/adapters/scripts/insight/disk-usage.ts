import { LRUCache } from 'lru-cache';
import { within } from '../../../concurrency/timeout.ts';
import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import { AnswerLate } from '../exec/in-time.ts';
import { startScript } from '../exec/script-process.ts';

const FRESH_MS = 30_000;
const WAIT_MS = 1_500;
const MAX_KNOWN = 1000;
/** Time limit of a measurement for a request. */
const REQUEST_SECONDS = 20;
/** Counting the files of a network file system may take a minute. */
export const COUNT_SECONDS = 120;

type Starts = Pick<ContainerPrograms, 'start'>;

/**
 * `FOLDER`: prints the KiB in use. A separate file system knows them; a folder of a shared one is counted, which may
 * take a while.
 */
const DISK = `
while read -r id parent device root at rest; do [ "$at" = "$1" ] && found=$root disk=$device; done < /proc/self/mountinfo
# A volume that is an image is bound into the container from a folder of the image.
case "$disk$found" in 7:*/data) found=/;; esac
if [ "$found" = / ]; then
  df -Pk "$1" | { read -r head; read -r device size used rest; echo "$used"; }
else
  set -- $(du -skx "$1" 2>/dev/null)
  echo "$1"
fi
`;

/** A container's volume use, cached for 30 s. A request waits at most 1.5 s and then gets the last value, or null. */
export function diskReader(programs: Starts): (id: string) => Promise<number | null> {
  const known = new LRUCache<string, { readonly bytes: number | null }>({
    max: MAX_KNOWN,
    ttl: FRESH_MS,
    ignoreFetchAbort: true,
    fetchMethod: async (id) => ({ bytes: await diskBytes(programs, id, REQUEST_SECONDS).catch(() => null) }),
  });
  return async (id) => {
    const last = known.peek(id, { allowStale: true });
    return (await within(WAIT_MS, known.fetch(id), last))?.bytes ?? null;
  };
}

/** Measures now; null when the container's tools print no number within `seconds`, 120 by default. */
export async function diskBytes(
  programs: Starts,
  id: string,
  seconds = COUNT_SECONDS,
): Promise<number | null> {
  const run = await startScript(programs, id, { script: DISK, args: ['/workspace'] });
  try {
    const line = await run.line(seconds).catch(nullWhenLate);
    const kib = line === null || line === '' ? Number.NaN : Number(line);
    await run.finish();
    return Number.isSafeInteger(kib * 1024) ? kib * 1024 : null;
  } finally {
    await run.end();
  }
}

function nullWhenLate(error: unknown): null {
  if (error instanceof AnswerLate) return null;
  throw error;
}
