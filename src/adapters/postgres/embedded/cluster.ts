import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { type CommandOptions, runCommand } from '../../child-process.ts';
import { findBinaries } from './binaries.ts';
import { type Account, accountForInitdb, accountForServer } from './os-account.ts';

/** Generous for a slow disk. */
const INITDB_SECONDS = 300;
const CHOWN_SECONDS = 600;

/** A database directory and the programs for it. */
export type Cluster = {
  readonly data: string;
  readonly server: string;
  readonly account: Account;
};

/** Creates the database directory when missing. A killed attempt leaves nothing that looks complete. */
export async function prepareCluster(root: string, durable: boolean, signal?: AbortSignal): Promise<Cluster> {
  const data = path.join(root, 'pgdata');
  const major = await majorOf(data);
  const { directory } = await findBinaries(major);
  const server = path.join(directory, 'postgres');
  const account = await accountForServer(data, [server, data]);
  if (major === null) await initialise({ data, directory, owner: account, durable, signal });
  await give(data, account);
  return { data, server, account };
}

/** The environment of PostgreSQL's programs: none of ours, which has secrets and may have PG* settings. */
export const cleanEnvironment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C.UTF-8' };

async function majorOf(data: string): Promise<number | null> {
  const file = path.join(data, 'PG_VERSION');
  return existsSync(file) ? Number.parseInt(await readFile(file, 'utf8'), 10) : null;
}

type Initial = {
  readonly data: string;
  readonly directory: string;
  readonly owner: Account;
  readonly durable: boolean;
  readonly signal: AbortSignal | undefined;
};

async function initialise({ data, directory, owner, durable, signal }: Initial): Promise<void> {
  const draft = `${data}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const initdb = path.join(directory, 'initdb');
  const account = accountForInitdb([initdb, draft]);
  await give(draft, account);
  const { file, args } = account.command(initdb, [
    ...['-D', draft, '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8', '--auth=reject'],
    ...(durable ? [] : ['--no-sync']),
  ]);
  const options = { cwd: draft, env: cleanEnvironment, timeoutSeconds: INITDB_SECONDS, signal };
  await runOrThrow('initdb', file, args, options).finally(() => signal?.throwIfAborted());
  await admitOnlyThisUser(draft);
  await give(draft, owner);
  await rename(draft, data);
}

/** The kernel identifies the caller, so there is no password. */
async function admitOnlyThisUser(data: string): Promise<void> {
  await writeFile(path.join(data, 'pg_hba.conf'), 'local all postgres peer map=berth\n');
  await writeFile(path.join(data, 'pg_ident.conf'), `berth "${userInfo().username}" postgres\n`);
}

/** As root, gives a tree to the account, unless it owns it. */
async function give(tree: string, { uid }: Account): Promise<void> {
  await chmod(tree, 0o700);
  if (process.getuid?.() !== 0 || (await stat(tree)).uid === uid) return;
  const args = ['-R', '--no-dereference', `${uid}:${uid}`, tree];
  await runOrThrow('chown', 'chown', args, { timeoutSeconds: CHOWN_SECONDS });
  await chown(tree, uid, uid);
}

async function runOrThrow(
  name: string,
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<void> {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0) throw new Error(`${name} failed with ${code}: ${(stderr || stdout).trim()}`);
}
