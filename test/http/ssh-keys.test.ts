import t from 'tap';
import { anAdmin, aPerson, aService, as } from '../support/service.ts';
import { auditOf } from '../support/sign-ins.ts';
import { SHORT_RSA_KEY, SSH_KEYS, wire } from '../support/ssh.ts';

const [[type, fingerprint, base64] = ['', '', '']] = SSH_KEYS;
const key = `${type} ${base64} ada@laptop`;
const url = '/api/me/ssh-keys';

t.test('a key is added, listed and removed, and each change is recorded', async (t) => {
  const service = await aService();
  const call = as(service, await aPerson(service, 'ada'));
  t.same((await call('GET', url)).json(), { ssh_keys: [] });
  const added = await call('POST', url, { public_key: key });
  t.equal(added.statusCode, 201);
  const body = added.json();
  t.match(body, {
    id: /^[0-9a-f-]{36}$/,
    name: 'ada@laptop',
    type,
    public_key: `${type} ${base64}`,
    fingerprint,
    created_at: '2026-01-01T00:00:00.000Z',
  });
  t.same((await call('GET', url)).json(), { ssh_keys: [body] });
  const removed = await call('DELETE', `${url}/${body.id.toUpperCase()}`);
  t.same([removed.statusCode, removed.json()], [200, { id: body.id, deleted: true }]);
  t.same((await call('GET', url)).json(), { ssh_keys: [] });
  t.match(auditOf(service, 'ssh_key_added'), [{ details: fingerprint }]);
  t.match(auditOf(service, 'ssh_key_removed'), [{ details: fingerprint }]);
});

t.test('a fault names its field, and nothing is kept', async (t) => {
  const service = await aService();
  const call = as(service, await aPerson(service, 'ada'));
  for (const [body, field] of [
    [{}, 'public_key'],
    [{ public_key: 1 }, 'public_key'],
    [{ public_key: 'x' }, 'public_key'],
    [{ public_key: SHORT_RSA_KEY }, 'public_key'],
    [{ public_key: key, name: 'x'.repeat(101) }, 'name'],
    [{ public_key: key, name: 'a\nb' }, 'name'],
    [{ public_key: key, user_id: 'x' }, 'user_id'],
  ] as const) {
    const answer = await call('POST', url, body);
    t.same([answer.statusCode, Object.keys(answer.json().fields)], [400, [field]], JSON.stringify(body));
  }
  t.same((await call('GET', url)).json(), { ssh_keys: [] });
});

t.test('the same key twice is a conflict, for one user; another may have it too', async (t) => {
  const service = await aService();
  const ada = as(service, await aPerson(service, 'ada'));
  const answers = await Promise.all([1, 2, 3].map(() => ada('POST', url, { public_key: key })));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 409, 409]);
  t.match(answers.find(({ statusCode }) => statusCode === 409)?.json(), { code: 'ssh_key_exists' });
  const eve = as(service, await aPerson(service, 'eve'));
  t.equal((await eve('POST', url, { public_key: key })).statusCode, 201);
});

t.test("another's key is like none, also for an administrator", async (t) => {
  const service = await aService();
  const ada = as(service, await aPerson(service, 'ada'));
  const { id } = (await ada('POST', url, { public_key: key })).json();
  for (const who of [await aPerson(service, 'eve'), await anAdmin(service)]) {
    for (const one of [id, '99999999-9999-4999-8999-999999999999', 'x', '%00']) {
      const answer = await as(service, who)('DELETE', `${url}/${one}`);
      t.same(
        [answer.statusCode, answer.body],
        [404, '{"error":"ssh key not found","code":"ssh_key_not_found"}'],
      );
    }
    t.same((await as(service, who)('GET', url)).json(), { ssh_keys: [] });
  }
  t.equal((await ada('GET', url)).json().ssh_keys.length, 1);
});

t.test('a hundred keys are enough', async (t) => {
  const service = await aService();
  const call = as(service, await aPerson(service, 'ada'));
  const nth = (n: number) => `ssh-ed25519 ${wire('ssh-ed25519', Buffer.alloc(32, n))}`;
  for (let n = 0; n < 100; n += 1) t.equal((await call('POST', url, { public_key: nth(n) })).statusCode, 201);
  const more = await call('POST', url, { public_key: nth(100) });
  t.same([more.statusCode, more.json().code], [409, 'ssh_key_limit_reached']);
});

t.test('a token with read may look, one with write may change', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const token = async (scope: string) => {
    const made = await as(service, ada)('POST', '/api/tokens', { name: scope, scopes: [scope] });
    return as(service, { ...ada, token: made.json().token });
  };
  const [read, write] = [await token('read'), await token('write')];
  t.equal((await read('GET', url)).statusCode, 200);
  t.equal((await read('POST', url, { public_key: key })).json().code, 'insufficient_scope');
  t.equal((await write('POST', url, { public_key: key })).statusCode, 201);
});
