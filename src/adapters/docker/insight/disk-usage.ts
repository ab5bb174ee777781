import { setTimeout as sleep } from 'node:timers/promises';
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

type Measured = { readonly at: number; readonly bytes: number | null };

/**
 * How much of its volume a container uses, measured again after 30 s. Whoever asks waits 1.5 s at most, and then
 * gets what was measured last, or null.
 */
export function diskReader(calls: EngineCalls): (id: string) => Promise<number | null> {
  const known = new Map<string, Measured>();
  const running = new Map<string, Promise<number | null>>();
  const measure = async (id: string): Promise<number | null> => {
    const bytes = await diskBytes(calls, id).catch(() => null);
    known.delete(id);
    known.set(id, { at: Date.now(), bytes });
    const oldest = known.keys().next().value;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    running.delete(id);
    return bytes;
  };
  return async (id) => {
    const last = known.get(id);
    if (last !== undefined && Date.now() - last.at < FRESH_MS) return last.bytes;
    const measuring = running.get(id) ?? measure(id);
    running.set(id, measuring);
    return await Promise.race([measuring, sleep(WAIT_MS, last?.bytes ?? null, { ref: false })]);
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
