import { once } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../support/fault-scene.ts';
import { aPlace, client, signInAdmin, startService } from '../support/running-service.ts';

t.setTimeout(300_000);

/** A service with a command that goes on in a container. */
async function aBusyService(t: Test, seconds: number) {
  const place = await aPlace(t);
  if (place === null) return null;
  const running = await startService(t, place);
  const call = client(running.address, await signInAdmin(running));
  const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };
  const { body } = await call('POST', '/api/containers', { name: 'dev', ...small });
  const command = ['sh', '-c', `echo begun > /workspace/begun; sleep ${seconds}; echo ended`];
  const going = call('POST', `/api/containers/${body['db_id']}/exec`, { command }).catch(() => null);
  for (let tries = 0; tries < 100; tries += 1) {
    const seen = await call('POST', `/api/containers/${body['db_id']}/exec`, {
      command: ['cat', '/workspace/begun'],
    });
    if (seen.body['stdout'] === 'begun\n') break;
  }
  return { running, going };
}

t.test('SIGTERM lets what is in flight end, and ends with 0', async (t) => {
  const busy = await aBusyService(t, 3);
  if (busy === null) return;
  const stopped = busy.running.stop();
  t.match(await busy.going, { status: 200, body: { stdout: 'ended\n' } });
  t.equal(await stopped, 0);
});

t.test('a second SIGTERM ends it at once', async (t) => {
  const busy = await aBusyService(t, 120);
  if (busy === null) return;
  const { child } = busy.running;
  const ended = once(child, 'exit');
  const saysSo = once(child.stdout as NodeJS.ReadableStream, 'data');
  child.kill('SIGTERM');
  await saysSo;
  const before = performance.now();
  child.kill('SIGTERM');
  const [code] = await ended;
  t.equal(code, 1);
  t.ok(performance.now() - before < 20_000, 'it waits for nothing');
  await busy.going;
});

const PANES = 60;
const AT_ONCE = 6;

t.test(`SIGTERM with ${PANES} terminals open ends in time, and with 0`, async (t) => {
  const place = await aPlace(t);
  if (place === null) return;
  const running = await startService(t, place);
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
  const before = performance.now();
  t.equal(await running.stop(), 0);
  t.comment(`stopped in ${Math.round(performance.now() - before)} ms`);
  await eventually(
    async () => closes.length,
    (count) => count === PANES,
    10,
  );
  t.same(closes, Array(PANES).fill(4012), 'each is told to come back');
});
