import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;

const keyId = (key: Buffer): Buffer => createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);

/** AES-256-GCM with the first key. A secret sealed with one `context` does not open with another. */
export function encrypt([key]: readonly Buffer[], secret: Buffer, context: string): Buffer {
  if (key === undefined) throw new Error('there is no key to seal with');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const text = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([keyId(key), iv, cipher.getAuthTag(), text]);
}

export const isCurrentKey = ([key]: readonly Buffer[], encrypted: Buffer): boolean =>
  key !== undefined && keyId(key).equals(encrypted.subarray(0, KEY_ID_BYTES));

/** Opens what one of the keys sealed; null when none did. Throws when it has been changed. */
export function decrypt(keys: readonly Buffer[], encrypted: Buffer, context: string): Buffer | null {
  const key = keys.find((one) => keyId(one).equals(encrypted.subarray(0, KEY_ID_BYTES)));
  if (key === undefined) return null;
  const body = encrypted.subarray(KEY_ID_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(body.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(body.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}
