import t from 'tap';
import { argon2Hasher } from '../../src/adapters/security/password-hasher.ts';
import { HASHES_PER_USER } from '../../src/app/identity/limits/hashing-queue.ts';
import type { PasswordHasher } from '../../src/ports/identity/password-hasher.ts';
import { from } from '../support/service/factors.ts';
import { aPerson, aService, as, person } from '../support/service/service.ts';

const TIMES = 200;

/** The real one; `hashed` has how often it was asked, and for which secrets. */
async function counted(): Promise<{ hasher: PasswordHasher; hashed: string[] }> {
  const { hash, verify } = await argon2Hasher();
  const hashed: string[] = [];
  const hasher: PasswordHasher = {
    hash: (password) => {
      hashed.push(password);
      return hash(password);
    },
    verify: (stored, password) => {
      hashed.push(password);
      return verify(stored, password);
    },
  };
  return { hasher, hashed };
}

t.test('somebody signs in while another one has passwords hashed as often as it can', async (t) => {
  const { hasher, hashed } = await counted();
  const service = await aService({ hasher });
  const eve = await aPerson(service, 'eve');
  await aPerson(service, 'ada');
  const call = as(service, eve);
  const attack = Array.from({ length: TIMES }, (_, n) =>
    call('POST', '/api/me/password', { old_password: `guess ${n}`, new_password: `a new one ${n}` }),
  );
  const { email, password } = person('ada');
  const signedIn = await from(service, { ip: '198.51.100.9' })('/api/auth/login', { email, password });
  t.equal(signedIn.statusCode, 200);
  const before = hashed.filter((one) => one.startsWith('guess')).length;
  t.ok(before <= 4, `${before} of the attacker's were hashed before the sign-in was through`);
  const answers = await Promise.all(attack);
  const statuses = new Set(answers.map(({ statusCode }) => statusCode));
  t.same([...statuses].sort(), [403, 429]);
  const all = hashed.filter((one) => one.startsWith('guess')).length;
  t.ok(all <= 5 + 1, `${all} of ${TIMES} guesses were hashed`);
});

t.test('who guesses nothing has so many hashed in a minute all the same', async (t) => {
  const { hasher, hashed } = await counted();
  const service = await aService({ hasher });
  const eve = await aPerson(service, 'eve');
  const call = as(service, eve);
  await call('PUT', '/api/me/lock', { passcode: 'first' });
  const attack = Array.from({ length: TIMES }, () =>
    call('PUT', '/api/me/lock', { passcode: 'first', current_passcode: 'first' }),
  );
  const answers = await Promise.all(attack);
  const done = answers.filter(({ statusCode }) => statusCode === 200).length;
  t.ok(done < HASHES_PER_USER, `${done} were done`);
  t.ok(hashed.length <= 2 * HASHES_PER_USER + 2, `${hashed.length} were hashed`);
});
