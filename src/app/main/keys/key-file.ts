import { open, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** `previous` verifies for a while after `rotatedAtMs`; null without one. */
export type StoredSecrets = {
  readonly current: Buffer;
  readonly previous: Buffer | null;
  readonly rotatedAtMs: number;
};

const Secret = Type.String({ pattern: '^[A-Za-z0-9_-]{43,}$' });
const Content = Type.Object(
  {
    current: Secret,
    previous: Type.Union([Secret, Type.Null()]),
    rotated_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }),
  },
  { additionalProperties: false },
);

/** `secret.json` of the data folder. Reading it throws when it is damaged or readable by others. */
export function keyFile(dataDir: string) {
  const file = path.join(dataDir, 'secret.json');

  return {
    async read(): Promise<StoredSecrets | null> {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (text === null) return null;
      const { mode } = await stat(file);
      if ((mode & 0o077) !== 0) throw new Error(`other users can read ${file}: run chmod 600 on it`);
      return parse(text, file);
    },

    /** Replaces the file atomically: a crash leaves the old or the new one. */
    async write(secrets: StoredSecrets): Promise<StoredSecrets> {
      const fresh = `${file}.new`;
      const handle = await open(fresh, 'w', 0o600);
      try {
        await handle.chmod(0o600);
        await handle.writeFile(`${JSON.stringify(toContent(secrets))}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(fresh, file);
      return secrets;
    },
  };
}

/** The error must not repeat the content. */
function parse(text: string, file: string): StoredSecrets {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = null;
  }
  if (!Value.Check(Content, content)) {
    throw new Error(`${file} is damaged: restore a copy, or remove it, and everyone must sign in again`);
  }
  return {
    current: Buffer.from(content.current, 'base64url'),
    previous: content.previous === null ? null : Buffer.from(content.previous, 'base64url'),
    rotatedAtMs: Date.parse(content.rotated_at),
  };
}

const toContent = ({ current, previous, rotatedAtMs }: StoredSecrets) => ({
  current: current.toString('base64url'),
  previous: previous?.toString('base64url') ?? null,
  rotated_at: new Date(rotatedAtMs).toISOString(),
});
