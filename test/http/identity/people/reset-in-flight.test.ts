import t from 'tap';
import { fixedClock, memoryPorts, memoryStorage } from '../../../../src/adapters/memory/index.ts';
import { REVOKED_FOR } from '../../../../src/domain/identity/session.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { SSH_KEYS } from '../../../support/samples/samples.ts';
import { AT, authenticator, codeAt, STEP_MS } from '../../../support/service/factors.ts';
import { anApiToken, aPerson, aService, as } from '../../../support/service/service.ts';

/** Ada, whose credentials a reset can end between a request's admission and its first transaction. */
async function aScene() {
  const clock = fixedClock();
  const memory = memoryStorage(clock);
  const { sessions, tokens } = memory.repositories;
  let resets: string | null = null;
  const storage: Storage = {
    ...memory,
    async inTransaction(work) {
      if (resets !== null) {
        await sessions.revokeOthers(resets, null, REVOKED_FOR.accountReset);
        await tokens.revokeAll(resets);
        resets = null;
      }
      return await memory.inTransaction(work);
    },
  };
  const monotonicMs = (): number => clock.now().getTime();
  const service = await aService({ ...memoryPorts(clock), storage, monotonicMs });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const during = async (url: string, payload: object, who = call) => {
    resets = ada.id;
    const answer = await who('POST', url, payload);
    return [answer.statusCode, answer.json().code, resets];
  };
  return { service, ada, call, clock, during };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

const [[type, , base64] = ['', '', '']] = SSH_KEYS;

/** What makes a credential: the path, and the body. */
const MAKERS: Readonly<Record<string, (scene: Scene) => Promise<readonly [string, object]>>> = {
  'an API token': async () => ['/api/tokens', { name: 'x', scopes: ['read'] }],
  'a child token': async () => ['/api/tokens/derive', { name: 'x', scopes: ['read'], expires_in_minutes: 5 }],
  'an SSH key': async () => ['/api/me/ssh-keys', { name: 'x', public_key: `${type} ${base64}` }],
  'an enrolment code': async () => ['/api/agents/enrolments', {}],
  'a passkey': async ({ call }) => {
    const options = (await call('POST', '/api/me/passkeys/options')).json();
    return ['/api/me/passkeys/verify', { credential: authenticator(AT).create(options) }];
  },
  'a second factor': async ({ call, clock }) => {
    const { secret } = (await call('POST', '/api/me/mfa')).json();
    const at = new Date(clock.now().getTime() - STEP_MS);
    return ['/api/me/mfa/confirm', { code: codeAt(secret, at) }];
  },
};

for (const [name, ask] of Object.entries(MAKERS)) {
  t.test(`${name} is not made by a request that a reset overtakes`, async (t) => {
    const scene = await aScene();
    const [url, payload] = await ask(scene);
    t.same(await scene.during(url, payload), [401, 'unauthorized', null]);
  });
}

t.test('nor by a request of a token that the reset ended', async (t) => {
  const { service, ada, during } = await aScene();
  const byToken = as(service, await anApiToken(service, ada, { scopes: ['write'] }));
  const key = { name: 'x', public_key: `${type} ${base64}` };
  t.same(await during('/api/me/ssh-keys', key, byToken), [401, 'api_token_rejected', null]);
});
