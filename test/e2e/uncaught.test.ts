import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { processes } from '../../src/adapters/docker/host.ts';
import { FAULTY, small } from '../support/fault-scene.ts';
import { aPlace, client, signInAdmin, startService } from '../support/running-service.ts';

t.setTimeout(300_000);

for (const how of ['throw', 'reject']) {
  t.test(`an uncaught error (${how}) shuts the service down cleanly and is logged`, async (t) => {
    const place = await aPlace(t);
    if (place === null) return;
    const env = { ...place.env, FAULT_AT: 'create before commit', FAULT_SIGNAL: how };
    const faulty = await startService(t, { ...place, env }, FAULTY);
    const call = client(faulty.address, await signInAdmin(faulty));
    const postmaster = path.join(place.dataDir, 'postgres/pgdata/postmaster.pid');
    const postgres = Number(readFileSync(postmaster, 'utf8').split('\n')[0]);
    const made = await call('POST', '/api/containers', { name: 'dev', ...small });
    t.equal(made.status, 201, 'what was under way is done');
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
    t.notOk(
      (await processes()).some(({ pid }) => pid === postgres),
      'its database is stopped',
    );

    const next = await startService(t, place);
    const again = client(next.address, await signInAdmin(next));
    const id = made.body['db_id'];
    t.match(
      (await again('GET', `/api/containers/${id}`)).body,
      { status: 'running' },
      'the next start goes on',
    );
    await again('DELETE', `/api/containers/${id}`);
    t.equal(await next.stop(), 0);
  });
}
