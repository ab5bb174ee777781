import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import t from 'tap';
import { decrypt, encrypt, isCurrentKey } from '../../../src/app/identity/auth/encryption.ts';
import { configuredKeys, keysFrom, loadKeys, rotate, storedKeys } from '../../../src/app/main/keys/keys.ts';
import { aServiceInTime, codeAt, from, logIn, withMfa } from '../../support/service/factors.ts';
import { aService } from '../../support/service/service.ts';

const MINUTE_MS = 60_000;
const secret = (fill: number): Buffer => Buffer.alloc(32, fill);

t.test('each purpose has its own key, equal wherever the secret is', async (t) => {
  const [one] = keysFrom(secret(1)).live();
  const [two] = keysFrom(secret(2)).live();
  t.same(keysFrom(secret(1)).live()[0], one);
  t.equal(one?.loginTokenSecret.length, 32);
  const all = [one, two].flatMap((set) => [
    set?.id,
    set?.loginTokenSecret.toString('hex'),
    set?.refresh.toString('hex'),
  ]);
  t.equal(new Set(all).size, 6);
  t.notMatch(JSON.stringify(one), secret(1).toString('hex'));
});

t.test('a short, missing, repeated or third secret is refused', async (t) => {
  t.throws(() => keysFrom(Buffer.alloc(31, 1)), { message: /32 bytes/ });
  t.throws(() => keysFrom(Buffer.alloc(0)), { message: /32 bytes/ });
  t.throws(() => keysFrom(secret(1), Buffer.alloc(0)), { message: /32 bytes/ });
  t.throws(() => keysFrom());
  t.throws(() => keysFrom(secret(1), secret(1)), { message: /differ/ });
  t.throws(() => keysFrom(secret(1), secret(2), secret(3)));
});

t.test('the setting has the current secret and optionally the previous one', async (t) => {
  const [a, b] = ['a'.repeat(40), 'b'.repeat(40)];
  t.same(configuredKeys(a).live(), keysFrom(Buffer.from(a)).live());
  t.same(configuredKeys(`${a}, ${b}`).live(), keysFrom(Buffer.from(a), Buffer.from(b)).live());
});

t.test('the first start makes a secret that only its owner may read; the next start finds it', async (t) => {
  const dir = t.testdir();
  const made = (await loadKeys(dir, null)).live();
  const file = path.join(dir, 'secret.json');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same((await loadKeys(dir, null)).live(), made);
  chmodSync(file, 0o640);
  await t.rejects(loadKeys(dir, null), { message: /other users can read .*chmod 600/ });
  chmodSync(file, 0o600);
  for (const damaged of ['', '{', '{}', '{"current":"short","previous":null,"rotated_at":""}']) {
    writeFileSync(file, damaged);
    await t.rejects(loadKeys(dir, null), { message: /is damaged/ }, damaged);
  }
});

t.test("after a rotation both keys are live until the old one's last token has expired", async (t) => {
  const dir = t.testdir();
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const keys = await storedKeys(dir, () => nowMs);
  const [old] = keys.live();
  t.equal(keys.live(), keys.live(), 'the same array until something changes');
  t.equal(await keys.rotate(), 'rotated');
  const [current, previous, ...more] = keys.live();
  t.same([previous, more], [old, []]);
  t.not(current?.id, old?.id);
  t.same((await storedKeys(dir, () => nowMs)).live(), keys.live(), 'also after a restart');
  nowMs += 15 * MINUTE_MS;
  t.equal(keys.live().length, 2);
  nowMs += MINUTE_MS;
  t.same(keys.live(), [current]);
  t.same((await storedKeys(dir, () => nowMs)).live(), [current]);
});

t.test('concurrent rotations are one; a removed file gives a new secret alone', async (t) => {
  const dir = t.testdir();
  const keys = await storedKeys(dir);
  const [first] = keys.live();
  await Promise.all([keys.rotate(), keys.rotate(), keys.rotate()]);
  t.same(keys.live()[1], first);
  rmSync(path.join(dir, 'secret.json'));
  const before = keys.live().map(({ id }) => id);
  await keys.rotate();
  t.equal(keys.live().length, 1);
  t.notOk(before.includes(keys.live()[0]?.id ?? ''));
});

