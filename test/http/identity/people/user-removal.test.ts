import t from 'tap';
import { waitFor } from '../../../support/patience.ts';
import { refusesByField } from '../../../support/service/refusals.ts';
import {
  aGuest,
  again,
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  auditOf,
  outcome,
  person,
  small,
  statusOf,
  type TestService,
} from '../../../support/service/service.ts';
import { valuesOf } from '../../../support/values.ts';

const USERS = '/api/admin/users';

/** Root deletes; Ada has a container, Bob has one of the same name. */
async function aScene() {
  const service = await aService();
  const root = await anAdmin(service);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const made = [];
  for (const who of [ada, bob]) {
    made.push((await as(service, who)('POST', '/api/containers', { name: 'dev', ...small })).json());
  }
  const remove = (id: string, plan: object = {}, who = root) =>
    as(service, who)('DELETE', `${USERS}/${id}`, plan);
  return { service, root, ada, bob, box: made[0]?.db_id as string, remove };
}

const namesOf = async (service: TestService, who: { token: string }): Promise<string[]> =>
  valuesOf((await as(service, who)('GET', '/api/containers')).json().containers, 'name');

const listed = async (service: TestService, root: { token: string }): Promise<string[]> =>
  (await as(service, root)('GET', USERS)).json().users.map((one: { username: string }) => one.username);

t.test('a user with containers is deleted only when it is said what becomes of them', async (t) => {
  const { service, root, ada, remove } = await aScene();
  t.same(outcome(await remove(ada.id)), [409, 'user_has_containers']);
  t.equal(await statusOf(service, ada), 200, 'nothing has changed');
  await refusesByField<object>(t, (plan) => remove(ada.id, plan), [
    [{ containers: 'transfer' }, 'to'],
    [{ containers: 'delete', to: root.id }, 'to'],
    [{ containers: 'transfer', to: ada.id }, 'to'],
    [{ containers: 'transfer', to: 'x' }, 'to'],
    [{ containers: 'transfer', to: (await aGuest(service)).id }, 'to'],
    [{ containers: 'keep' }, 'containers'],
  ]);
  t.same(await namesOf(service, ada), ['dev']);
});

t.test("a deleted user's containers are deleted as usual, and the name is free", async (t) => {
  const { service, root, ada, box, remove } = await aScene();
  const answer = await remove(ada.id, { containers: 'delete' });
  t.same([answer.statusCode, answer.json()], [202, { id: ada.id, deleted: false }]);
  t.equal(await statusOf(service, ada), 401, 'signed out at once');
  await waitFor(async () => !(await listed(service, root)).includes('ada'));
  const { users, containers } = service.ports.storage.repositories;
  t.equal(await users.findById(ada.id), null);
  t.match(await containers.findAny(box), { state: 'deleted', stateReason: 'its owner was deleted' });
  t.same(outcome(await remove(ada.id)), [404, 'user_not_found'], 'once more');
  t.equal((await as(service, root)('PATCH', `${USERS}/${ada.id}`, { disabled: false })).statusCode, 404);
  t.match(auditOf(service, 'user_deleted'), [
    { userId: root.id, details: JSON.stringify({ id: ada.id, username: 'ada' }) },
  ]);
  const records = (await as(service, root)('GET', `/api/admin/audit?user=${ada.id}`)).json().records;
  t.ok(records.length > 1 && records.every((one: { username: string }) => one.username === 'ada'));
  const again = await aPerson(service, 'ada');
  t.not(again.id, ada.id, 'somebody else may have the name');
  t.same(await namesOf(service, again), []);
});

t.test('containers go to another user, running, under a free name', async (t) => {
  const { service, root, ada, bob, box, remove } = await aScene();
  const shares = `/api/containers/${box}/collaborations`;
  const { code, id } = (await as(service, ada)('POST', shares, { mode: 'view' })).json();
  await as(service, root)('POST', '/api/collaborations/join', { code });
  const answer = await remove(ada.id, { containers: 'transfer', to: bob.id });
  t.same([answer.statusCode, answer.json()], [200, { id: ada.id, deleted: true }]);
  t.same((await namesOf(service, bob)).sort(), ['dev', 'dev-2']);
  const given = (await as(service, bob)('GET', `/api/containers/${box}`)).json();
  t.match(given, { name: 'dev-2', status: 'running', owner: { id: bob.id, username: 'bob' } });
  t.equal((await as(service, bob)('POST', `/api/containers/${box}/stop`)).statusCode, 200);
  t.same(await namesOf(service, root), [], 'its shares ended');
  t.equal((await as(service, root)('GET', `/api/collaborations/${id}`)).statusCode, 404);
});

