import { LRUCache } from 'lru-cache';
import { within } from '../../../concurrency/timeout.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import { startScript } from '../exec/script-process.ts';

const FRESH_MS = 30_000;
const WAIT_MS = 1_500;
const MAX_KNOWN = 1000;

/**
 * `FOLDER`: prints the KiB in use. A file system of its own knows at once; a folder of a shared one is counted,
 * which may take a while.
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

/**
 * How much of its volume a container uses, measured again after 30 s. Whoever asks waits 1.5 s at most, and then
 * gets what was measured last, or null.
 */
export function diskReader(calls: EngineCalls): (id: string) => Promise<number | null> {
  const known = new LRUCache<string, { readonly bytes: number | null }>({
    max: MAX_KNOWN,
    ttl: FRESH_MS,
    ignoreFetchAbort: true,
    fetchMethod: async (id) => ({ bytes: await diskBytes(calls, id).catch(() => null) }),
  });
  return async (id) => {
    const last = known.peek(id, { allowStale: true });
    return (await within(WAIT_MS, known.fetch(id), last))?.bytes ?? null;
  };
}

/** Counts now; null when the container's own tools say no number. Throws when nothing comes in time. */
export async function diskBytes(calls: EngineCalls, id: string, seconds?: number): Promise<number | null> {
  const run = await startScript(calls, id, { script: DISK, args: ['/workspace'] });
  try {
    const kib = Number(await run.line(seconds));
    await run.finish();
    return Number.isSafeInteger(kib * 1024) ? kib * 1024 : null;
  } finally {
    await run.end();
  }
}
