import { pageOfContainers } from '../../../api/containers/containers.ts';
import { hasStatus } from '../../../api/errors.ts';
import {
  deleteIdentity,
  deletePasskey,
  deleteSshKey,
  listIdentities,
  listPasskeys,
  listSshKeys,
  listTokens,
  type Proof,
  revokeToken,
} from '../../../api/identity/account.ts';
import { leaveCollaboration, listCollaborations } from '../../../api/terminals/collaborations.ts';
import type { Container } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { ago } from '../../../lib/format/format.ts';
import { tokenIsOver } from '../../../lib/format/token-facts.ts';

const AT_ONCE = 4;

type Part = { readonly kind: Credential['kind']; readonly read: () => Promise<readonly Credential[]> };

/** Some parts at once. A part that fails leaves the others. */
async function readParts(parts: readonly Part[]): Promise<Loaded> {
  const credentials: Credential[] = [];
  const missing = new Set<Credential['kind']>();
  for (let from = 0; from < parts.length; from += AT_ONCE) {
    const some = parts.slice(from, from + AT_ONCE);
    const read = some.map(({ kind, read }) => read().catch(() => void missing.add(kind)));
    credentials.push(...(await Promise.all(read)).flatMap((found) => found ?? []));
  }
  return { credentials, missing: [...missing], skipped: 0 };
}

/** What opens the account, or a container of it, beside password and session. */
export type Credential = {
  readonly id: string;
  readonly name: string;
  readonly kind: 'Passkey' | 'Connected sign-in' | 'SSH key' | 'API token' | 'Share link';
  readonly created_at: string;
  /** Undefined for kinds whose use is not recorded. */
  readonly last_used_at?: string | null | undefined;
  readonly action: 'Delete' | 'Disconnect' | 'Remove' | 'Revoke' | 'End';
  readonly remove: (proof: Proof) => Promise<unknown>;
};

export const credentialFacts = ({ kind, created_at, last_used_at }: Credential): string =>
  [
    kind,
    `added ${ago(created_at, now.value)}`,
    ...(last_used_at === undefined
      ? []
      : [last_used_at === null ? 'never used' : `used ${ago(last_used_at, now.value)}`]),
  ].join(' · ');

const passkeys = async (): Promise<readonly Credential[]> =>
  (await listPasskeys()).map((passkey) => ({
    ...passkey,
    kind: 'Passkey',
    action: 'Delete',
    remove: (proof) => deletePasskey(passkey.id, proof),
  }));

const identities = async (): Promise<readonly Credential[]> =>
  (await listIdentities()).map(({ email, issuer, ...identity }) => ({
    ...identity,
    name: email ?? new URL(issuer).host,
    kind: 'Connected sign-in',
    action: 'Disconnect',
    remove: (proof) => deleteIdentity(identity.id, proof),
  }));

const sshKeys = async (): Promise<readonly Credential[]> =>
  (await listSshKeys()).map((key) => ({
    ...key,
    kind: 'SSH key',
    action: 'Remove',
    remove: () => deleteSshKey(key.id),
  }));

const tokens = async (): Promise<readonly Credential[]> =>
  (await listTokens())
    .filter((token) => !tokenIsOver(token, now.value))
    .map((token) => ({
      ...token,
      kind: 'API token',
      action: 'Revoke',
      remove: () => revokeToken(token.id),
    }));

/** Of one own container; none where it was deleted meanwhile. */
async function sharesOf({ db_id, name }: Container): Promise<readonly Credential[]> {
  const shares = await listCollaborations(db_id).catch((failure) => {
    if (hasStatus(failure, 404)) return [];
    throw failure;
  });
  return shares.map(({ id, created_at, mode }) => ({
    id,
    name: `${name}, to ${mode === 'view' ? 'view' : 'type in'}`,
    kind: 'Share link',
    created_at,
    action: 'End',
    remove: () => leaveCollaboration(id),
  }));
}

const LAST_USED = { shared: 'false', q: '', status: '', sort: '-last_used_at' } as const;

/** Each container takes a request. Those of one page are well below a minute's limit. */
async function shareLinks(): Promise<Loaded> {
  const { items, total } = await pageOfContainers(LAST_USED, null);
  const parts = items.map((one) => ({ kind: 'Share link' as const, read: () => sharesOf(one) }));
  return { ...(await readParts(parts)), skipped: total - items.length };
}

export type Loaded = {
  readonly credentials: readonly Credential[];
  /** The kinds that could not be read, or only in part. */
  readonly missing: readonly Credential['kind'][];
  /** How many containers there are beyond those whose share links are read: they were not used for longer. */
  readonly skipped: number;
};

/** All of the signed-in user. */
export async function loadCredentials(): Promise<Loaded> {
  const [others, shares] = await Promise.all([
    readParts([
      { kind: 'Passkey', read: passkeys },
      { kind: 'Connected sign-in', read: identities },
      { kind: 'SSH key', read: sshKeys },
      { kind: 'API token', read: tokens },
    ]),
    shareLinks().catch((): Loaded => ({ credentials: [], missing: ['Share link'], skipped: 0 })),
  ]);
  return {
    credentials: [...others.credentials, ...shares.credentials],
    missing: [...others.missing, ...shares.missing],
    skipped: shares.skipped,
  };
}
