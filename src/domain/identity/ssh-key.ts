import { createHash } from 'node:crypto';
import type { FieldFaults } from '../field-faults.ts';
import type { Scope } from './scope.ts';

export type SshKey = {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly type: string;
  /** `type base64`, without the comment. */
  readonly publicKey: string;
  /** `SHA256:` and 43 characters, as OpenSSH prints it. */
  readonly fingerprint: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

/** What a key may do: as much as its owner's login, without administration. */
export const SSH_KEY_SCOPES: readonly Scope[] = ['read', 'write'];

export const MAX_SSH_KEYS = 100;
const MAX_TEXT = 8_192;
const MAX_NAME = 100;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16_384;

export type ParsedKey = Pick<SshKey, 'type' | 'publicKey' | 'fingerprint'> & { readonly comment: string };

/** Reads the fields of the wire format (RFC 4251): each a four-byte length and its bytes. */
function fieldsOf(blob: Buffer): readonly Buffer[] | null {
  const fields: Buffer[] = [];
  for (let at = 0; at < blob.length; ) {
    if (at + 4 > blob.length) return null;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

const bytes = (count: number) => (field: Buffer) => field.length === count;
const text = (value: string) => (field: Buffer) => field.toString('latin1') === value;
/** An uncompressed point; compressed ones are not used on the wire. */
const point = (coordinateBytes: number) => (field: Buffer) =>
  field.length === 1 + 2 * coordinateBytes && field[0] === 4;
const application = (field: Buffer): boolean => field.length > 0 && field.length <= 255;

/** The bits of a positive number in RFC 4251's form: no needless zeros, but one where the first bit is set. */
function bitsOf(field: Buffer): number {
  const [first = 0x80, second = 0] = field;
  if (first >= 0x80 || (first === 0 && second < 0x80)) return 0;
  const digits = first === 0 ? field.subarray(1) : field;
  return digits.length * 8 - Math.clz32(digits[0] ?? 0) + 24;
}

const exponent = (field: Buffer): boolean => {
  const bits = bitsOf(field);
  return bits >= 2 && bits <= 64 && (field.at(-1) ?? 0) % 2 === 1;
};
const modulus = (field: Buffer): boolean => bitsOf(field) >= MIN_RSA_BITS && bitsOf(field) <= MAX_RSA_BITS;

/** The fields after the type's name, for every type that OpenSSH accepts. */
const TYPES: ReadonlyMap<string, readonly ((field: Buffer) => boolean)[]> = new Map([
  ['ssh-ed25519', [bytes(32)]],
  ['ecdsa-sha2-nistp256', [text('nistp256'), point(32)]],
  ['ecdsa-sha2-nistp384', [text('nistp384'), point(48)]],
  ['ecdsa-sha2-nistp521', [text('nistp521'), point(66)]],
  ['ssh-rsa', [exponent, modulus]],
  ['sk-ssh-ed25519@openssh.com', [bytes(32), application]],
  ['sk-ecdsa-sha2-nistp256@openssh.com', [text('nistp256'), point(32), application]],
]);

const NOT_A_KEY =
  'must be the line of a file such as ~/.ssh/id_ed25519.pub: an Ed25519, ECDSA or RSA public key, without options';

/**
 * Reads one line of an `id_*.pub` file: type, base64, an optional comment. Refuses options as in `authorized_keys`,
 * several lines, private keys, DSA and short RSA keys, each with a message.
 */
export function parseSshKey(given: string): ParsedKey | { readonly fault: string } {
  const line = given.trim();
  if (line.includes('PRIVATE KEY')) return { fault: 'must be the public key: never share a private key' };
  if (line.length > MAX_TEXT || /\p{Cc}/u.test(line))
    return { fault: 'must be one line of at most 8192 characters' };
  const [type = '', base64 = '', ...comment] = line.split(/ +/);
  const checks = TYPES.get(type);
  if (checks === undefined) return { fault: NOT_A_KEY };
  const blob = Buffer.from(base64, 'base64');
  const [name, ...fields] = fieldsOf(blob) ?? [];
  const sound =
    blob.toString('base64') === base64 &&
    name?.toString('latin1') === type &&
    fields.length === checks.length &&
    checks.every((check, at) => check(fields[at] ?? Buffer.alloc(0)));
  if (!sound)
    return {
      fault: `is not a valid ${type} key${type === 'ssh-rsa' ? ` of ${MIN_RSA_BITS} bits or more` : ''}`,
    };
  const fingerprint = sshFingerprint(blob);
  return { type, publicKey: `${type} ${base64}`, fingerprint, comment: comment.join(' ') };
}

/** `SHA256:` and 43 characters, of a public key in the wire format. */
export const sshFingerprint = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;

/** The key's name: the given one, else its comment, else its type. */
export const sshKeyName = (name: string | undefined, { comment, type }: ParsedKey): string =>
  name?.trim() || [...comment].slice(0, MAX_NAME).join('').trim() || type;

export const sshKeyNameFaults = (name: string): FieldFaults =>
  /[\p{Cc}\p{Cs}]/u.test(name) || [...name].length > MAX_NAME
    ? { name: `must have at most ${MAX_NAME} characters, none of them control characters` }
    : {};
