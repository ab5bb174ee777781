import { Readable } from 'node:stream';
import { wholePart } from '../../../domain/terminals/recording.ts';
import type { RecordingFiles } from '../../../ports/terminals/recording-files.ts';

/** Files in memory; `held` exposes them, and a test may damage one like a crash. */
export function memoryRecordingFiles(): RecordingFiles & {
  readonly held: Map<string, { bytes: Buffer; touchedAtMs: number }>;
} {
  const held = new Map<string, { bytes: Buffer; touchedAtMs: number }>();
  return {
    held,
    async create(id) {
      const file = { bytes: Buffer.alloc(0), touchedAtMs: Date.now() };
      held.set(id, file);
      return {
        async append(lines) {
          file.bytes = Buffer.concat([file.bytes, Buffer.from(lines)]);
          file.touchedAtMs = Date.now();
        },
        close: async () => {},
      };
    },
    async read(id, maxBytes) {
      const found = held.get(id);
      if (found === undefined) return null;
      const bytes = found.bytes.subarray(0, maxBytes);
      return { content: Readable.from([bytes], { objectMode: false }), sizeBytes: bytes.length };
    },
    async mend(id) {
      const found = held.get(id);
      if (found === undefined) return null;
      const facts = wholePart(found.bytes) ?? { sizeBytes: 0, durationMs: 0 };
      found.bytes = found.bytes.subarray(0, facts.sizeBytes);
      return facts;
    },
    remove: async (id) => void held.delete(id),
    async untouched(forMs) {
      const latest = Date.now() - forMs;
      return [...held].filter(([, { touchedAtMs }]) => touchedAtMs <= latest).map(([id]) => id);
    },
  };
}
