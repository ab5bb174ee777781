import { hkdfSync, randomBytes } from 'node:crypto';
import { LOGIN_TOKEN_MINUTES } from '../../../domain/identity/session.ts';
import type { Logger } from '../../../ports/logger.ts';
import { keyFile, type StoredSecrets } from './key-file.ts';

/** The keys for each purpose, all derived from one secret. */
export type KeySet = {
  /** Identifies the key of a login token. Derived too, so that replicas agree on it. */
  readonly id: string;
  readonly loginTokenSecret: Buffer;
  readonly refresh: Buffer;
  /** Encrypts second factors' secrets in the database. */
  readonly factors: Buffer;
  /** Encrypts the SSH host keys in the database. */
  readonly hostKeys: Buffer;
  /** Makes the throttle's digests. */
  readonly throttle: Buffer;
  /** Signs messages between processes over a Redis. */
  readonly messages: Buffer;
};

export type Keys = {
  /** One or two: the first signs and derives, both verify. The same array until something changes. */
  readonly live: () => readonly KeySet[];
  /** The live ones and a retired one, since data encrypted in the database does not expire. */
  readonly known: () => readonly KeySet[];
};

/** Until a retired key's last token has expired, with a margin for clock differences. */
const RETIRED_FOR_MS = (LOGIN_TOKEN_MINUTES + 1) * 60_000;
const MIN_SECRET_BYTES = 32;

function derive(secret: Buffer): KeySet {
  if (secret.length < MIN_SECRET_BYTES) throw new Error('a secret must have at least 32 bytes');
  const key = (purpose: string, length = 32): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', purpose, length));
  return {
    id: key('berth key id', 9).toString('base64url'),
    loginTokenSecret: key('berth login token'),
    refresh: key('berth refresh token'),
    factors: key('berth second factors'),
    hostKeys: key('berth ssh host keys'),
    throttle: key('berth throttle'),
    messages: key('berth messages'),
  };
}

/** Keys of fixed secrets, the current one first. */
export function keysFrom(...secrets: readonly Buffer[]): Keys {
  const sets = secrets.map(derive);
  if (sets.length === 0 || sets.length > 2) throw new Error('one or two secrets are needed');
  if (new Set(sets.map(({ id }) => id)).size < sets.length) throw new Error('the secrets must differ');
  return { live: () => sets, known: () => sets };
}

/** Keys in the data folder, which can change at runtime. */
export type StoredKeys = Keys & {
  /**
   * Takes over a changed file; otherwise makes a new secret, and the previous one verifies until its last token has
   * expired. Returns which it was. A missing file is replaced by a new secret alone. Concurrent calls join.
   */
  rotate(): Promise<'rotated' | 'read again'>;
};

/** From `current` or `current,previous` in the settings. */
export const configuredKeys = (setting: string): Keys =>
  keysFrom(...setting.split(',').map((secret) => Buffer.from(secret.trim())));

/** The secrets in the data folder (mode 0600), created at the first start. */
export async function storedKeys(dataDir: string, nowMs: () => number = Date.now): Promise<StoredKeys> {
  const file = keyFile(dataDir);
  const make = (before: StoredSecrets | null): StoredSecrets => ({
    current: randomBytes(48),
    previous: before?.current ?? null,
    rotatedAtMs: nowMs(),
  });
  let stored = (await file.read()) ?? (await file.write(make(null)));
  let ring = ringOf(stored, nowMs);
  const known = ({ current, previous }: StoredSecrets) =>
    (previous === null ? keysFrom(current) : keysFrom(current, previous)).known();
  let running: ReturnType<StoredKeys['rotate']> | undefined;

  async function rotateNow(): ReturnType<StoredKeys['rotate']> {
    const found = await file.read();
    const byHand = found !== null && !found.current.equals(stored.current);
    stored = byHand ? found : await file.write(make(found));
    ring = ringOf(stored, nowMs);
    return byHand ? 'read again' : 'rotated';
  }
  return {
    live: () => ring(),
    known: () => known(stored),
    rotate: () => {
      running ??= rotateNow().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** Both keys, or only the current one when the previous has no live token. */
function ringOf({ current, previous, rotatedAtMs }: StoredSecrets, nowMs: () => number): Keys['live'] {
  const alone = keysFrom(current).live();
  if (previous === null) return () => alone;
  const both = keysFrom(current, previous).live();
  return () => (nowMs() < rotatedAtMs + RETIRED_FOR_MS ? both : alone);
}

/** Rotates keys in the data folder and logs the result; those of the settings change with a restart. */
export async function rotate(keys: Keys | StoredKeys, log: Logger): Promise<void> {
  if (!('rotate' in keys)) {
    log.warn('the keys come from BERTH_JWT_SECRET: change it to `new,old` and restart');
    return;
  }
  const done = await keys.rotate().catch((error: unknown) => {
    log.error({ err: error }, 'the keys were not rotated');
    return null;
  });
  if (done !== null) log.warn(`the keys of login tokens were ${done}`);
}

/** The secret of the settings, else the one in the data folder. */
export const loadKeys = async (dataDir: string, configured: string | null): Promise<Keys | StoredKeys> =>
  configured === null ? await storedKeys(dataDir) : configuredKeys(configured);
