import type { Test } from 'tap';
import { waitFor } from '../../support/patience.ts';
import type { Cluster } from '../../support/service/cluster.ts';
import { aPerson, as } from '../../support/service/service.ts';

const STOPPED = [4009, 'container stopped'];
const DELETED = [4004, 'container deleted'];
const RESTARTED = [4010, 'container restarted'];
const UNAUTHORIZED = [4001, 'unauthorized'];
const REPLACED = [1000, 'replaced'];

const LIST = '/api/admin/terminals';

type Open = (t: Test) => Promise<Cluster | null>;

const onCluster =
  (t: Test, open: Open) => (name: string, work: (t: Test, cluster: Cluster) => Promise<unknown>) =>
    t.test(name, async (t) => {
      const cluster = await open(t);
      if (cluster !== null) await work(t, cluster);
    });

/** What two processes on one database must do about each other's terminals, where it depends on the database. */
export function terminalsOfBoth(t: Test, open: Open): void {
  const on = onCluster(t, open);

  on(
    'the list is that of both, wherever it is asked for',
    async (t, { here, there, root, ada, open, addresses }) => {
      await open(ada, 'main');
      const far = await open(ada, 'pane2', addresses[1]);
      const listAt = async (at: typeof here) => (await as(at, root)('GET', LIST)).json().terminals;
      for (const at of [here, there]) {
        const all = await listAt(at);
        const seen = all.map((one: { connection_id: string }) => one.connection_id);
        t.same(seen, ['pane2', 'main'], 'newest first');
        t.not(all[0].replica, all[1].replica);
        t.match(all[0], {
          username: 'ada',
          container_name: 'dev',
          user_id: ada.id,
          mux_session: 'pane-pane2',
        });
      }
      far.socket.send(JSON.stringify({ type: 'resize', cols: 132, rows: 50 }));
      const isWide = async () => {
        await there.writeDue();
        return (await listAt(here))[0].cols === 132;
      };
      await waitFor(isWide, { what: 'sizes follow' });
      far.socket.close();
      await waitFor(async () => (await listAt(here)).length === 1);
    },
  );

  on('an administrator closes one that another process has', async (t, cluster) => {
    const { here, there, root, ada, open, addresses } = cluster;
    const far = await open(ada, 'main', addresses[1]);
    const near = await open(ada, 'pane2');
    const { id } = (await as(here, root)('GET', LIST)).json().terminals.at(-1);
    const answers = await Promise.all(
      [here, here, there].map((at) => as(at, root)('DELETE', `${LIST}/${id}`)),
    );
    const closed = answers.filter(({ statusCode }) => statusCode === 200);
    t.ok(closed.length > 0);
    t.same(
      closed.map((answer) => answer.json()),
      closed.map(() => ({ id, closed: true })),
    );
    const late = answers.filter(({ statusCode }) => statusCode !== 200);
    t.same(
      late.map((answer) => answer.json().code),
      late.map(() => 'terminal_not_found'),
      'asked for after another request had closed it',
    );
    t.same(await far.closed(), UNAUTHORIZED);
    t.ok(await near.alive());
    const left = (await as(here, root)('GET', LIST)).json().terminals;
    t.equal(left.length, 1, 'and it is gone with the answer');
    t.equal((await as(here, root)('DELETE', `${LIST}/${id}`)).statusCode, 404);
    const { audit } = here.ports.storage.repositories;
    const noted = await audit.page(
      { userId: root.id, action: 'terminal_closed' },
      { limit: 10, after: null },
    );
    t.match(
      noted.items.map(({ details }) => JSON.parse(details).id),
      [id],
      'on record once',
    );
  });

  on('a key is in use once: a newer socket at the other process replaces', async (t, cluster) => {
    const { here, root, ada, backend, open, addresses, storage, dbId } = cluster;
    const leases = () => storage.repositories.terminalLeases.inContainer(dbId);
    const listed = async () => (await as(here, root)('GET', LIST)).json().terminals;
    let last = await open(ada, 'pane2');
    for (const address of [addresses[1], addresses[0], addresses[1]]) {
      const next = await open(ada, 'pane2', address);
      t.same(await last.closed(), REPLACED);
      last = next;
    }
    last.socket.send(Buffer.from('typed'));
    await waitFor(() => backend.opened.at(-1)?.typed() === 'typed');
    await waitFor(() => backend.opened.slice(0, -1).every(({ stream }) => stream.destroyed));
    await waitFor(async () => (await listed()).length === 1, {
      what: 'the late ends took nothing of it away',
    });
    await waitFor(async () => (await leases()).length === 1, { what: 'the replaced ones have ended' });
    t.same(backend.killed, [], 'the program is the same all the time');
    last.socket.close(1000);
    await waitFor(() => backend.killed.length === 1, { what: 'until its client closes it' });
    await waitFor(async () => (await listed()).length === 0);
  });
}

/** Guarantees of two processes about each other's terminals. */
export function terminalReplicasContract(t: Test, open: Open): void {
  terminalsOfBoth(t, open);
  const on = onCluster(t, open);

  on('a container that is stopped at one closes its terminals at the other', async (t, cluster) => {
    const { here, ada, dbId, open, addresses } = cluster;
    const far = [await open(ada, 'main', addresses[1]), await open(ada, 'pane2', addresses[1])];
    const stopped = await as(here, ada)('POST', `/api/containers/${dbId}/stop`);
    t.equal(stopped.statusCode, 200);
    t.same(await Promise.all(far.map((one) => one.closed())), [STOPPED, STOPPED]);
  });

  on('one that is deleted', async (t, { here, ada, dbId, open, addresses }) => {
    const far = await open(ada, 'main', addresses[1]);
    await as(here, ada)('DELETE', `/api/containers/${dbId}`);
    t.same(await far.closed(), DELETED);
  });

  on('one that is made anew, and none of another', async (t, cluster) => {
    const { here, ada, dbId, open, addresses } = cluster;
    const eve = await aPerson(here, 'eve');
    const of = (await as(here, eve)('POST', '/api/containers', { name: 'dev' })).json().db_id;
    const far = await open(ada, 'main', addresses[1]);
    const bystander = await cluster.openFor(eve, of);
    const change = { name: 'dev', memory_mb: 1024, cpu_shares: 500, disk_mb: 4096 };
    const { statusCode } = await as(here, ada)('PATCH', `/api/containers/${dbId}`, change);
    t.equal(statusCode, 200);
    t.same(await far.closed(), RESTARTED);
    t.ok(await bystander.alive());
  });

  on('what waits for a lost line is let go when its client is at the other process', async (t, cluster) => {
    const { ada, backend, open, addresses } = cluster;
    const first = await open(ada, 'pane2');
    first.socket.terminate();
    const second = await open(ada, 'pane2', addresses[1]);
    await waitFor(() => backend.opened[0]?.stream.destroyed === true);
    t.ok(await second.alive());
    t.same(backend.killed, []);
  });
}
