import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { anOperation } from '../../contract/containers/operations.ts';
import { aMachine, connectMachine } from '../../support/agent/scripted-agent.ts';
import { waitForValue } from '../../support/patience.ts';
import { aServiceInTime } from '../../support/service/factors.ts';
import { refusesByField } from '../../support/service/refusals.ts';
import {
  aGuest,
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  auditOf,
  type Bearer,
  outcome,
  small,
  stateOf,
  type TestService,
} from '../../support/service/service.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';
import { listening } from '../../support/terminal/terminals.ts';
import { valuesOf } from '../../support/values.ts';

const ALL = '/api/admin/containers';

type Event = {
  readonly type: string;
  readonly ownerId: string | null;
  readonly data: Record<string, unknown>;
};
const eventsOf = (service: TestService, ownerId: string): readonly Event[] =>
  stateOf(service).events.filter((event) => event.ownerId === ownerId);

/** Root administers; Ada has the container `dev`. */
async function aScene(service: TestService = undefined as never) {
  const made = service ?? (await aService());
  const root = await anAdmin(made);
  const [ada, bob] = [await aPerson(made, 'ada'), await aPerson(made, 'bob')];
  const create = async (who: Bearer, name: string) =>
    (await as(made, who)('POST', '/api/containers', { name, ...small })).json();
  const { db_id: box } = await create(ada, 'dev');
  const [byRoot, byAda, byBob] = [as(made, root), as(made, ada), as(made, bob)];
  const transfer = (to: string, more: object = {}) =>
    byRoot('POST', `${ALL}/${box}/transfer`, { to, ...more });
  const namesOf = async (who: Bearer): Promise<string[]> =>
    valuesOf((await as(made, who)('GET', '/api/containers')).json().containers, 'name');
  return {
    service: made,
    root,
    ada,
    bob,
    box: box as string,
    create,
    byRoot,
    byAda,
    byBob,
    transfer,
    namesOf,
  };
}

t.test('the list has the containers of everybody, and no agents', async (t) => {
  const { service, root, ada, bob, create, byRoot } = await aScene();
  const { db_id: web } = await create(bob, 'web');
  await create(root, 'own');
  const machine = aMachine();
  await connectMachine(await listening(t, service), (await anApiToken(service, ada)).token, machine);
  const read = async (query = '') => (await byRoot('GET', `${ALL}${query}`)).json();
  const names = async (query: string): Promise<string[]> =>
    (await read(query)).containers.map((one: { name: string }) => one.name);
  await read(`?ids=${web}`);
  t.same(auditOf(service, 'containers_listed'), [], 'to read some by their ids is no view of all');
  t.match(await read(), { total: 3, next_cursor: null });
  t.match((await read('?owner=ada')).containers, [{ name: 'dev', owner: { id: ada.id, username: 'ada' } }]);
  t.same(await names(`?owner=${bob.id}`), ['web']);
  t.same(await names('?q=BO'), ['web'], 'an owner’s name is found too');
  t.same(await names('?sort=name&status=running'), ['dev', 'own', 'web']);
  t.same(await names('?status=stopped'), []);
  t.same(await names(`?ids=${web},${'-'.repeat(36)}`), ['web']);
  t.same(await names('?sort=-owner'), ['own', 'web', 'dev']);
  for (const query of ['?status=deleted', '?ids=web'])
    t.equal((await byRoot('GET', `${ALL}${query}`)).statusCode, 400, query);
});

t.test('an administrator sees nothing that a program inside has written', async (t) => {
  const { service, bob, box, byRoot } = await aScene();
  const state = stateOf(service);
  const write = (): void => {
    for (const row of state.containers)
      Object.assign(row, { roleSetup: { status: 'ready', id: null, detail: 'from inside' } });
  };
  write();
  const [one] = (await byRoot('GET', ALL)).json().containers;
  t.equal(one.role_setup.detail, null);
  for (const [method, path, body] of [
    ['POST', '/stop', undefined],
    ['DELETE', '', undefined],
    ['POST', '/restore', undefined],
    ['POST', '/transfer', { to: bob.id }],
  ] as const) {
    write();
    const answer = await byRoot(method, `${ALL}/${box}${path}`, body);
    t.equal(answer.statusCode, 200, answer.body);
    t.notMatch(answer.body, 'from inside', `${method} ${path}`);
  }
});

