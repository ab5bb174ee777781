import { listContainers } from '../../../api/containers/containers.ts';
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
import { now } from '../../../lib/clock.ts';
import { ago } from '../../../lib/format/format.ts';
import { tokenIsOver } from '../../../lib/format/token-facts.ts';

/** What opens the account, or a container of it, beside password and session. */
export type Credential = {
  readonly id: string;
  readonly name: string;
  readonly kind: 'Passkey' | 'Connected sign-in' | 'SSH key' | 'API token' | 'Share link';
  readonly created_at: string;
  /** Undefined where nobody knows. */
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

async function shareLinks(): Promise<readonly Credential[]> {
  const own = (await listContainers()).filter(({ id }) => !id?.startsWith('agent:'));
  const shares = own.map(async ({ db_id, name }) =>
    (await listCollaborations(db_id)).map(
      ({ id, created_at, mode }): Credential => ({
        id,
        name: `${name}, to ${mode === 'view' ? 'watch' : 'work in'}`,
        kind: 'Share link',
        created_at,
        action: 'End',
        remove: () => leaveCollaboration(id),
      }),
    ),
  );
  return (await Promise.all(shares)).flat();
}

/** All of the signed-in user. */
export async function loadCredentials(): Promise<readonly Credential[]> {
  const loaded = [passkeys(), identities(), sshKeys(), tokens(), shareLinks()];
  return (await Promise.all(loaded)).flat();
}
