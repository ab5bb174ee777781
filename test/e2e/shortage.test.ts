import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { descriptorsOf } from '../support/engine/host.ts';
import { aQuickPlace, client, signInAdmin, startService } from '../support/process/running-service.ts';

t.setTimeout(300_000);

const OPEN_FILES = 256;
const SILENT = 400;
const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

t.test(
  `with ${OPEN_FILES} descriptors and ${SILENT} silent connections signed-in users work on`,
  async (t) => {
    const place = await aQuickPlace(t);
    if (place === null) return;
    const running = await startService(t, { ...place, openFiles: OPEN_FILES });
    const call = client(running.address, await signInAdmin(running));
    const made = await call('POST', '/api/containers', { name: 'dev', ...small });
    t.equal(made.status, 201);
    const { hostname, port } = new URL(running.address);
    const sockets: Socket[] = [];
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
    });
    const exec = `/api/containers/${made.body['db_id']}/exec`;
    const codes = new Map<number, number>();
    for (let n = 0; n < SILENT; n += 1) {
      const socket = connect({ host: hostname, port: Number(port) });
      sockets.push(socket.on('error', () => {}).resume());
      await once(socket, 'connect');
      if (n % 40 !== 39) continue;
      const [list, run, sign] = await Promise.all([
        call('GET', '/api/containers'),
        call('POST', exec, { command: ['true'] }),
        // Of somebody who comes just now.
        fetch(`${running.address}/readyz`, { headers: { connection: 'close' } }),
      ]);
      for (const { status } of [list, run, sign]) codes.set(status, (codes.get(status) ?? 0) + 1);
    }
    t.same([...codes], [[200, 30]]);
    const pid = running.child.pid as number;
    t.ok(descriptorsOf(pid) < OPEN_FILES, `${descriptorsOf(pid)} descriptors are open`);
    t.equal(running.child.exitCode, null);
    t.equal(await running.stop(), 0, 'ends in order');
  },
);
