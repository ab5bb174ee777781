import t, { type Test } from 'tap';
import {
  actions,
  aServiceInTime,
  codeAt,
  type InTime,
  STEP_MS,
  withMfa,
} from '../../support/service/factors.ts';
import { register } from '../../support/service/passkeys.ts';
import { aPerson, as, type Person, person } from '../../support/service/service.ts';
import { again, refresh } from '../../support/service/sign-ins.ts';

const MINUTE_MS = 60_000;
const { password } = person('ada');

const needs = (by: string) => ({
  error: `${by} is required to confirm that it is you`,
  code: 'confirmation_required',
  fields: { [by]: 'is required to confirm that it is you' },
});

/** The same session, with a login token of now. */
async function refreshed(service: InTime, who: Person): Promise<Person> {
  const answer = await refresh(service, who);
  const cookie = answer.cookies[0]?.value ?? '';
  return { ...who, cookie, token: answer.json().token };
}

/** What opens the account, tried by somebody with a login token and what they give. */
const CHANGES: Readonly<Record<string, (service: InTime, who: Person, given: object) => Promise<Answer>>> = {
  'adding a passkey': (service, who, given) => as(service, who)('POST', '/api/me/passkeys/options', given),
  'removing a passkey': async (service, who, given) => {
    const [passkey] = (await as(service, who)('GET', '/api/me/passkeys')).json().passkeys;
    return await as(service, who)('DELETE', `/api/me/passkeys/${passkey.id}`, given);
  },
  'asking whether it is still them': (service, who, given) =>
    as(service, who)('POST', '/api/me/confirm', given),
  'turning the second factor on': async (service, who, given) => {
    const { secret } = (await as(service, who)('POST', '/api/me/mfa')).json();
    const code = codeAt(secret, service.clock.now());
    return await as(service, who)('POST', '/api/me/mfa/confirm', { code, ...given });
  },
};
type Answer = Awaited<ReturnType<ReturnType<typeof as>>>;

const outcome = (answer: Answer) => [answer.statusCode, answer.statusCode < 400 ? 'done' : answer.json()];

/** Ada, who has a passkey and signed in some minutes ago; `late` is a login token of now. */
async function somebody(minutes = 0) {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  await register(service, ada);
  service.clock.advance(minutes * MINUTE_MS);
  const late = async () => await refreshed(service, ada);
  return { service, ada, late };
}

for (const [what, change] of Object.entries(CHANGES)) {
  t.test(`${what} takes a sign-in of late, or the password`, async (t) => {
    const { service, ada } = await somebody(15);
    const late = await refreshed(service, ada);
    t.same(outcome(await change(service, late, {})), [403, needs('password')], 'refreshing is no sign-in');
    const wrong = [403, { error: 'wrong password', code: 'wrong_password' }];
    t.same(outcome(await change(service, late, { password: `${password}!` })), wrong);
    t.same((await change(service, late, { password: '' })).statusCode, 400);
    t.same(outcome(await change(service, late, { password })), [200, 'done']);
  });

  t.test(`${what} takes nothing more for a quarter of an hour after signing in`, async (t) => {
    const { service, ada } = await somebody(20);
    const fresh = await again(service, ada, 'ada');
    service.clock.advance(15 * MINUTE_MS - 1);
    t.same(outcome(await change(service, fresh, {})), [200, 'done']);
  });
}

t.test('with a second factor on it takes a code, and each code once', async (t: Test) => {
  const service = await aServiceInTime();
  const { who, secret, recoveryCodes } = await withMfa(service, 'ada');
  await register(service, who);
  service.clock.advance(20 * MINUTE_MS);
  const late = await refreshed(service, who);
  const add = CHANGES['adding a passkey'];
  const remove = CHANGES['removing a passkey'];
  if (add === undefined || remove === undefined) return t.fail('nothing to try');
  t.same(outcome(await add(service, late, {})), [403, needs('code')]);
  t.same(outcome(await remove(service, late, { password })), [403, needs('code')], 'not the password');
  const wrong = [403, { error: 'wrong code', code: 'wrong_code' }];
  t.same(outcome(await add(service, late, { code: '000000' })), wrong);
  const code = codeAt(secret, service.clock.now());
  t.same(outcome(await add(service, late, { code, password })), [200, 'done']);
  t.same(outcome(await remove(service, late, { code })), wrong, 'it is used up');
  t.same(outcome(await remove(service, late, { code: recoveryCodes[0] })), [200, 'done']);
  service.clock.advance(STEP_MS);
  const again = { code: codeAt(secret, service.clock.now()) };
  const none = await as(service, late)(
    'DELETE',
    '/api/me/passkeys/99999999-9999-4999-8999-999999999999',
    again,
  );
  t.equal(none.statusCode, 404);
});

t.test('a password that is replaced while it is checked confirms nothing', async (t) => {
  const { service, late } = await somebody(20);
  const call = as(service, await late());
  const change = { old_password: password, new_password: 'another one of mine' };
  const [changed, confirmed] = await Promise.all([
    call('POST', '/api/me/password', change),
    call('POST', '/api/me/confirm', { password }),
  ]);
  t.same([changed.statusCode, confirmed.statusCode, confirmed.json().code], [200, 403, 'wrong_password']);
});

t.test('neither unlocking nor a confirmation counts as a sign-in', async (t) => {
  const { service, late } = await somebody(20);
  const call = as(service, await late());
  t.equal((await call('POST', '/api/me/mfa')).statusCode, 200, 'starting with a new secret takes nothing');
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('POST', '/api/sessions/lock');
  t.equal((await call('POST', '/api/sessions/unlock', { passcode: '1234' })).statusCode, 200);
  t.equal((await call('POST', '/api/me/passkeys/options')).statusCode, 403);
  t.equal((await call('POST', '/api/me/passkeys/options', { password })).statusCode, 200);
  t.equal((await call('POST', '/api/me/passkeys/options')).statusCode, 403);
});

t.test('the password is not guessed there: its failures are those of changing it', async (t) => {
  const { service, late } = await somebody(20);
  const call = as(service, await late());
  const wrong = { password: 'not it at all' };
  for (let tries = 0; tries < 5; tries += 1) {
    t.equal((await call('POST', '/api/me/passkeys/options', wrong)).statusCode, 403);
  }
  const refused = await call('POST', '/api/me/passkeys/options', { password });
  t.same([refused.statusCode, refused.json().code], [429, 'rate_limited']);
  const change = { old_password: password, new_password: 'another one of mine' };
  t.equal((await call('POST', '/api/me/password', change)).statusCode, 429);
  service.clock.advance(2_000);
  t.equal((await call('POST', '/api/me/passkeys/options', { password })).statusCode, 200);
  const failed = actions(service).filter((action) => action === 'confirmation_failed');
  t.equal(failed.length, 5, 'and each is on record');
});
