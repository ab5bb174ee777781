import t from 'tap';
import type { memoryStorage } from '../../src/adapters/memory/index.ts';
import { waitFor } from '../support/patience.ts';
import { aCluster, inMemory } from '../support/service/cluster.ts';
import { as } from '../support/service/service.ts';
import { auditOf } from '../support/service/sign-ins.ts';

const url = '/api/admin/terminals';

t.test('administrators see the open terminals of everybody, and others do not', async (t) => {
  const { here, root, ada, other, open } = await aCluster(t);
  t.same((await as(here, root)('GET', url)).json(), { terminals: [] });
  const first = await open(ada, 'main');
  const second = await open(other, 'pane2');
  const answer = await as(here, root)('GET', url);
  const [newest, oldest] = answer.json().terminals;
  t.same(
    Object.keys(newest).join(' '),
    'id user_id username container_id container_name connection_id mux_session owner cols rows ' +
      'created_at last_ping_at replica',
  );
  t.match(oldest, {
    id: /^[0-9a-f-]{36}$/,
    user_id: ada.id,
    username: 'ada',
    container_name: 'dev',
    connection_id: 'main',
    mux_session: 'main',
    owner: true,
    cols: 80,
    rows: 24,
    created_at: '2026-01-01T00:00:00.000Z',
    last_ping_at: '2026-01-01T00:00:00.000Z',
  });
  t.equal(newest.connection_id, 'pane2');
  t.equal((await as(here, ada)('GET', url)).statusCode, 403);
  t.match(auditOf(here, 'terminals_listed'), [{ userId: root.id }], 'that somebody looked is on record');
  first.socket.send(JSON.stringify({ type: 'resize', cols: 132, rows: 50 }));
  const now = async () => (await as(here, root)('GET', url)).json().terminals;
  await waitFor(async () => (await now()).at(-1).cols === 132);
  t.match((await now()).at(-1), { cols: 132, rows: 50 });
  second.socket.close();
  first.socket.terminate();
  await waitFor(async () => (await now()).length === 0, { what: 'gone when closed, and when cut' });
});

t.test('an administrator closes one with 4001, on record', async (t) => {
  const { here, root, ada, open } = await aCluster(t);
  const [victim, bystander] = [await open(ada, 'main'), await open(ada, 'pane2')];
  const { id } = (await as(here, root)('GET', url)).json().terminals.at(-1);
  t.equal((await as(here, ada)('DELETE', `${url}/${id}`)).statusCode, 403);
  const answer = await as(here, root)('DELETE', `${url}/${id}`);
  t.same([answer.statusCode, answer.json()], [200, { id, closed: true }]);
  t.same(await victim.closed(), [4001, 'unauthorized']);
  t.ok(await bystander.alive());
  const [record] = auditOf(here, 'terminal_closed').filter(({ userId }) => userId === root.id);
  t.match(JSON.parse(record?.details ?? '{}'), { id, user_id: ada.id });
  for (const unknown of [id, 'x', '99999999-9999-4999-8999-999999999999', '__proto__']) {
    const gone = await as(here, root)('DELETE', `${url}/${unknown}`);
    t.same([gone.statusCode, gone.json().error], [404, 'terminal not found'], unknown);
  }
});

t.test('records of a process that died are cleared away', async (t) => {
  const shared = inMemory();
  const clock = shared.clock as { now(): Date; advance(ms: number): void };
  const { here, ada, open } = await aCluster(t, shared);
  const { state } = shared.storage as ReturnType<typeof memoryStorage>;
  await open(ada, 'main');
  await waitFor(() => state.terminals.length === 1);
  const pass = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      clock.advance(15_000);
      await here.writeDue();
    }
  };
  await pass(6);
  t.equal(state.terminals.length, 1);
  await pass(1);
  t.equal(state.terminals.length, 0, 'nobody has answered a ping for more than 75 seconds');
});
