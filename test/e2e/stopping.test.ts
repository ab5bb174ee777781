import { once } from 'node:events';
import t, { type Test } from 'tap';
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
