import { randomBytes } from 'node:crypto';
import t from 'tap';
import { UNLIMITED } from '../../src/app/identity/account/token-records.ts';
import { MAX_STORED_TOKENS } from '../../src/domain/identity/token.ts';
import { SSH_KEYS } from '../support/samples/samples.ts';
import { aServiceInTime, register } from '../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, as, type Bearer } from '../support/service/service.ts';
import { aContainerOf } from '../support/terminal/terminals.ts';

const SLOWED = 429;
const MINUTE_MS = 60_000;
const ENDED = {
  ...UNLIMITED,
  name: 'x',
  prefix: 'svc_01234567',
  scopes: ['read'],
  depth: 1,
  lifeMs: 1,
} as const;

t.test('a stolen token cannot keep its owner from ending it', async (t) => {
  const service = await aServiceInTime();
  const root = as(service, await anAdmin(service));
  await root('PATCH', '/api/admin/settings', { requests_per_minute: 200 });
  await root('PATCH', '/api/admin/tiers/free', { requests_per_minute: 500 });
  const ada = await aPerson(service, 'ada');
  const box = await aContainerOf(service, ada);
  const stolen = (
    await as(service, ada)('POST', '/api/tokens/derive', { name: 'ci', scopes: ['read'], containers: [box] })
  ).json();
  const derive = (request: object) => as(service, stolen)('POST', '/api/tokens/derive', request);
  const children: Bearer[] = [];
  for (let n = 0; n < 4; n += 1) children.push((await derive({ name: `child ${n}` })).json());
  let refused = 0;
  for (let n = 0; refused === 0 && n < 1_000; n += 1)
    if ((await derive({})).statusCode === SLOWED) refused += 1;
  for (const child of children) {
    const call = as(service, child);
    for (let n = 0; (await call('GET', '/api/containers')).statusCode !== SLOWED && n < 1_000; n += 1);
    refused += 1;
  }
  t.equal(refused, 1 + children.length, 'they have used up all that they may');
  t.equal((await as(service, ada)('GET', '/api/tokens')).statusCode, 200, 'the owner sees it in the list');
  t.equal((await as(service, ada)('POST', `/api/tokens/${stolen.id}/revoke`)).statusCode, 200);
  for (const one of [stolen, ...children])
    t.equal((await as(service, one)('GET', '/api/tokens/validate')).json().code, 'api_token_rejected');
});

t.test('a stolen token leaves room for tokens of its owner, live and in the list', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const stolen = await anApiToken(service, ada);
  const derive = (request: object) => as(service, stolen)('POST', '/api/tokens/derive', request);
  let made = 0;
  for (; made < 200 && (await derive({ name: 'x', expires_in_minutes: 1 })).statusCode === 201; made += 1);
  t.match((await derive({ name: 'x' })).json(), { code: 'token_limit_reached' });
  await anApiToken(service, ada);
  service.clock.advance(2 * MINUTE_MS);
  const { tokens } = service.ports.storage.repositories;
  for (let n = made; n < MAX_STORED_TOKENS; n += 1)
    await tokens.insert({ ...ENDED, userId: ada.id, parentId: stolen.id, hash: randomBytes(32) });
  service.clock.advance(2 * MINUTE_MS);
  const newest = await anApiToken(service, ada);
  const listed = (await tokens.listOwned(ada.id)).map(({ id }) => id);
  t.ok(listed.length < 1_100, `${listed.length} in the list`);
  t.ok([stolen.id, newest.id].every((id) => listed.includes(id)));
});

t.test('whoever has made all the changes of a minute may still end things', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const [box, token, other] = [
    await aContainerOf(service, ada),
    await anApiToken(service, ada),
    await anApiToken(service, ada),
  ];
  const [[type, , base64] = ['', '', '']] = SSH_KEYS;
  const key = await call('POST', '/api/me/ssh-keys', { public_key: `${type} ${base64} ada@laptop` });
  const { passkey } = await register(service, ada);
  const share = await call('POST', `/api/containers/${box}/collaborations`, { mode: 'view' });
  t.same([key.statusCode, share.statusCode], [201, 201]);
  let status = 200;
  for (let n = 0; status === 200 && n < 1_000; n += 1)
    status = (await call('PATCH', `/api/containers/${box}/lifetime`, { keep_seconds: 60 + n })).statusCode;
  t.equal(status, SLOWED);
  for (const [method, url] of [
    ['POST', `/api/tokens/${token.id}/revoke`],
    ['DELETE', `/api/tokens/${other.id}`],
    ['DELETE', `/api/me/ssh-keys/${key.json().id}`],
    ['DELETE', `/api/collaborations/${share.json().id}/participants/${ada.id}`],
    ['DELETE', `/api/collaborations/${share.json().id}`],
    ['DELETE', `/api/me/passkeys/${passkey.id}`],
  ] as const) {
    const answer = await call(method, url);
    t.not(answer.statusCode, SLOWED, `${method} ${url}: ${answer.body}`);
  }
});