t.test('an administrator stops, deletes and restores a container, and its owner learns why', async (t) => {
  const { service, root, ada, box, byRoot, byAda } = await aScene();
  const mine = async () => (await byAda('GET', `/api/containers/${box}`)).json();
  const details = JSON.stringify({
    container_id: box,
    container_name: 'dev',
    owner: ada.id,
    owner_name: 'ada',
  });
  const ACTS = [
    ['POST', '/stop', 'stopped', 'an administrator stopped it'],
    ['DELETE', '', 'deleted', 'an administrator deleted it'],
    ['POST', '/restore', 'restored', 'an administrator restored it'],
  ] as const;
  for (const [method, path, done, reason] of ACTS) {
    t.equal((await byRoot(method, `${ALL}/${box}${path}`)).statusCode, 200, done);
    t.match(auditOf(service, `container_${done}`).at(-1), { userId: root.id, details });
    t.match(eventsOf(service, ada.id).at(-1), { data: { db_id: box, by: 'administrator', reason } });
    if (done === 'stopped') t.match(await mine(), { status: 'stopped', status_reason: reason });
    if (done === 'deleted') {
      t.same(outcome(await byRoot('POST', `${ALL}/${box}/stop`)), [404, 'container_not_found']);
      const { containers, total } = (await byRoot('GET', `${ALL}?deleted=true`)).json();
      t.equal(total, 1);
      t.match(containers, [{ db_id: box, status: 'deleted', deleted_at: String, kept_until: String }]);
      t.equal((await byAda('GET', '/api/containers?deleted=true')).json().containers.length, 1);
    }
  }
  t.match(await mine(), { status: 'stopped', status_reason: null });
  await byAda('DELETE', `/api/containers/${box}`);
  t.equal((await byAda('POST', `/api/containers/${box}/restore`)).statusCode, 200, 'the owner may as well');
  const before = eventsOf(service, ada.id).length;
  t.equal((await byRoot('POST', `${ALL}/${box}/stop`)).statusCode, 200);
  t.equal(eventsOf(service, ada.id).length, before, 'it was stopped already');
});

t.test("an administrator's own container has no such reason", async (t) => {
  const { service, root, create, byRoot } = await aScene();
  const { db_id } = await create(root, 'own');
  await byRoot('POST', `${ALL}/${db_id}/stop`);
  const own = (await byRoot('GET', `/api/containers/${db_id}`)).json();
  t.match(own, { status: 'stopped', status_reason: null });
  t.match(auditOf(service, 'container_stopped').at(-1), { details: db_id });
  t.notOk('by' in (eventsOf(service, root.id).at(-1)?.data ?? {}));
});

t.test('an owner learns whose failed delete has stopped the container', async (t) => {
  const runtime = memoryRuntime();
  const { service, ada, box, byRoot } = await aScene(await aService({ runtime }));
  runtime.remove = async (handle) => {
    await runtime.stop(handle, 1);
    throw new Error('it could not be removed');
  };
  t.equal((await byRoot('DELETE', `${ALL}/${box}`)).statusCode, 500);
  const stopped = { type: 'container_stopped', data: { db_id: box, by: 'administrator' } };
  t.match(eventsOf(service, ada.id).at(-1), stopped);
});

t.test('a restore keeps within the limits of the owner', async (t) => {
  const { ada, box, byRoot, create, byAda } = await aScene();
  await byAda('DELETE', `/api/containers/${box}`);
  await create(ada, 'dev');
  t.same(outcome(await byRoot('POST', `${ALL}/${box}/restore`)), [409, 'name_taken']);
  for (const name of ['b', 'c', 'd', 'e']) await create(ada, name);
  t.same(outcome(await byRoot('POST', `${ALL}/${box}/restore`)), [409, 'container_limit_reached']);
});

t.test('deleting and giving need a confirmed sign-in, never a token', async (t) => {
  const service = await aServiceInTime();
  const { root, bob, box } = await aScene(service);
  const byToken = as(service, await anApiToken(service, root, { scopes: ['admin'] }));
  t.same(outcome(await byToken('DELETE', `${ALL}/${box}`)), [403, 'login_token_required']);
  t.same(outcome(await byToken('POST', `${ALL}/${box}/transfer`, { to: bob.id })), [
    403,
    'login_token_required',
  ]);
  t.equal((await byToken('POST', `${ALL}/${box}/stop`)).statusCode, 200);
  service.clock.advance(16 * 60_000);
  const later = {
    token: (
      await as(service, null)('POST', '/api/auth/refresh', undefined, {
        cookie: `berth_refresh=${root.cookie}`,
      })
    ).json().token,
  };
  t.same(outcome(await as(service, later)('POST', `${ALL}/${box}/transfer`, { to: bob.id })), [
    403,
    'confirmation_required',
  ]);
  t.same(outcome(await as(service, later)('DELETE', `${ALL}/${box}`)), [403, 'confirmation_required']);
  t.same(outcome(await as(service, later)('DELETE', `${ALL}/${box}`, { password: 'wrong' })), [
    403,
    'wrong_password',
  ]);
  const right = { password: 'correct horse battery' };
  t.equal((await as(service, later)('DELETE', `${ALL}/${box}`, right)).statusCode, 200);
});

