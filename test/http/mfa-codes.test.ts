import t from 'tap';
import { actions, aServiceInTime, codeAt, from, logIn, STEP_MS, withMfa } from '../support/factors.ts';
import { as } from '../support/service.ts';

const wrong = { error: 'invalid email or password', code: 'login_failed' };

t.test('a code is accepted once, in its step and one before or after', async (t) => {
  const service = await aServiceInTime();
  const { secret } = await withMfa(service, 'ada');
  const now = (): number => service.clock.now().getTime();
  const step = async (offset: number) => {
    const { mfa_token } = (await logIn(service, 'ada')).json();
    const code = codeAt(secret, new Date(now() + offset * STEP_MS));
    return (await from(service)('/api/auth/mfa', { mfa_token, code })).statusCode;
  };
  service.clock.advance(5 * STEP_MS);
  t.equal(await step(-2), 401, 'two steps ago');
  t.equal(await step(2), 401, 'two steps ahead');
  t.equal(await step(-1), 200, 'one step ago');
  t.equal(await step(-1), 401, 'the same again');
  t.equal(await step(1), 200, 'one step ahead');
  t.equal(await step(0), 401, 'one that is older than the last accepted');
});

t.test('a waiting sign-in ends after five minutes, and after ten wrong tries', async (t) => {
  const service = await aServiceInTime();
  const { secret, recoveryCodes } = await withMfa(service, 'ada');
  const late = (await logIn(service, 'ada')).json().mfa_token;
  service.clock.advance(5 * 60_000);
  const code = codeAt(secret, service.clock.now());
  t.equal((await from(service)('/api/auth/mfa', { mfa_token: late, code })).statusCode, 401);

  const { mfa_token } = (await logIn(service, 'ada')).json();
  for (let tries = 0; tries < 10; tries += 1) {
    const answer = await from(service)('/api/auth/mfa', { mfa_token, code: 'aaaa-aaaa-aaaa-aaaa' });
    t.same([answer.statusCode, answer.json()], [401, wrong]);
  }
  const [good] = recoveryCodes;
  const answer = await from(service)('/api/auth/mfa', { mfa_token, code: good });
  t.same([answer.statusCode, answer.json()], [401, wrong], 'even the right code is too late');
});

t.test(
  'five wrong codes of the app make it wait, longer each time; a recovery code still opens',
  async (t) => {
    const service = await aServiceInTime();
    const { who, secret, recoveryCodes } = await withMfa(service, 'ada');
    const right = codeAt(secret, service.clock.now());
    const bad = String((Number(right) + 7) % 1_000_000).padStart(6, '0');
    const signIn = async (code: string | undefined) => {
      const { mfa_token } = (await logIn(service, 'ada')).json();
      return await from(service)('/api/auth/mfa', { mfa_token, code });
    };
    for (let tries = 0; tries < 5; tries += 1) t.equal((await signIn(bad)).statusCode, 401);
    const slowed = await signIn(right);
    t.same(
      [slowed.statusCode, slowed.json().code, slowed.headers['retry-after']],
      [429, 'rate_limited', '1'],
    );
    const disable = await as(service, who)('DELETE', '/api/me/mfa', { code: right });
    t.equal(disable.statusCode, 429, 'and with a session as well');

    service.clock.advance(1_000);
    t.equal((await signIn(bad)).statusCode, 401);
    t.equal((await signIn(right)).headers['retry-after'], '2');
    t.equal((await signIn(recoveryCodes[0])).statusCode, 200);
    service.clock.advance(2_000);
    t.equal((await signIn(right)).statusCode, 200, 'after the wait the code opens');
  },
);

t.test('a recovery code works once, however it is typed', async (t) => {
  const service = await aServiceInTime();
  const { who, recoveryCodes } = await withMfa(service, 'ada');
  const signIn = async (code: string) => {
    const { mfa_token } = (await logIn(service, 'ada')).json();
    return (await from(service)('/api/auth/mfa', { mfa_token, code })).statusCode;
  };
  const [first = '', second = ''] = recoveryCodes;
  t.equal(await signIn(` ${first.toUpperCase().replaceAll('-', ' ')} `), 200);
  t.equal(await signIn(first), 401);
  t.equal(await signIn(second), 200);
  t.same((await as(service, who)('GET', '/api/me/mfa')).json(), { enabled: true, recovery_codes_left: 8 });
  t.equal(actions(service).filter((action) => action === 'recovery_code_used').length, 2);
});

t.test('new recovery codes end the old ones', async (t) => {
  const service = await aServiceInTime();
  const { who, secret, recoveryCodes } = await withMfa(service, 'ada');
  const call = as(service, who);
  const code = codeAt(secret, service.clock.now());
  const renewed = (await call('POST', '/api/me/mfa/recovery-codes', { code })).json().recovery_codes;
  t.equal(renewed.length, 10);
  const { mfa_token } = (await logIn(service, 'ada')).json();
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, code: recoveryCodes[0] })).statusCode, 401);
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, code: renewed[0] })).statusCode, 200);
});
