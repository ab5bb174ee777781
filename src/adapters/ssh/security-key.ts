import { createHash, createPublicKey, verify } from 'node:crypto';

/** What a client sends to prove a security key (PROTOCOL.u2f of OpenSSH); the package knows no such keys. */
export type SecurityKeyProof = {
  readonly algorithm: string;
  /** The public key in the wire format. */
  readonly publicKey: Buffer;
  /** The signature's fields, without its name. */
  readonly signature: Buffer;
  /** What was signed. */
  readonly blob: Buffer;
};

const ED25519 = 'sk-ssh-ed25519@openssh.com';
const ECDSA = 'sk-ecdsa-sha2-nistp256@openssh.com';
/** The user touched the key. */
const PRESENT = 1;

const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const P256_HEAD = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');

export const isSecurityKey = (algorithm: string): boolean => algorithm === ED25519 || algorithm === ECDSA;

/** Whether the key signed it, with a touch. */
export function provesSecurityKey({ algorithm, publicKey, signature, blob }: SecurityKeyProof): boolean {
  const fields = strings(publicKey, 4);
  const isEd25519 = algorithm === ED25519;
  const [key, application] = isEd25519 ? [fields[1], fields[2]] : [fields[2], fields[3]];
  if (key === undefined || application === undefined) return false;
  const signed = isEd25519 ? signature.subarray(0, 64) : ecdsaOf(signature);
  if (signed === null) return false;
  const tail = signature.subarray(signature.length - 5);
  if (tail.length < 5 || ((tail[0] ?? 0) & PRESENT) === 0) return false;
  const der = Buffer.concat([isEd25519 ? ED25519_HEAD : P256_HEAD, key]);
  const message = Buffer.concat([sha256(application), tail, sha256(blob)]);
  try {
    const spki = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return isEd25519
      ? verify(null, message, spki, signed)
      : verify('sha256', message, { key: spki, dsaEncoding: 'ieee-p1363' }, signed);
  } catch {
    return false;
  }
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** The first fields of the wire format: each a four-byte length and its bytes. */
function strings(bytes: Buffer, count: number): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; found.length < count && at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

const COORDINATE_BYTES = 32;

/** Two numbers of the wire format as one of fixed length. */
function ecdsaOf(signature: Buffer): Buffer | null {
  const numbers = strings(signature, 2).map((number) =>
    number.subarray(Math.max(0, number.length - COORDINATE_BYTES)),
  );
  if (numbers.length < 2) return null;
  return Buffer.concat(
    numbers.map((number) => Buffer.concat([Buffer.alloc(COORDINATE_BYTES - number.length), number])),
  );
}
