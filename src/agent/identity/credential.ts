import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Identity } from './state-file.ts';

/** The name under which the unit passes the token (`LoadCredential`). */
export const CREDENTIAL_NAME = 'berth-token';

/** The agent cannot start as it is set up. The words are for a person. */
export class SetupFault extends Error {
  override name = 'SetupFault';
}

type Sources = {
  /** Where the token goes. */
  readonly server: string;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly identity: Identity;
  readonly env: NodeJS.ProcessEnv;
};

/**
 * The token: from the command line, a file, the unit's credential, `BERTH_TOKEN`, or an enrolment, whichever is there
 * first. Throws `SetupFault`.
 */
export async function tokenFrom({ server, token, tokenFile, identity, env }: Sources): Promise<string> {
  if (token !== undefined) return checked(token, 'the token');
  if (tokenFile !== undefined) return await inFile(tokenFile);
  const folder = env['CREDENTIALS_DIRECTORY'];
  const passed = folder === undefined ? null : await read(path.join(folder, CREDENTIAL_NAME));
  const found = passed ?? tokenOf(env, server) ?? identity.token;
  if (found === undefined)
    throw new SetupFault('there is no token: set BERTH_TOKEN, give --token-file, or run `berth agent enrol`');
  return checked(found, 'the token');
}

/** Not for another server than the variables name. */
function tokenOf(env: NodeJS.ProcessEnv, server: string): string | undefined {
  const named = env['BERTH_SERVER'];
  const isFor = named === undefined || (URL.canParse(named) && new URL(named).origin === server);
  return isFor ? env['BERTH_TOKEN'] : undefined;
}

/** A token in a file that others can read is no secret. */
async function inFile(file: string): Promise<string> {
  const text = await read(file);
  if (text === null) throw new SetupFault(`there is no file ${file}`);
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) throw new SetupFault(`others can read ${file}: run \`chmod 600 ${file}\``);
  return checked(text, file);
}

function checked(text: string, source: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) throw new SetupFault(`${source} is not a token`);
  return token;
}

const read = async (file: string): Promise<string | null> =>
  await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new SetupFault(`${file} cannot be read: ${error.code}`);
  });

/** Checks the service's address. Without TLS the token can be read on the way, so that needs a word. */
export function serverFrom(given: string | undefined, isInsecureAllowed: boolean): string {
  if (given === undefined) throw new SetupFault('which service? Give --server or set BERTH_SERVER.');
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw new SetupFault(`${given} is not an http(s) address`);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isHere && !isInsecureAllowed)
    throw new SetupFault(
      `${given} has no TLS: others could read the token on the way. Use https, or add --insecure.`,
    );
  return url.origin;
}
