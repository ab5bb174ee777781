import t from 'tap';
import { aServiceInTime, codeAt, from, logIn, withMfa } from '../support/factors.ts';
import { register } from '../support/passkeys.ts';
import { aPerson, as } from '../support/service.ts';

const wrong = { error: 'invalid email or password', code: 'login_failed' };

t.test('a passkey is a second factor: after the password, without verifying its user', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const { key } = await register(service, who);
  const waiting = (await logIn(service, 'ada')).json();
  t.same(waiting.methods, ['totp', 'recovery_code', 'passkey']);
  const { mfa_token } = waiting;
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  t.match(options.allowCredentials, [{ id: key.keys[0]?.id.toString('base64url') }]);
  const credential = key.get(options, { verified: false });
  const both = await from(service)('/api/auth/mfa', { mfa_token, credential, code: '123456' });
  t.equal(both.statusCode, 400, 'not both at once');
  const done = await from(service)('/api/auth/mfa', { mfa_token, credential });
  t.same([done.statusCode, done.json().user.username], [200, 'ada']);
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, credential })).statusCode, 401, 'used up');
  const code = codeAt(secret, service.clock.now());
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, code })).statusCode, 401);
});

t.test("as a second factor only the user's own passkey counts, asked for this sign-in", async (t) => {
  const service = await aServiceInTime();
  const { who } = await withMfa(service, 'ada');
  await register(service, who);
  const { key: foreign } = await register(service, await aPerson(service, 'mallory'));
  const { mfa_token } = (await logIn(service, 'ada')).json();
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  const stolen = await from(service)('/api/auth/mfa', { mfa_token, credential: foreign.get(options) });
  t.same([stolen.statusCode, stolen.json()], [401, wrong]);
  const unknown = await from(service)('/api/auth/mfa/options', { mfa_token: 'x' });
  t.same([unknown.statusCode, unknown.json()], [401, wrong]);
  const alone = (await from(service)('/api/auth/passkey/options')).json();
  const mixed = await from(service)('/api/auth/mfa', { mfa_token, credential: foreign.get(alone) });
  t.same([mixed.statusCode, mixed.json()], [401, wrong]);
});

t.test('an answer to what another sign-in was asked does not count', async (t) => {
  const service = await aServiceInTime();
  const [ada, bob] = [await withMfa(service, 'ada'), await withMfa(service, 'bob')];
  await register(service, ada.who);
  const { key } = await register(service, bob.who);
  const tokens = [(await logIn(service, 'ada')).json(), (await logIn(service, 'bob')).json()];
  const [asked, mine] = tokens.map(({ mfa_token }) => mfa_token);
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token: asked })).json();
  const answer = await from(service)('/api/auth/mfa', { mfa_token: mine, credential: key.get(options) });
  t.same([answer.statusCode, answer.json()], [401, wrong]);
});

t.test('turning the second factor off ends sign-ins that wait, for passkeys too', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const { key } = await register(service, who);
  const { mfa_token } = (await logIn(service, 'ada')).json();
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  await as(service, who)('DELETE', '/api/me/mfa', { code: codeAt(secret, service.clock.now()) });
  const answer = await from(service)('/api/auth/mfa', { mfa_token, credential: key.get(options) });
  t.same([answer.statusCode, answer.json()], [401, wrong]);
});

t.test('a second-factor answer does not sign in alone', async (t) => {
  const service = await aServiceInTime();
  const { who } = await withMfa(service, 'ada');
  const { key } = await register(service, who);
  const { mfa_token } = (await logIn(service, 'ada')).json();
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  const answer = await from(service)('/api/auth/passkey/verify', { credential: key.get(options) });
  t.same([answer.statusCode, answer.json()], [401, wrong]);
});
