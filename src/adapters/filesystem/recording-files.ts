import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type CastFacts, wholePart } from '../../domain/terminals/recording.ts';
import type { RecordingFile, RecordingFiles } from '../../ports/terminals/recording-files.ts';

const ENDING = '.cast';
/** Has the id of the folder's installation. */
const OWNER = 'installation';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The part of a file's end that is first searched for a complete line. */
const END_BYTES = 1_048_576;

/** Files below `folder`, created when missing, readable by this user only. */
export function recordingFilesIn(folder: string): RecordingFiles {
  const at = (id: string): string => {
    if (!ID.test(id)) throw new Error('not the id of a recording');
    return path.join(folder, `${id}${ENDING}`);
  };
  return {
    async create(id) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return growing(await open(at(id), 'ax', 0o600));
    },

    async read(id, maxBytes) {
      const handle = await orNull(open(at(id), 'r'));
      if (handle === null) return null;
      const sizeBytes = Math.min((await handle.stat()).size, maxBytes);
      if (sizeBytes > 0) return { content: handle.createReadStream({ end: sizeBytes - 1 }), sizeBytes };
      await handle.close();
      return { content: Readable.from([], { objectMode: false }), sizeBytes };
    },

    async repair(id) {
      const handle = await orNull(open(at(id), 'r+'));
      if (handle === null) return null;
      try {
        const facts = await wholeOf(handle);
        await handle.truncate(facts.sizeBytes);
        await handle.datasync();
        return facts;
      } finally {
        await handle.close();
      }
    },

    remove: (id) => rm(at(id), { force: true }),

    async list() {
      const names = (await orNull(readdir(folder))) ?? [];
      const ids = names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
      const found = ids.filter((id) => ID.test(id));
      const listed = await Promise.all(
        found.map(async (id) => ({ id, writtenAtMs: (await orNull(stat(at(id))))?.mtimeMs ?? null })),
      );
      return listed.flatMap(({ id, writtenAtMs }) => (writtenAtMs === null ? [] : [{ id, writtenAtMs }]));
    },

    owner: () => orNull(readFile(path.join(folder, OWNER), 'utf8')),

    async claim(installationId) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const made = path.join(folder, `${OWNER}.${process.pid}`);
      await writeFile(made, installationId, { mode: 0o600, flush: true });
      await rename(made, path.join(folder, OWNER));
    },
  };
}

const growing = (handle: FileHandle): RecordingFile => ({
  async append(lines) {
    await handle.appendFile(lines);
    await handle.datasync();
  },
  close: () => handle.close(),
});

async function wholeOf(handle: FileHandle): Promise<CastFacts> {
  const { size } = await handle.stat();
  for (let wanted = END_BYTES; ; wanted *= 2) {
    const start = Math.max(0, size - wanted);
    const end = Buffer.alloc(size - start);
    await handle.read(end, 0, end.length, start);
    const whole = wholePart(end);
    if (whole !== null) return { ...whole, sizeBytes: start + whole.sizeBytes };
    if (start === 0) return { sizeBytes: 0, durationMs: 0 };
  }
}

/** null for a missing file. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
