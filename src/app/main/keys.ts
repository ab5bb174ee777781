import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isUuid } from '../../domain/container-id.ts';

/** What the service signs and derives with. */
export type Keys = { readonly jwt: Buffer; readonly refresh: Buffer };

/** Keys for one purpose each, all from one secret of at least 32 bytes. */
export function keysFrom(secret: Buffer): Keys {
  if (secret.length < 32) throw new Error('the secret must have at least 32 bytes');
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  return { jwt: derive('berth login token'), refresh: derive('berth refresh token') };
}

/** The secret of the settings, else the one kept in the data folder (mode 0600), made at the first start. */
export async function loadKeys(dataDir: string, configured: string | null): Promise<Keys> {
  if (configured !== null) return keysFrom(Buffer.from(configured));
  const file = path.join(dataDir, 'secret');
  const kept = await readFile(file).catch(() => null);
  if (kept !== null) return keysFrom(kept);
  const made = randomBytes(48);
  await writeFile(file, made, { mode: 0o600, flag: 'wx' });
  return keysFrom(made);
}

/** UUID of the replica that works on this data folder: the same after a restart, so that it finds its own work again. */
export async function loadReplica(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'replica');
  const kept = await readFile(file, 'utf8').catch(() => null);
  if (kept !== null && isUuid(kept)) return kept;
  const made = randomUUID();
  await writeFile(file, made);
  return made;
}
