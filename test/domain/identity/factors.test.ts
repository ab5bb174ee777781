import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import {
  challengeIn,
  counterHolds,
  passkeyNameFaults,
  relyingPartyAt,
  userHandleOf,
} from '../../../src/domain/identity/passkey.ts';
import {
  RECOVERY_RANDOM_BYTES,
  readCode,
  recoveryCodes,
} from '../../../src/domain/identity/second-factor.ts';
import { parseSshKey, sshKeyName, sshKeyNameFaults } from '../../../src/domain/identity/ssh-key.ts';
import { anyCharacter, DSA_KEY, SHORT_RSA_KEY, SSH_KEYS, wire } from '../../support/samples/samples.ts';

t.test('ten recovery codes of 80 bits are read as they are written', async (t) => {
  const made = recoveryCodes(randomBytes(RECOVERY_RANDOM_BYTES));
  t.equal(new Set(made).size, 10);
  for (const code of made) {
    const plain = code.replaceAll('-', '');
    t.same(readCode(code), { kind: 'recovery', code: plain });
    t.same(readCode(` ${code.toUpperCase().replaceAll('-', ' ')}\n`), { kind: 'recovery', code: plain });
  }
  t.same(recoveryCodes(Buffer.alloc(RECOVERY_RANDOM_BYTES))[0], 'aaaa-aaaa-aaaa-aaaa');
  t.same(recoveryCodes(Buffer.alloc(RECOVERY_RANDOM_BYTES, 255))[9], '9999-9999-9999-9999');
  t.throws(() => recoveryCodes(Buffer.alloc(3)));
});

t.test('each bit of the random bytes counts', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: RECOVERY_RANDOM_BYTES, maxLength: RECOVERY_RANDOM_BYTES }),
      fc.nat(RECOVERY_RANDOM_BYTES * 8 - 1),
      (bytes, bit) => {
        const one = Buffer.from(bytes);
        const other = Buffer.from(bytes);
        other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        return recoveryCodes(one).join() !== recoveryCodes(other).join();
      },
    ),
  );
});

t.test('text that is neither code nor recovery code is refused', async (t) => {
  for (const [typed, kind] of [
    ['123456', 'totp'],
    ['123 456', 'totp'],
    ['12345', null],
    ['1234567', null],
    ['', null],
    ['aaaa-aaaa-aaaa-aaal', null],
    ['aaaa-aaaa-aaaa-aaa0', null],
    ['١٢٣٤٥٦', null],
  ] as const) {
    t.equal(readCode(typed)?.kind ?? null, kind, JSON.stringify(typed));
  }
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (typed) => readCode(typed) === null || typed.length >= 6),
  );
});

t.test('passkeys need a domain name with https, or localhost', async (t) => {
  for (const [url, party] of [
    ['https://berth.example.org', { id: 'berth.example.org', origin: 'https://berth.example.org' }],
    ['https://berth.example.org:8443', { id: 'berth.example.org', origin: 'https://berth.example.org:8443' }],
    ['http://127.0.0.1:8080', { id: 'localhost', origin: 'http://localhost:8080' }],
    ['http://[::1]:8080', { id: 'localhost', origin: 'http://localhost:8080' }],
    ['http://localhost', { id: 'localhost', origin: 'http://localhost' }],
    ['http://berth.example.org', null],
    ['https://box7', { id: 'box7', origin: 'https://box7' }],
    ['https://192.0.2.1', null],
    ['https://[2001:db8::1]', null],
    ['', null],
  ] as const) {
    t.same(relyingPartyAt(url), party, url);
  }
});

t.test('a challenge is read from any browser data', async (t) => {
  const encode = (text: string): string => Buffer.from(text).toString('base64url');
  t.equal(challengeIn(encode('{"challenge":"abc"}')), 'abc');
  for (const text of ['', 'null', '7', '[]', '{', '{"challenge":7}', '"x"'])
    t.equal(challengeIn(encode(text)), null, text);
  fc.assert(fc.property(fc.string(), (text) => typeof challengeIn(text) !== 'number'));
});

t.test('a counter grows, or is always 0', async (t) => {
  for (const [before, now, holds] of [
    [0, 0, true],
    [0, 1, true],
    [5, 6, true],
    [5, 5, false],
    [5, 4, false],
    [5, 0, false],
  ] as const) {
    t.equal(counterHolds(before, now), holds, `${before} to ${now}`);
  }
});

t.test("a user handle is the id's bytes", async (t) => {
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  t.equal(Buffer.from(userHandleOf(id), 'base64url').toString('hex'), id.replaceAll('-', ''));
  for (const good of ['x', '🔑'.repeat(100)]) t.same(passkeyNameFaults(good), {});
  for (const bad of ['', 'a\nb', 'x'.repeat(101)]) t.match(passkeyNameFaults(bad), { name: String });
});

const faultOf = (text: string): string | null => {
  const parsed = parseSshKey(text);
  return 'fault' in parsed ? parsed.fault : null;
};

t.test('OpenSSH keys are read, with the fingerprint that it prints', async (t) => {
  for (const [type, fingerprint, base64] of SSH_KEYS) {
    const publicKey = `${type} ${base64}`;
    t.same(parseSshKey(publicKey), { type, publicKey, fingerprint, comment: '' }, type);
    t.match(parseSshKey(`  ${type}  ${base64} ada@laptop at work\r\n`), {
      publicKey,
      comment: 'ada@laptop at work',
    });
  }
});

