import { randomBytes } from 'node:crypto';
import t from 'tap';
import { freshDatabase } from '../support/database.ts';
import { aPlace, client, type Running, signInAdmin, startService } from '../support/running-service.ts';
import { terminalClient } from '../support/terminal-client.ts';

const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

t.test(
  'a program is taken over at another process, and ends with its container wherever that is',
  async (t) => {
    const url = await freshDatabase(t);
    const shared = { DATABASE_URL: url ?? '', BERTH_JWT_SECRET: randomBytes(48).toString('base64') };
    const places = [await aPlace(t, shared), await aPlace(t, shared)];
    if (url === null || !places[0] || !places[1]) return;
    const here = await startService(t, places[0]);
    const token = await signInAdmin(here);
    const there = await startService(t, places[1]);
    const call = client(here.address, token);
    const dbId = (await call('POST', '/api/containers', { name: 'dev', ...small })).body['db_id'] as string;
    const open = (at: Running, query: Record<string, string | number> = {}) =>
      terminalClient({ address: at.address.replace('http', 'ws'), dbId, token }, query, {
        origin: at.address,
      });

    const first = await open(here);
    await first.until(() => first.output().includes('# '));
    first.socket.send(Buffer.from('echo still-$((40+2))\r'));
    await first.until(() => first.output().includes('still-42'));
    const resume = { stream: first.ready.stream, after: first.output().length };
    const second = await open(there, resume);
    t.same(await first.closed(), [1000, 'replaced']);
    t.match(second.ready, { redraw: true, mux_session: 'main' });
    await second.until(() => second.output().includes('still-42'));
    second.socket.send(Buffer.from('echo again-$((40+2))\r'));
    await second.until(() => second.output().includes('again-42'));

    const third = await open(here, { connection_id: 'split' });
    const { body } = await call('GET', '/api/admin/terminals');
    const listed = body['terminals'] as { id: string; connection_id: string; replica: string }[];
    t.same(
      listed.map((one) => one.connection_id),
      ['split', 'main'],
    );
    t.not(listed[0]?.replica, listed[1]?.replica);
    const closed = await client(there.address, token)('DELETE', `/api/admin/terminals/${listed[0]?.id}`);
    t.equal(closed.status, 200);
    t.same(await third.closed(), [4001, 'unauthorized']);

    t.equal((await call('POST', `/api/containers/${dbId}/stop`)).status, 200);
    t.same(await second.closed(), [4009, 'container stopped']);
  },
);
