import { randomUUID } from 'node:crypto';
import type { Credential, HostsFile, Profile } from './hosts-file.ts';
import type { Keyring } from './keyring.ts';

/** What a profile has, wherever its secret is. */
export const kindOf = ({ credential }: Profile): Credential['kind'] =>
  credential.kind === 'keyring' ? credential.of : credential.kind;

export const isInKeyring = ({ credential }: Profile): boolean => credential.kind === 'keyring';

/** `fresh`: as another process may have changed it meanwhile. `limitMs`: of the keyring. */
export type Reading = { readonly fresh: boolean; readonly limitMs?: number };

/** null: it is no longer in the keyring. */
export async function credentialOf(
  keyring: Keyring,
  { credential }: Profile,
  { fresh, limitMs }: Reading,
): Promise<Credential | null> {
  if (credential.kind !== 'keyring') return credential;
  const text = await (fresh ? keyring.read(credential.id, limitMs) : keyring.recall(credential.id));
  return text === null ? null : (JSON.parse(text) as Credential);
}

/** The profile with a newer credential, kept where the older one is. */
export async function withCredential(
  keyring: Keyring,
  profile: Profile,
  credential: Credential,
  limitMs?: number,
): Promise<Profile> {
  const { credential: kept, server } = profile;
  if (kept.kind !== 'keyring') return { ...profile, credential };
  await keyring.write(kept.id, labelOf(server), JSON.stringify(credential), limitMs);
  return profile;
}

/** Puts the profile's secret into the keyring; the file then names where it is. */
async function intoKeyring(keyring: Keyring, profile: Profile, credential: Credential): Promise<Profile> {
  const kept = { kind: 'keyring', id: randomUUID(), of: credential.kind } as const;
  return await withCredential(keyring, { ...profile, credential: kept }, credential);
}

const labelOf = (server: string): string => `Berth ${server}`;

/**
 * Saves a sign-in and makes it the one in use. The secret of the sign-in that had this name is removed from the keyring
 * afterwards: the result says whether that was possible.
 */
export async function saveSignIn(
  hosts: HostsFile,
  name: string,
  profile: Profile & { readonly credential: Credential },
  { inKeyring }: { readonly inKeyring: boolean },
): Promise<boolean> {
  const { keyring } = hosts;
  const saved = inKeyring ? await intoKeyring(keyring, profile, profile.credential) : profile;
  const former: Profile[] = [];
  await hosts.update(({ profiles }) => {
    const replaced = profiles[name];
    if (replaced !== undefined) former.push(replaced);
    return { current: name, profiles: { ...profiles, [name]: saved } };
  });
  try {
    for (const each of former) await forget(keyring, each);
    return true;
  } catch {
    return false;
  }
}

/** Removes the secret of a profile from the keyring. The file is not changed. */
export async function forget(keyring: Keyring, { credential }: Profile): Promise<void> {
  if (credential.kind === 'keyring') await keyring.remove(credential.id);
}