t.test('keys of hardware tokens are read', async (t) => {
  const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]);
  const ed = 'sk-ssh-ed25519@openssh.com';
  const ec = 'sk-ecdsa-sha2-nistp256@openssh.com';
  t.equal(faultOf(`${ed} ${wire(ed, Buffer.alloc(32, 7), 'ssh:')}`), null);
  t.equal(faultOf(`${ec} ${wire(ec, 'nistp256', point, 'ssh:')}`), null);
  t.match(faultOf(`${ed} ${wire(ed, Buffer.alloc(32, 7))}`), /not a valid/, 'without what it is for');
});

t.test('an invalid public key is refused with a helpful message', async (t) => {
  const [ed25519 = ['', '', '']] = SSH_KEYS;
  const [type, , base64] = ed25519;
  const rsa = (e: Buffer, n: Buffer) => `ssh-rsa ${wire('ssh-rsa', e, n)}`;
  const three = Buffer.from([1, 0, 1]);
  const modulus = (bytes: number) => Buffer.concat([Buffer.from([0, 0x80]), Buffer.alloc(bytes - 1, 1)]);
  t.equal(faultOf(rsa(three, modulus(256))), null, 'the helper makes good ones');
  const [bits64, bits65] = [
    Buffer.from('008000000000000001', 'hex'),
    Buffer.from('010000000000000001', 'hex'),
  ];
  t.equal(faultOf(rsa(bits64, modulus(256))), null, 'the largest exponent');
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['nothing', '', /^must be the line of a file/],
    ['a word', 'hello', /^must be the line of a file/],
    ['only the type', type, /not a valid/],
    ['DSA', DSA_KEY, /^must be the line of a file/],
    ['a short RSA key', SHORT_RSA_KEY, /2048 bits or more/],
    ['an RSA key beyond use', rsa(three, modulus(2049)), /not a valid/],
    ['an exponent of 65 bits', rsa(bits65, modulus(256)), /not a valid ssh-rsa key of 2048 bits or more/],
    ['an even exponent', rsa(Buffer.from([1, 0, 0]), modulus(256)), /not a valid/],
    ['an exponent of one', rsa(Buffer.from([1]), modulus(256)), /not a valid/],
    ['a negative modulus', rsa(three, Buffer.alloc(256, 0xff)), /not a valid/],
    ['needless zeros', rsa(three, Buffer.concat([Buffer.alloc(2), Buffer.alloc(256, 0x7f)])), /not a valid/],
    ['an unknown type', `ssh-rsa2 ${base64}`, /^must be the line of a file/],
    ['a type of all objects', `__proto__ ${base64}`, /^must be the line of a file/],
    ['another type than inside', `ecdsa-sha2-nistp256 ${base64}`, /not a valid/],
    [
      'the fields of its type under another name',
      `${type} ${wire('ssh-rsa', Buffer.alloc(32))}`,
      /not a valid/,
    ],
    ['broken base64', `${type} ${base64}!`, /not a valid/],
    ['base64 of URLs', `${type} ${base64.replace(/\//g, '_')}`, /not a valid/],
    ['missing padding', `${type} ${wire('ssh-ed25519', Buffer.alloc(31))}`, /not a valid/],
    ['a cut key', `${type} ${base64.slice(0, -8)}`, /not a valid ssh-ed25519 key$/],
    ['a longer key', `${type} ${wire(type, Buffer.alloc(32), 'more')}`, /not a valid/],
    [
      'a length beyond the end',
      `${type} ${Buffer.from([0xff, 0xff, 0xff, 0xff]).toString('base64')}`,
      /not a valid/,
    ],
    [
      'a point in another form',
      `ecdsa-sha2-nistp256 ${wire('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 2))}`,
      /not a valid/,
    ],
    [
      'the curve of another',
      `ecdsa-sha2-nistp256 ${wire('ecdsa-sha2-nistp256', 'nistp384', Buffer.alloc(65, 4))}`,
      /not a valid/,
    ],
    ['options before it', `command="rm -rf /" ${type} ${base64}`, /^must be the line of a file/],
    ['two lines', `${type} ${base64}\n${type} ${base64}`, /one line/],
    ['a NUL', `${type} ${base64} a\0b`, /one line/],
    ['too much', `${type} ${base64} ${'x'.repeat(9000)}`, /one line/],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl', /never share a private key/],
  ];
  for (const [name, text, words] of cases) t.match(faultOf(text), words, name);
});

t.test("a key's name is the given one, else its comment, else its type", async (t) => {
  const [[type, , base64] = ['', '', '']] = SSH_KEYS;
  const parsed = parseSshKey(`${type} ${base64} ada@laptop`);
  if ('fault' in parsed) return t.fail(parsed.fault);
  t.equal(sshKeyName('  work ', parsed), 'work');
  t.equal(sshKeyName('', parsed), 'ada@laptop');
  t.equal(sshKeyName(undefined, { ...parsed, comment: '' }), type);
  t.equal([...sshKeyName(undefined, { ...parsed, comment: '🚢'.repeat(150) })].length, 100);
  t.equal(sshKeyName(undefined, { ...parsed, comment: `${'x'.repeat(99)} y` }), 'x'.repeat(99));
  t.same(sshKeyNameFaults('🚢'.repeat(100)), {});
  for (const name of ['x'.repeat(101), 'a\nb', 'a\u0000', 'a\ud800'])
    t.match(sshKeyNameFaults(name), { name: String });
});
