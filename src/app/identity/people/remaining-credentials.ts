import type { Repositories } from '../../../ports/storage.ts';

/** What opens the account, or a container of it, after a reset. */
export type RemainingCredential = {
  readonly kind: 'passkey' | 'connected_sign_in' | 'ssh_key' | 'share_link';
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
};

/** All that a reset has left to the user, by kind. */
export async function remainingCredentials(
  tx: Repositories,
  userId: string,
): Promise<readonly RemainingCredential[]> {
  const passkeys = await tx.passkeys.listOf(userId);
  const identities = await tx.identities.listOf(userId);
  const sshKeys = await tx.sshKeys.listOwned(userId);
  return [
    ...passkeys.map(({ id, name, createdAt }) => ({ kind: 'passkey', id, name, createdAt }) as const),
    ...identities.map(
      ({ id, email, issuer, createdAt }) =>
        ({ kind: 'connected_sign_in', id, name: email ?? issuer, createdAt }) as const,
    ),
    ...sshKeys.map(({ id, name, createdAt }) => ({ kind: 'ssh_key', id, name, createdAt }) as const),
    ...(await shareLinks(tx, userId)),
  ];
}

async function shareLinks(tx: Repositories, userId: string): Promise<readonly RemainingCredential[]> {
  const found: RemainingCredential[] = [];
  for (const { container, access } of await tx.sharedContainers.listVisible(userId)) {
    if (access !== null) continue;
    for (const { id, createdAt } of await tx.collaborations.listLive(container.dbId, userId))
      found.push({ kind: 'share_link', id, name: container.name, createdAt });
  }
  return found;
}
