import { Readable } from 'node:stream';
import { wholePart } from '../../../domain/terminals/recording.ts';
import type { RecordingFiles } from '../../../ports/terminals/recording-files.ts';

/** Files in memory; `contents` exposes them, and a test may damage one like a crash. */
export function memoryRecordingFiles(): RecordingFiles & {
  readonly contents: Map<string, { bytes: Buffer; touchedAtMs: number }>;
} {
  let owner: string | null = null;
  const contents = new Map<string, { bytes: Buffer; touchedAtMs: number }>();
  return {
    contents,
    async create(id) {
      const file = { bytes: Buffer.alloc(0), touchedAtMs: Date.now() };
      contents.set(id, file);
      return {
        async append(lines) {
          file.bytes = Buffer.concat([file.bytes, Buffer.from(lines)]);
          file.touchedAtMs = Date.now();
        },
        close: async () => {},
      };
    },
    async read(id, maxBytes) {
      const found = contents.get(id);
      if (found === undefined) return null;
      const bytes = found.bytes.subarray(0, maxBytes);
      return { content: Readable.from([bytes], { objectMode: false }), sizeBytes: bytes.length };
    },
    async repair(id) {
      const found = contents.get(id);
      if (found === undefined) return null;
      const facts = wholePart(found.bytes) ?? { sizeBytes: 0, durationMs: 0 };
      found.bytes = found.bytes.subarray(0, facts.sizeBytes);
      return facts;
    },
    remove: async (id) => void contents.delete(id),
    list: async () => [...contents].map(([id, { touchedAtMs }]) => ({ id, writtenAtMs: touchedAtMs })),
    owner: async () => owner,
    async claim(installationId) {
      owner = installationId;
    },
  };
}