t.test('a replaced key file is taken over as it is', async (t) => {
  const root = t.testdir({ here: {}, there: {} });
  const [here, there] = [path.join(root, 'here'), path.join(root, 'there')];
  const keys = await storedKeys(here);
  const other = await storedKeys(there);
  await other.rotate();
  const text = readFileSync(path.join(there, 'secret.json'));
  writeFileSync(path.join(here, 'secret.json'), text, { mode: 0o600 });
  t.equal(await keys.rotate(), 'read again');
  t.same(keys.live(), other.live());
  t.same(readFileSync(path.join(here, 'secret.json')), text);
});

t.test('a failed rotation leaves the keys unchanged and is reported', async (t) => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const dir = t.testdir();
  const keys = await storedKeys(dir);
  const before = keys.live();
  writeFileSync(path.join(dir, 'secret.json'), 'damaged');
  await rotate(keys, log);
  t.equal(keys.live(), before);
  await rotate(keysFrom(secret(1)), log);
  t.match(lines, [/not rotated/, /BERTH_JWT_SECRET/]);
  t.notMatch(lines.join(), /secret\.json.*[A-Za-z0-9_-]{43}/);
});

const [one, two, three] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const plain = Buffer.from('a secret of twenty b');

t.test('a sealed secret opens with its key and purpose, and never looks the same twice', async (t) => {
  const sealed = encrypt([one], plain, 'ada');
  t.same(decrypt([one], sealed, 'ada'), plain);
  t.notSame(encrypt([one], plain, 'ada'), sealed);
  t.notOk(sealed.includes(plain));
  t.throws(() => decrypt([one], sealed, 'bob'), 'for somebody else');
  t.equal(decrypt([two], sealed, 'ada'), null, 'another key');
  for (let at = 4; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => decrypt([one], changed, 'ada'), `byte ${at}`);
  }
});

t.test('the first key seals, all keys open', async (t) => {
  const old = encrypt([one], plain, 'ada');
  t.same(decrypt([two, one], old, 'ada'), plain);
  t.notOk(isCurrentKey([two, one], old));
  const fresh = encrypt([two, one], plain, 'ada');
  t.ok(isCurrentKey([two, one], fresh));
  t.equal(decrypt([three, one], fresh, 'ada'), null);
  t.throws(() => encrypt([], plain, 'ada'));
});

t.test('second factors follow a key rotation, and none is lost', async (t) => {
  const before = await aServiceInTime();
  const { secret: shown, recoveryCodes } = await withMfa(before, 'ada');
  const { ports, clock } = before;
  const [older, newer] = [Buffer.alloc(48, 7), Buffer.alloc(48, 8)];
  const rotated = await aService(ports, { keys: keysFrom(newer, older) });
  t.equal(await rotated.reseal(), 0, 'nothing is lost');
  const after = await aService(ports, { keys: keysFrom(newer) });
  const signIn = async (code: string | undefined) => {
    const { mfa_token } = (await logIn(after, 'ada')).json();
    return (await from(after)('/api/auth/mfa', { mfa_token, code })).statusCode;
  };
  t.equal(await signIn(codeAt(shown, clock.now())), 200, 'also without the old key');
  const gone = await aService(ports, { keys: keysFrom(Buffer.alloc(48, 9)) });
  t.equal(await gone.reseal(), 1, 'with neither, that is said');
  const { mfa_token } = (await logIn(gone, 'ada')).json();
  const code = codeAt(shown, new Date(clock.now().getTime() + 30_000));
  t.equal((await from(gone)('/api/auth/mfa', { mfa_token, code })).statusCode, 401);
  const recovered = await from(gone)('/api/auth/mfa', { mfa_token, code: recoveryCodes[0] });
  t.equal(recovered.statusCode, 200, 'a recovery code still opens');
});
