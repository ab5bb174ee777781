import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import type { Connection } from 'ssh2';

/**
 * The post-quantum key exchange that OpenSSH prefers and warns about when it is absent. ssh2 1.17.0 does not have it, so
 * this uses inner fields of that version. Where a field is not as expected, nothing is offered, and curve25519 is used.
 */
const NAME = 'mlkem768x25519-sha256';
const CLIENT_KEY_BYTES = 1184;
const CLIENT_BYTES = 1216;
const X25519_HEAD = Buffer.from('302a300506032b656e032100', 'hex');

type Kex = {
  _kexinit: Buffer;
  _remoteKexinit: Buffer;
  negotiated: { kex: string };
  type: string;
  hashName: string;
  convertPublicKey: (sent: Buffer) => Buffer;
  computeSecret: (sent: Buffer) => Buffer | Error;
  getPublicKey: () => Buffer | undefined;
};
type Inner = { _server?: boolean; __kex?: Kex | undefined };
type Lists = { array: string[] };

/** The KEXINIT's first list. */
function offeredIn(kexinit: Buffer): readonly string[] {
  const length = kexinit.readUInt32BE(17);
  return kexinit.toString('latin1', 21, 21 + length).split(',');
}

/** Head of a public key in DER, which the wire format omits; null without ML-KEM in this runtime. */
function mlkemHead(): Buffer | null {
  try {
    const { publicKey } = crypto.generateKeyPairSync('ml-kem-768' as 'x25519');
    const der = publicKey.export({ format: 'der', type: 'spki' });
    return typeof encapsulate === 'function' ? der.subarray(0, der.length - CLIENT_KEY_BYTES) : null;
  } catch {
    return null;
  }
}

const { encapsulate } = crypto as unknown as {
  encapsulate?: (key: crypto.KeyObject) => { sharedKey: Buffer; ciphertext: Buffer };
};

/** Teaches the package the exchange, once. Returns the names to offer first: none where it cannot. */
export function postQuantumExchanges(): readonly string[] {
  const require = createRequire(import.meta.url);
  const head = mlkemHead();
  if (head === null) return [];
  try {
    const constants = require('ssh2/lib/protocol/constants.js') as { SUPPORTED_KEX?: unknown };
    const Protocol = require('ssh2/lib/protocol/Protocol.js') as { prototype?: object };
    const { SUPPORTED_KEX: supported } = constants;
    if (!Array.isArray(supported) || typeof Protocol.prototype !== 'object') return [];
    if (supported.includes(NAME)) return [NAME];
    replaceExchange(Protocol.prototype, head);
    supported.unshift(NAME);
    return [NAME];
  } catch {
    return [];
  }
}

/** For each new connection: the package itself must choose curve25519, whose steps are then replaced. */
export function preferPostQuantum(connection: Connection): void {
  const { _protocol: protocol } = connection as unknown as {
    _protocol?: { _offer?: { lists?: { kex?: Lists } } };
  };
  const kex = protocol?._offer?.lists?.kex;
  if (kex !== undefined) kex.array = kex.array.filter((one) => one !== NAME);
}

function replaceExchange(prototype: object, head: Buffer): void {
  Object.defineProperty(prototype, '_kex', {
    get(this: Inner) {
      return this.__kex;
    },
    set(this: Inner, kex: Kex | undefined) {
      this.__kex = kex;
      if (!kex || this._server !== true) return;
      const ours = offeredIn(kex._kexinit);
      const chosen = offeredIn(kex._remoteKexinit).find((one) => ours.includes(one));
      if (chosen === NAME) useMlkem(kex, head);
    },
  });
}

function useMlkem(kex: Kex, head: Buffer): void {
  let answer: Buffer | undefined;
  kex.type = 'mlkem';
  kex.hashName = 'sha256';
  kex.negotiated.kex = NAME;
  kex.convertPublicKey = (sent) => sent;
  kex.computeSecret = (sent) => {
    try {
      const found = secretOf(sent, head);
      answer = found.answer;
      return found.secret;
    } catch (error) {
      return error as Error;
    }
  };
  kex.getPublicKey = () => answer;
}

/** `sent`: the client's ML-KEM key, then its X25519 key. */
function secretOf(sent: Buffer, head: Buffer): { readonly secret: Buffer; readonly answer: Buffer } {
  if (sent.length !== CLIENT_BYTES || encapsulate === undefined) throw new Error('wrong length of a key');
  const spki = (der: Buffer) => crypto.createPublicKey({ key: der, format: 'der', type: 'spki' });
  const { sharedKey, ciphertext } = encapsulate(
    spki(Buffer.concat([head, sent.subarray(0, CLIENT_KEY_BYTES)])),
  );
  const own = crypto.generateKeyPairSync('x25519');
  const theirs = spki(Buffer.concat([X25519_HEAD, sent.subarray(CLIENT_KEY_BYTES)]));
  const classic = crypto.diffieHellman({ privateKey: own.privateKey, publicKey: theirs });
  const ownBytes = own.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    secret: crypto.createHash('sha256').update(sharedKey).update(classic).digest(),
    answer: Buffer.concat([ciphertext, ownBytes]),
  };
}