t.test('a container is stopped and given to another user, with what is in it', async (t) => {
  const { service, root, ada, bob, box, byRoot, byAda, byBob, transfer, namesOf } = await aScene();
  const address = await listening(t, service);
  const terminal = await terminalClient({ address, dbId: box, token: ada.token });
  const { code } = (await byAda('POST', `/api/containers/${box}/collaborations`, { mode: 'control' })).json();
  await byRoot('POST', '/api/collaborations/join', { code });
  await byAda('POST', `/api/containers/${box}/snapshots`, { name: 'base' });
  const parent = as(service, await anApiToken(service, ada));
  const narrow = { name: 'narrow', containers: [box], expires_in_minutes: 5 };
  const byNarrow = as(service, (await parent('POST', '/api/tokens/derive', narrow)).json());
  t.equal((await byNarrow('GET', `/api/containers/${box}`)).statusCode, 200);
  const answer = await transfer(bob.id);
  t.equal(answer.statusCode, 200, answer.body);
  t.match(answer.json(), {
    db_id: box,
    name: 'dev',
    status: 'stopped',
    owner: { id: bob.id, username: 'bob' },
  });
  t.equal((await terminal.closed())[0], 4009, 'its terminals are closed');
  t.same(
    [await namesOf(ada), await namesOf(bob), await namesOf(root)],
    [[], ['dev'], []],
    'shares have ended',
  );
  for (const who of [byAda, byNarrow])
    t.same(outcome(await who('POST', `/api/containers/${box}/start`)), [404, 'container_not_found']);
  t.equal((await byBob('POST', `/api/containers/${box}/start`)).statusCode, 200);
  t.match((await byAda('GET', '/api/snapshots')).json().snapshots, [{ name: 'base' }], 'snapshots stay');
  t.same((await byBob('GET', '/api/snapshots')).json().snapshots, []);
  t.match(eventsOf(service, ada.id).at(-1), {
    type: 'container_transferred',
    data: { db_id: box, name: 'dev', by: 'administrator', owner: { id: bob.id, username: 'bob' } },
  });
  const received = eventsOf(service, bob.id).find(({ type }) => type === 'container_created');
  t.match(received, { data: { db_id: box, status: 'stopped', by: 'administrator' } });
  const [{ details = '', ...record } = {}] = auditOf(service, 'container_transferred');
  t.match(record, { userId: root.id });
  t.match(JSON.parse(details), { container_name: 'dev', from_name: 'ada', to_name: 'bob', to: bob.id });
  t.equal((await transfer(bob.id)).statusCode, 200, 'a repeat');
  t.equal(auditOf(service, 'container_transferred').length, 1, 'changes nothing');
  t.match((await byBob('GET', `/api/containers/${box}`)).json(), { status: 'running' });
});

t.test('a refused transfer changes nothing', async (t) => {
  const { service, root, ada, bob, box, create, byRoot, byAda, transfer } = await aScene();
  await create(bob, 'dev');
  const guest = await aGuest(service);
  await service.ports.storage.repositories.users.change((await aPerson(service, 'eve')).id, {
    disabled: true,
  });
  const eve = await service.ports.storage.repositories.users.findForLogin('eve');
  await refusesByField<object>(t, (more) => transfer(bob.id, more), [
    [{}, 'name'],
    [{ name: 'a b' }, 'name'],
    ...[root.id, guest.id, eve?.user.id ?? '', randomUUID(), 'bob'].map((to) => [{ to }, 'to'] as const),
  ]);
  for (const id of [randomUUID(), 'x', `agent:${randomUUID()}`])
    t.same(outcome(await byRoot('POST', `${ALL}/${id}/transfer`, { to: bob.id })), [
      404,
      'container_not_found',
    ]);
  for (const name of ['b', 'c', 'd', 'e']) await create(bob, name);
  t.same(outcome(await transfer(bob.id, { name: 'other' })), [409, 'container_limit_reached']);
  t.match((await byAda('GET', `/api/containers/${box}`)).json(), {
    status: 'running',
    owner: { id: ada.id },
  });
});

