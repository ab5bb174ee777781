import { coalesced } from '../../../concurrency/coalesce.ts';
import { HOST_KEY_TYPES, type HostKeyType } from '../../../domain/identity/ssh-host-key.ts';
import type { HostKeyMaker, StoredHostKey } from '../../../ports/identity/ssh-host-key-repository.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import { decrypt, encrypt, isCurrentKey } from './encryption.ts';

/** `privateKey` as OpenSSH stores it, `publicKey` as `type base64`. */
export type HostKey = {
  readonly type: HostKeyType;
  readonly publicKey: string;
  readonly privateKey: string;
};

export type SshHostKeysDeps = {
  readonly storage: Storage;
  readonly maker: HostKeyMaker;
  /** Keys of the encryption, the current one first. */
  readonly keys: () => readonly Buffer[];
  readonly log: Logger;
};

const contextOf = (type: HostKeyType): string => `ssh host key ${type}`;

/** The installation's host keys: made once, encrypted in the database, and the same in every process. */
export function sshHostKeys(deps: SshHostKeysDeps) {
  let known: readonly HostKey[] | null = null;
  const load = coalesced(async () => {
    known = await loadAll(deps);
  });
  return {
    /** Makes those that do not exist yet. */
    async all(): Promise<readonly HostKey[]> {
      if (known === null) await load();
      return known ?? [];
    },

    /** Re-encrypts with the present key. */
    reseal: () => reseal(deps),
  };
}

async function loadAll(deps: SshHostKeysDeps): Promise<readonly HostKey[]> {
  const { sshHostKeys: stored } = deps.storage.repositories;
  const before = await stored.list();
  const missing = HOST_KEY_TYPES.filter((wanted) => !before.some(({ type }) => type === wanted));
  for (const type of missing) await stored.insertMissing(sealed(deps, await fresh(deps, type)));
  // Another process may have been faster: what is stored counts.
  const opened: HostKey[] = [];
  for (const key of await stored.list()) opened.push(open(deps, key) ?? (await renewed(deps, key)));
  return opened.sort((a, b) => HOST_KEY_TYPES.indexOf(a.type) - HOST_KEY_TYPES.indexOf(b.type));
}

const fresh = async ({ maker }: SshHostKeysDeps, type: HostKeyType): Promise<HostKey> => ({
  type,
  ...(await maker.make(type)),
});

const sealed = ({ keys }: SshHostKeysDeps, { type, publicKey, privateKey }: HostKey): StoredHostKey => ({
  type,
  publicKey,
  sealedPrivateKey: encrypt(keys(), Buffer.from(privateKey), contextOf(type)),
});

/** null when no key opens it, and for one that an earlier version stored although no server can use it. */
function open({ keys, maker }: SshHostKeysDeps, { type, publicKey, sealedPrivateKey }: StoredHostKey) {
  const privateKey = decrypt(keys(), sealedPrivateKey, contextOf(type))?.toString() ?? null;
  return privateKey !== null && maker.isUsable(privateKey) ? { type, publicKey, privateKey } : null;
}

/** No process can show this host key any more. */
async function renewed(deps: SshHostKeysDeps, lost: StoredHostKey): Promise<HostKey> {
  const { sshHostKeys: stored } = deps.storage.repositories;
  await stored.replace(lost, sealed(deps, await fresh(deps, lost.type)));
  deps.log.warn(`the SSH host key ${lost.type} cannot be decrypted or used: clients must accept a new one`);
  const now = (await stored.list()).find(({ type }) => type === lost.type);
  const key = now === undefined ? null : open(deps, now);
  if (key === null) throw new Error('the SSH host keys of this installation belong to another secret');
  return key;
}

async function reseal(deps: SshHostKeysDeps): Promise<void> {
  const { sshHostKeys: stored } = deps.storage.repositories;
  for (const key of await stored.list()) {
    const opened = isCurrentKey(deps.keys(), key.sealedPrivateKey) ? null : open(deps, key);
    if (opened !== null) await stored.replace(key, sealed(deps, opened));
  }
}
