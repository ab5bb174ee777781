import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { passcodeFaults, seenEveryMs, sessionLocked } from '../../src/domain/lock.ts';
import { RECOVERY_RANDOM_BYTES, readCode, recoveryCodes } from '../../src/domain/mfa.ts';
import {
  challengeIn,
  counterHolds,
  passkeyNameFaults,
  relyingPartyAt,
  userHandleOf,
} from '../../src/domain/passkey.ts';

const at = (seconds: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);

t.test('a session is locked on purpose or by idleness, and never without a passcode', async (t) => {
  const cases: readonly [string, Parameters<typeof sessionLocked>, boolean][] = [
    ['open', [{ lockedAt: null, passcodeSet: true, autoLockMinutes: null }, at(0), at(1e6)], false],
    ['locked', [{ lockedAt: at(0), passcodeSet: true, autoLockMinutes: null }, at(0), at(0)], true],
    ['no passcode', [{ lockedAt: at(0), passcodeSet: false, autoLockMinutes: 1 }, at(0), at(1e6)], false],
    [
      'a moment early',
      [{ lockedAt: null, passcodeSet: true, autoLockMinutes: 5 }, at(0), at(299.999)],
      false,
    ],
    ['idle', [{ lockedAt: null, passcodeSet: true, autoLockMinutes: 5 }, at(0), at(300)], true],
  ];
  for (const [name, args, expected] of cases) t.equal(sessionLocked(...args), expected, name);
});

t.test('the last use is written often enough for the lock', async (t) => {
  const lock = (autoLockMinutes: number | null) => ({ lockedAt: null, passcodeSet: true, autoLockMinutes });
  t.equal(seenEveryMs(lock(null), 60_000), 60_000);
  t.equal(seenEveryMs(lock(1), 60_000), 15_000);
  t.equal(seenEveryMs(lock(60), 60_000), 60_000, 'and not more often than needed');
});

t.test('a passcode is counted in characters', async (t) => {
  for (const good of ['1234', '🔒'.repeat(4), 'x'.repeat(64), '🔒'.repeat(64)])
    t.same(passcodeFaults(good), {});
  for (const bad of ['', '123', '🔒🔒', 'x'.repeat(65)]) t.match(passcodeFaults(bad), { passcode: String });
});

t.test('recovery codes are ten, of 80 bits each, and read as they are written', async (t) => {
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

t.test('what is neither a code nor a recovery code is none', async (t) => {
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
    fc.property(fc.string({ unit: 'binary' }), (typed) => readCode(typed) === null || typed.length >= 6),
  );
});

t.test('passkeys are for a domain name with https, and for this machine by its name', async (t) => {
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

t.test('a challenge is read from what the browser says, whatever that is', async (t) => {
  const encode = (text: string): string => Buffer.from(text).toString('base64url');
  t.equal(challengeIn(encode('{"challenge":"abc"}')), 'abc');
  for (const text of ['', 'null', '7', '[]', '{', '{"challenge":7}', '"x"'])
    t.equal(challengeIn(encode(text)), null, text);
  fc.assert(fc.property(fc.string(), (text) => typeof challengeIn(text) !== 'number'));
});

t.test('a count grows, or is not kept at all', async (t) => {
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

t.test('a user is known to authenticators by the bytes of its id', async (t) => {
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  t.equal(Buffer.from(userHandleOf(id), 'base64url').toString('hex'), id.replaceAll('-', ''));
  for (const good of ['x', '🔑'.repeat(100)]) t.same(passkeyNameFaults(good), {});
  for (const bad of ['', 'a\nb', 'x'.repeat(101)]) t.match(passkeyNameFaults(bad), { name: String });
});