/** What happens at once with the transfer, and by whom. */
const AT_ONCE: readonly {
  readonly what: string;
  readonly also: (scene: Awaited<ReturnType<typeof aScene>>) => Promise<{ statusCode: number }>;
  /** Bob's containers at the end, by whether each was answered with success. */
  readonly fits: (given: boolean, other: boolean, names: readonly string[]) => boolean;
}[] = [
  {
    what: 'the last create that his tier allows',
    also: ({ byBob }) => byBob('POST', '/api/containers', { name: 'last', ...small }),
    fits: (given, other, names) => given !== other && names.length === 5,
  },
  {
    what: 'another container for him under that name',
    also: ({ byBob }) => byBob('POST', '/api/containers', { name: 'dev', ...small }),
    fits: (given, other, names) => given !== other && names.length === 5,
  },
  {
    what: 'a rename by the former owner',
    also: ({ byAda, box }) => byAda('PATCH', `/api/containers/${box}`, { name: 'new', ...small }),
    fits: (given, _other, names) => given && names.length === 5,
  },
  {
    what: 'a delete by the former owner',
    also: ({ byAda, box }) => byAda('DELETE', `/api/containers/${box}`),
    fits: (given, other, names) => given !== other && names.length === (given ? 5 : 4),
  },
  {
    what: 'the same transfer',
    also: ({ transfer, bob }) => transfer(bob.id),
    fits: (given, other, names) => given && other && names.length === 5,
  },
];

for (const { what, also, fits } of AT_ONCE) {
  t.test(`a transfer at once with ${what} has one consistent end`, async (t) => {
    for (const isFirst of [true, false]) {
      const scene = await aScene();
      for (const name of ['a', 'b', 'c', 'd']) await scene.create(scene.bob, name);
      const asked = [() => scene.transfer(scene.bob.id), () => also(scene)];
      const answers = await Promise.all((isFirst ? asked : asked.toReversed()).map((ask) => ask()));
      const [given, other] = isFirst ? answers : answers.toReversed();
      const names = await scene.namesOf(scene.bob);
      const codes = [given?.statusCode, other?.statusCode];
      const isGood = (code = 500): boolean => code < 300;
      t.ok(
        codes.every((code = 500) => code < 500) && fits(isGood(codes[0]), isGood(codes[1]), names),
        `${codes} ${names}`,
      );
      t.same([...(await scene.service.ports.storage.repositories.operations.busy())], []);
    }
  });
}

t.test('a transfer joins one to the same user only under the same name', async (t) => {
  const runtime = memoryRuntime();
  const [stopped, { stop }] = [Promise.withResolvers<void>(), runtime];
  const slow: typeof stop = async (...asked) => {
    await stopped.promise;
    return await stop(...asked);
  };
  Object.assign(runtime, { stop: slow });
  const { service, bob, transfer } = await aScene(await aService({ runtime }));
  const { operations } = service.ports.storage.repositories;
  const { active } = operations;
  let waiting = 0;
  Object.assign(operations, {
    active: (dbId: string) => {
      waiting += 1;
      return active(dbId);
    },
  });
  const first = transfer(bob.id);
  await waitForValue(
    async () => (await operations.busy()).size,
    (busy) => busy === 1,
  );
  const others = [transfer(bob.id), transfer(bob.id, { name: 'new' })];
  await waitForValue(
    async () => waiting,
    (all) => all >= 2,
  );
  stopped.resolve();
  const [given, same, renamed] = await Promise.all([first, ...others]);
  t.same([given?.statusCode, same?.statusCode], [200, 200]);
  t.match([renamed?.statusCode, renamed?.json()], [409, { code: 'container_busy' }]);
});

t.test('a transfer that a killed process left is continued by another', async (t: Test) => {
  const runtime = memoryRuntime();
  const { service, root, bob, box, byBob } = await aScene(await aService({ runtime }));
  const { operations, containers } = service.ports.storage.repositories;
  const row = await containers.findAny(box);
  if (row === null) throw new Error('no row');
  const { state, runtimeId, generation, resources, name } = row;
  await operations.begin(
    {
      ...anOperation(box, root.id, randomUUID()),
      kind: 'transfer',
      newOwnerId: bob.id,
      target: { name, resources },
      before: { state, runtimeId, generation, resources },
    },
    0,
  );
  await containers.changeState(box, ['running'], { state: 'updating' });
  await service.operations.takeOver();
  await service.operations.idle();
  t.match((await byBob('GET', `/api/containers/${box}`)).json(), { status: 'stopped', name: 'dev' });
  t.equal(auditOf(service, 'container_transferred').length, 1);
});
