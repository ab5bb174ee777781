import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import path from 'node:path';

/** Who this host is for one service. `token` is there when the agent was enrolled by a code. */
export type Identity = { readonly id: string; readonly name: string; readonly token?: string };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NAME_LENGTH = 64;

/** The folder of the agent's state: the unit's, else below the user's home. */
export const stateFolder = (env: NodeJS.ProcessEnv): string =>
  env['STATE_DIRECTORY'] ??
  path.join(env['XDG_STATE_HOME'] ?? path.join(homedir(), '.local', 'state'), 'berth-agent');

/** One file for each service, so that a host can be an agent of several. */
export const identityFile = (server: string): string => `${new URL(server).host.replace(':', '_')}.json`;
const fileOf = (folder: string, server: string): string => path.join(folder, identityFile(server));

/** Reads the identity for this service, or makes one. `name` replaces the present name. */
export async function identityFor(folder: string, server: string, name?: string): Promise<Identity> {
  const known = await read(fileOf(folder, server));
  const wanted = (name ?? known?.name ?? hostname()).slice(0, NAME_LENGTH);
  if (known !== null && known.name === wanted) return known;
  return await keepIdentity(folder, server, { ...(known ?? { id: randomUUID() }), name: wanted });
}

/** Writes the identity, readable by this user alone. */
export async function keepIdentity(folder: string, server: string, identity: Identity): Promise<Identity> {
  const file = fileOf(folder, server);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600, flag: 'w' });
  await rename(fresh, file);
  return identity;
}

/** null when there is none. Throws when it is damaged: a new identity would be another agent. */
async function read(file: string): Promise<Identity | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const { id, name, token } = parsed(text);
  if (typeof id !== 'string' || !UUID.test(id) || typeof name !== 'string')
    throw new Error(`${file} is damaged: restore it, or remove it to become a new agent`);
  return { id, name, ...(typeof token === 'string' ? { token } : {}) };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
