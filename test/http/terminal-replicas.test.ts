import t, { type Test } from 'tap';
import { fixedClock, type MemoryBus, memoryBusHub, memoryStorage } from '../../src/adapters/memory/index.ts';
import { terminalReplicasContract } from '../contract/terminal-replicas.ts';
import { waitFor } from '../support/patience.ts';
import { aCluster } from '../support/service/cluster.ts';
import { as } from '../support/service/service.ts';

terminalReplicasContract(t, (t) => aCluster(t));

/** Two processes; the second hears nothing until its line is mended. */
async function withDeafOne(t: Test) {
  const clock = fixedClock();
  let nowMs = 0;
  const hub = memoryBusHub();
  const lines: MemoryBus[] = [];
  const bus = () => {
    const line = hub.join();
    lines.push(line);
    return line;
  };
  const shared = { clock, storage: memoryStorage(clock), bus, monotonicMs: () => nowMs };
  const cluster = await aCluster(t, shared);
  lines[1]?.cut();
  return {
    ...cluster,
    mend: () => lines[1]?.mend(),
    /** Five seconds pass for it. */
    look: async () => {
      nowMs += 5_000;
      await cluster.there.writeDue();
    },
  };
}

t.test('what no message told of is found by looking', async (t) => {
  const { here, root, ada, dbId, open, addresses, look } = await withDeafOne(t);
  const list = '/api/admin/terminals';
  const closed = await open(ada, 'closed', addresses[1]);
  const closing = as(here, root)(
    'DELETE',
    `${list}/${(await as(here, root)('GET', list)).json().terminals[0].id}`,
  );
  const taken = await open(ada, 'taken', addresses[1]);
  await open(ada, 'taken');
  const stopped = await open(ada, 'stopped', addresses[1]);
  t.ok(await taken.alive());
  await look();
  t.same(await closed.closed(), [4001, 'unauthorized']);
  t.equal((await closing).statusCode, 200);
  t.same(await taken.closed(), [1000, 'replaced']);
  await as(here, ada)('POST', `/api/containers/${dbId}/stop`);
  t.ok(await stopped.alive());
  await look();
  t.same(await stopped.closed(), [4009, 'container stopped']);
});

t.test('and at once when the line is back', async (t) => {
  const { here, ada, dbId, open, addresses, mend } = await withDeafOne(t);
  const far = await open(ada, 'main', addresses[1]);
  await as(here, ada)('DELETE', `/api/containers/${dbId}`);
  t.ok(await far.alive());
  mend();
  t.same(await far.closed(), [4004, 'container deleted']);
});

t.test('a program that ends with its container is no end of its own', async (t) => {
  const { here, ada, dbId, backend, open, addresses } = await withDeafOne(t);
  const far = await open(ada, 'main', addresses[1]);
  const near = await open(ada, 'pane2');
  await as(here, ada)('POST', `/api/containers/${dbId}/stop`);
  t.same(await near.closed(), [4009, 'container stopped']);
  backend.opened[0]?.end();
  t.same(await far.closed(), [4009, 'container stopped'], 'whether or not it has heard of the stop');
});

t.test('a pane that another process shows is not ended with the line to this one', async (t) => {
  const { here, there, ada, backend, open, addresses } = await withDeafOne(t);
  const far = await open(ada, 'pane2', addresses[1]);
  const near = await open(ada, 'pane2');
  far.socket.close(1000);
  await waitFor(() => backend.opened[0]?.stream.destroyed === true);
  await there.terminals.idle();
  t.same(backend.killed, []);
  near.socket.close(1000);
  await waitFor(() => backend.killed.length === 1);
  await here.terminals.idle();
  t.same(backend.killed, ['pane-pane2']);
});

t.test('a message that comes late closes nothing of what was opened since', async (t) => {
  const { here, there, ada, dbId, open, addresses, mend } = await withDeafOne(t);
  const call = as(here, ada);
  for (const what of ['stop', 'start']) await call('POST', `/api/containers/${dbId}/${what}`);
  const far = await open(ada, 'main', addresses[1]);
  mend();
  t.ok(await far.alive());
  t.equal((await as(there, ada)('GET', `/api/containers/${dbId}`)).json().status, 'running');
});
