import { once } from 'node:events';
import t from 'tap';
import { WebSocket } from 'ws';
import { waitForValue } from '../support/patience.ts';
import { aQuickInstallation, client, signInAdmin, startService } from '../support/process/running-service.ts';

const PANES = 60;
const AT_ONCE = 6;

t.test(`SIGTERM with ${PANES} terminals open ends in time, and with 0`, async (t) => {
  const installation = await aQuickInstallation(t);
  if (installation === null) return;
  const running = await startService(t, installation);
  const token = await signInAdmin(running);
  const call = client(running.address, token);
  const size = { memory_mb: 1024, cpu_shares: 2000, disk_mb: 512 };
  const { body } = await call('POST', '/api/containers', { name: 'dev', ...size });
  const url = `${running.address.replace('http', 'ws')}/api/containers/${body['db_id']}/terminal`;
  const closes: number[] = [];
  let opened = 0;
  const open = async (pane: number): Promise<void> => {
    const socket = new WebSocket(`${url}?connection_id=pane-${pane}`, [
      'berth.terminal.v1',
      `bearer.${token}`,
    ]);
    socket.on('error', () => {});
    socket.on('close', (code) => closes.push(code));
    await once(socket, 'message');
    opened += 1;
  };
  for (let pane = 0; pane < PANES; pane += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => open(pane + n)));
  t.equal(opened, PANES);
  t.equal(await running.stop(), 0);
  await waitForValue(
    () => closes.length,
    (count) => count === PANES,
  );
  t.same(closes, Array(PANES).fill(4012), 'each is asked to reconnect');
});
