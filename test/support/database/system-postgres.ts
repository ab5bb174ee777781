import { execFile } from 'node:child_process';
import { chown, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { startEmbedded } from '../../../src/adapters/postgres/embedded/index.ts';
import { accountForInitdb } from '../../../src/adapters/postgres/embedded/os-account.ts';
import { aFolder } from '../folder.ts';
import { needs } from '../run/needs.ts';

const execute = promisify(execFile);

/** A server of the distribution's PostgreSQL, and the programs that belong to it. */
export type SystemPostgres = {
  readonly url: (database: string) => string;
  /** Runs `pg_dump` and the like; throws what they complain of. */
  readonly run: (program: string, ...args: string[]) => Promise<void>;
};

/** One that runs until `t` ends; null when the test was skipped because the distribution's package is not installed. */
export async function systemPostgres(t: Test): Promise<SystemPostgres | null> {
  const part = await needs(t, 'systemPostgres');
  if (part === null) return null;
  const program = (name: string): string => path.join(part.programs, name);
  const root = aFolder(t, 0o711);
  await initialise(path.join(root, 'pgdata'), program('initdb'));
  // It goes on with the version that made the data.
  const server = await startEmbedded(root, { durable: false });
  t.teardown(() => server.stop());
  return {
    url: server.url,
    run: async (name, ...args) => void (await execute(program(name), args, { cwd: root })),
  };
}

async function initialise(data: string, initdb: string): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  const account = accountForInitdb([initdb, data]);
  if (process.getuid?.() === 0) await chown(data, account.uid, account.uid);
  const settings = ['-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '--auth=trust', '--no-sync'];
  const { file, args } = account.command(initdb, ['-D', data, ...settings]);
  await execute(file, args, { cwd: data });
}
