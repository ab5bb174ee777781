import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import t from 'tap';
import { postQuantumExchanges } from '../../../src/adapters/ssh/key-exchange.ts';
import { provesSecurityKey } from '../../../src/adapters/ssh/security-key.ts';

const string = (bytes: Buffer | string): Buffer => {
  const body = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
};
const NAME = 'mlkem768x25519-sha256';
const kexinit = (names: string): Buffer => Buffer.concat([Buffer.alloc(17), string(names)]);
const raw = (key: crypto.KeyObject, bytes: number): Buffer =>
  key.export({ format: 'der', type: 'spki' }).subarray(-bytes);

/** Of the runtime that the service is started with; the types know it not yet. */
const { decapsulate } = crypto as unknown as {
  decapsulate: (key: crypto.KeyObject, ciphertext: Buffer) => Buffer;
};

/** The exchange as a server uses it for a client that offers these names. */
function exchangeWith(offered: string) {
  const require = createRequire(import.meta.url);
  const Protocol = require('ssh2/lib/protocol/Protocol.js') as { prototype: object };
  const server = Object.assign(Object.create(Protocol.prototype), { _server: true });
  server._kex = {
    _kexinit: kexinit(`${NAME},curve25519-sha256`),
    _remoteKexinit: kexinit(offered),
    negotiated: { kex: 'curve25519-sha256' },
  };
  return server._kex;
}

t.test('client and server get the same secret by the post-quantum exchange', async (t) => {
  t.same(postQuantumExchanges(), [NAME]);
  const exchange = exchangeWith(`${NAME},curve25519-sha256`);
  t.equal(exchange.negotiated.kex, NAME);
  const kem = crypto.generateKeyPairSync('ml-kem-768' as 'x25519');
  const classic = crypto.generateKeyPairSync('x25519');
  const sent = Buffer.concat([raw(kem.publicKey, 1184), raw(classic.publicKey, 32)]);
  const secret = exchange.computeSecret(sent);
  const answer: Buffer = exchange.getPublicKey();
  const theirs = crypto.createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), answer.subarray(-32)]),
    format: 'der',
    type: 'spki',
  });
  const shared = decapsulate(kem.privateKey, answer.subarray(0, -32));
  const curve = crypto.diffieHellman({ privateKey: classic.privateKey, publicKey: theirs });
  t.same(secret, crypto.createHash('sha256').update(shared).update(curve).digest());
  t.ok(exchange.computeSecret(sent.subarray(1)) instanceof Error, 'a key of another length is refused');
});

t.test('a client without it keeps its own exchange', async (t) => {
  postQuantumExchanges();
  const exchange = exchangeWith('curve25519-sha256');
  t.same([exchange.negotiated.kex, exchange.computeSecret], ['curve25519-sha256', undefined]);
});

for (const algorithm of ['sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com']) {
  t.test(`a signature of ${algorithm} counts with a touch alone`, async (t) => {
    const isEd25519 = algorithm.startsWith('sk-ssh');
    const { publicKey: spki, privateKey } = isEd25519
      ? crypto.generateKeyPairSync('ed25519')
      : crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const fields = isEd25519 ? [raw(spki, 32)] : ['nistp256', raw(spki, 65)];
    const publicKey = Buffer.concat([algorithm, ...fields, 'ssh:'].map(string));
    const blob = crypto.randomBytes(100);
    const sha256 = (bytes: Buffer | string) => crypto.createHash('sha256').update(bytes).digest();
    const proof = (flags: number) => {
      const tail = Buffer.from([flags, 0, 0, 0, 9]);
      const message = Buffer.concat([sha256('ssh:'), tail, sha256(blob)]);
      const signed = isEd25519
        ? crypto.sign(null, message, privateKey)
        : crypto.sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' });
      const numbers = [signed.subarray(0, 32), signed.subarray(32)].map((one) =>
        string(Buffer.concat([Buffer.alloc(1), one])),
      );
      const signature = Buffer.concat([...(isEd25519 ? [signed] : numbers), tail]);
      return { algorithm, publicKey, signature, blob };
    };
    t.ok(provesSecurityKey(proof(1)));
    t.notOk(provesSecurityKey(proof(0)), 'not without a touch');
    t.notOk(provesSecurityKey({ ...proof(1), blob: Buffer.from('other') }));
    t.notOk(provesSecurityKey({ ...proof(1), signature: Buffer.alloc(3) }));
  });
}
