import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CliError } from '../cli-error.ts';
import type { Io } from '../io/io.ts';
import { fileDraft } from '../state/file-draft.ts';
import { withFileLock } from './file-lock.ts';
import { type Keyring, systemKeyring } from './keyring.ts';

/** A sign-in by a code: a session of its own, renewed by its refresh token. */
export type SessionCredential = {
  readonly kind: 'session';
  readonly token: string;
  readonly expires_at: string;
  readonly refresh_token: string;
};

export type ApiTokenCredential = { readonly kind: 'api_token'; readonly token: string };

export type Credential = SessionCredential | ApiTokenCredential;

/** The secret is in the keyring under `id`; `of`: what it is. */
export type InKeyring = {
  readonly kind: 'keyring';
  readonly id: string;
  readonly of: Credential['kind'];
};

export type Profile = {
  readonly server: string;
  readonly username: string;
  readonly credential: Credential | InKeyring;
};

/** `current` names the profile in use when none is given. */
export type Hosts = { readonly current: string | null; readonly profiles: Readonly<Record<string, Profile>> };

/** More than a change adds. */
const ROOM_BYTES = 8_192;

const NONE: Hosts = { current: null, profiles: {} };

export type HostsFile = {
  readonly path: string;
  /** Where the file says that a secret is. */
  readonly keyring: Keyring;
  read(): Hosts;
  /**
   * Changes the file while no other process does. The new content is complete before it replaces the old. Throws before
   * `change` begins where the file cannot be written.
   */
  update(change: (hosts: Hosts) => Hosts | Promise<Hosts>): Promise<Hosts>;
};

/** `$XDG_CONFIG_HOME/berth/hosts.json`: readable by its owner only, in a folder of its own. */
export function hostsFile({ env }: Pick<Io, 'env'>): HostsFile {
  const config = env['XDG_CONFIG_HOME'] || path.join(env['HOME'] || os.homedir(), '.config');
  const file = path.join(config, 'berth', 'hosts.json');
  return {
    path: file,
    keyring: systemKeyring({ env }),
    read: () => read(file),
    async update(change) {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      closeToOthers(path.dirname(file), 0o700);
      return await withFileLock(`${file}.lock`, async () => {
        const before = read(file);
        const draft = fileDraft(file, textOf(before).length + ROOM_BYTES);
        try {
          const after = await change(before);
          if (after !== before) draft.replaceBy(textOf(after));
          return after;
        } finally {
          draft.remove();
        }
      });
    },
  };
}

function read(file: string): Hosts {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NONE;
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
  closeToOthers(file, 0o600);
  try {
    const parsed = JSON.parse(text) as Partial<Hosts>;
    return { current: parsed.current ?? null, profiles: parsed.profiles ?? {} };
  } catch {
    throw new CliError(`${file} is not JSON.`, { next: 'Remove it and sign in again: berth login' });
  }
}

/** A restored backup or a careless copy may have made it readable. */
function closeToOthers(file: string, mode: number): void {
  if (process.platform === 'win32' || (statSync(file).mode & 0o077) === 0) return;
  chmodSync(file, mode);
}

const textOf = (hosts: Hosts): string => `${JSON.stringify(hosts, null, 2)}\n`;
