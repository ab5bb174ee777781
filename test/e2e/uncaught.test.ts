import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { processes } from '../../src/adapters/docker/host.ts';
import { type Call, FAULTY, small } from '../support/process/fault-scene.ts';
import {
  aPlace,
  client,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';

t.setTimeout(300_000);

t.test(
  'an uncaught error shuts the service down cleanly, is logged, and the next start goes on',
  async (t) => {
    const place = await aPlace(t);
    if (place === null) return;
    const made: unknown[] = [];
    for (const how of ['throw', 'reject']) {
      const env = { ...place.env, FAULT_AT: 'create before commit', FAULT_SIGNAL: how };
      const faulty = await startService(t, { ...place, env }, FAULTY);
      const call = client(faulty.address, await signInAdmin(faulty));
      await areRunning(t, call, made);
      const postmaster = path.join(place.dataDir, 'postgres/pgdata/postmaster.pid');
      const postgres = Number(readFileSync(postmaster, 'utf8').split('\n')[0]);
      const answer = await call('POST', '/api/containers', { name: how, ...small });
      t.equal(answer.status, 201, 'what was under way is done');
      made.push(answer.body['db_id']);
      await hasEnded(t, faulty);
      const alive = (await processes()).map(({ pid }) => pid);
      t.notOk(alive.includes(postgres), 'its database is stopped');
    }
    const next = await startService(t, place);
    const call = client(next.address, await signInAdmin(next));
    await areRunning(t, call, made);
    for (const id of made) await call('DELETE', `/api/containers/${id}`);
    t.equal(await next.stop(), 0);
  },
);

/** The service ends by itself, and its log says why. */
async function hasEnded(t: Test, faulty: Running): Promise<void> {
  t.equal(await faulty.ended, 70);
  const said = faulty
    .output()
    .split('\n')
    .filter((line) => line.includes('a wire is loose'));
  t.equal(said.length, 1, 'in one line');
  t.match(JSON.parse(said[0] ?? '{}'), {
    level: 60,
    msg: /uncaught error/,
    err: { stack: /faulty-server/ },
  });
}

async function areRunning(t: Test, call: Call, ids: readonly unknown[]): Promise<void> {
  for (const id of ids) t.match((await call('GET', `/api/containers/${id}`)).body, { status: 'running' });
}
