import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;

const keyId = (key: Buffer): Buffer => createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);

/** AES-256-GCM. `context` says what the secret is for; sealed for one thing, it does not open for another. */
export function seal(key: Buffer, secret: Buffer, context: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const text = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([keyId(key), iv, cipher.getAuthTag(), text]);
}

/** Opens what one of the keys sealed. Throws when none did, or when it was changed. */
export function unseal(keys: readonly Buffer[], sealed: Buffer, context: string): Buffer {
  const key = keys.find((one) => keyId(one).equals(sealed.subarray(0, KEY_ID_BYTES)));
  if (key === undefined) throw new Error('sealed with a key that is not here');
  const body = sealed.subarray(KEY_ID_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(body.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(body.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}
