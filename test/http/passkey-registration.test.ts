import t from 'tap';
import { authenticator } from '../support/authenticator.ts';
import { aServiceInTime, from } from '../support/factors.ts';
import { AT, register } from '../support/passkeys.ts';
import { aPerson, as } from '../support/service.ts';

t.test('a registration is refused that answers no challenge of this user, here', async (t) => {
  const service = await aServiceInTime();
  const ada = as(service, await aPerson(service, 'ada'));
  const mallory = as(service, await aPerson(service, 'mallory'));
  const key = authenticator(AT);
  const options = async () => (await ada('POST', '/api/me/passkeys/options')).json();
  const rejected = [400, { error: 'the passkey was not accepted', code: 'passkey_rejected' }];
  const verify = async (call: typeof ada, credential: object) => {
    const answer = await call('POST', '/api/me/passkeys/verify', { credential });
    return [answer.statusCode, answer.json()];
  };
  t.same(await verify(mallory, key.create(await options())), rejected, "another user's challenge");
  t.same(await verify(ada, key.create(await options(), { origin: 'http://evil.example' })), rejected);
  t.same(await verify(ada, key.create(await options(), { rpId: 'evil.example' })), rejected);
  t.same(await verify(ada, key.create(await options(), { type: 'webauthn.get' })), rejected);
  t.same(await verify(ada, key.create(await options(), { present: false })), rejected);
  const login = (await from(service)('/api/auth/passkey/options')).json();
  const asked = { ...login, rp: { id: 'localhost' }, user: { id: 'x' } };
  t.same(await verify(ada, key.create(asked)), rejected, 'a challenge for signing in');
  const once = key.create(await options());
  t.equal((await verify(ada, once))[0], 201);
  t.same(await verify(ada, once), rejected, 'again');
  t.equal((await ada('GET', '/api/me/passkeys')).json().passkeys.length, 1);
});

t.test(
  'a statement about the make of an authenticator is not asked for, and no certificate is looked at',
  async (t) => {
    const service = await aServiceInTime();
    const call = as(service, await aPerson(service, 'ada'));
    const verify = async (statement: 'self' | 'certificate') => {
      const options = (await call('POST', '/api/me/passkeys/options')).json();
      const credential = authenticator(AT).create(options, { statement });
      return (await call('POST', '/api/me/passkeys/verify', { credential })).statusCode;
    };
    t.equal(await verify('self'), 201, 'signed by the key itself');
    t.equal(await verify('certificate'), 400);
  },
);

t.test('a passkey belongs to one user, and a user has at most twenty', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  await register(service, ada);
  const [stored] = (service.ports.storage as unknown as { state: { passkeys: { credentialId: string }[] } })
    .state.passkeys;
  const bob = as(service, await aPerson(service, 'bob'));
  const options = (await bob('POST', '/api/me/passkeys/options')).json();
  const fresh = authenticator(AT);
  const credential = fresh.create(options);
  if (stored) stored.credentialId = credential.id;
  const answer = await bob('POST', '/api/me/passkeys/verify', { credential });
  t.same([answer.statusCode, answer.json().code], [409, 'passkey_registered']);

  for (let count = 1; count < 20; count += 1) await register(service, ada);
  const more = (await as(service, ada)('POST', '/api/me/passkeys/options')).json();
  const full = await as(service, ada)('POST', '/api/me/passkeys/verify', { credential: fresh.create(more) });
  t.same([full.statusCode, full.json().code], [409, 'passkey_limit_reached']);
});