t.test('a deletion that a killed process left is continued', async (t) => {
  const { service, root, ada, box } = await aScene();
  const { repositories, inTransaction } = service.ports.storage;
  const origin = { ipAddress: '192.0.2.1', userAgent: 'test' };
  const removal = { userId: ada.id, plan: { kind: 'delete' }, requestedBy: root.id, origin } as const;
  await inTransaction(async (tx) => {
    await tx.userRemovals.begin(removal);
    await tx.users.change(ada.id, { disabled: true });
  });
  const { users } = (await as(service, root)('GET', `${USERS}?search=ada`)).json();
  t.match(users, [{ being_deleted: true, containers: 1 }]);
  t.same(outcome(await as(service, root)('PATCH', `${USERS}/${ada.id}`, { disabled: false })), [
    409,
    'user_being_deleted',
  ]);
  await Promise.all([service.removeUsers(), service.removeUsers()]);
  t.same(await repositories.userRemovals.list(), []);
  t.match(await repositories.containers.findAny(box), { state: 'deleted' });
  t.equal(auditOf(service, 'user_deleted').length, 1, 'once, however many continue it');
  await service.removeUsers();
});

t.test('no container is transferred to a deleted user', async (t) => {
  const { service, root, ada, bob, box, remove } = await aScene();
  const { repositories, inTransaction } = service.ports.storage;
  const plan = { kind: 'transfer', toUserId: bob.id } as const;
  const origin = { ipAddress: '192.0.2.1', userAgent: 'test' };
  await inTransaction((tx) => tx.userRemovals.begin({ userId: ada.id, plan, requestedBy: root.id, origin }));
  t.same(outcome(await remove(bob.id, { containers: 'delete' })), [409, 'user_receives_containers']);
  t.equal(await statusOf(service, bob), 200, 'nothing has changed');
  // As a version without this check left it.
  await inTransaction(async (tx) => {
    await tx.userRemovals.begin({ userId: bob.id, plan: { kind: 'delete' }, requestedBy: root.id, origin });
    await tx.userRemovals.finish(bob.id);
  });
  await service.removeUsers();
  t.match(await repositories.containers.findAny(box), { ownerId: ada.id, state: 'running' });
  t.match(await repositories.userRemovals.find(ada.id), { plan }, 'the deletion stays open');
});

t.test('nobody deletes the own account, the last administrator, or anybody by an API token', async (t) => {
  const { service, root, ada, remove } = await aScene();
  t.same(outcome(await remove(root.id)), [409, 'own_account']);
  const token = await anApiToken(service, root, { scopes: ['admin'] });
  t.same(outcome(await remove(ada.id, { containers: 'delete' }, { ...root, ...token })), [
    403,
    'login_token_required',
  ]);
  await as(service, root)('PATCH', `${USERS}/${ada.id}`, { role: 'admin' });
  const admin = await again(service, ada, 'ada');
  const both = await Promise.all([
    remove(root.id, { containers: 'delete' }, admin),
    remove(ada.id, { containers: 'delete' }, root),
  ]);
  t.equal(
    both.filter(({ statusCode }) => statusCode < 300).length,
    1,
    'of two who delete each other one stays',
  );
  t.same(outcome(await remove('x')).at(0), both[1]?.statusCode === 202 ? 404 : 401);
});

t.test('a guest and a user without containers are deleted at once', async (t) => {
  const { service, remove } = await aScene();
  for (const { id } of [await aGuest(service), await aPerson(service, 'cyd')]) {
    t.same((await remove(id)).json(), { id, deleted: true });
  }
  const { email, password } = person('cyd');
  t.equal((await as(service, null)('POST', '/api/auth/login', { email, password })).statusCode, 401);
});
