import { once } from 'node:events';
import type Docker from 'dockerode';
import t, { type Test } from 'tap';
import { engineOrSkip } from '../support/engine/engine.ts';
import { waitFor } from '../support/patience.ts';
import { small } from '../support/process/fault-scene.ts';
import { aQuickPlace, client, signInAdmin, startService } from '../support/process/running-service.ts';

t.setTimeout(240_000);

/** A service with a command that goes on in a container until there is a file. */
async function aBusyService(t: Test) {
  const engine = await engineOrSkip(t);
  const place = await aQuickPlace(t);
  if (engine === null || place === null) return null;
  const running = await startService(t, place);
  const call = client(running.address, await signInAdmin(running));
  const { body } = await call('POST', '/api/containers', { name: 'dev', ...small });
  const script = 'echo begun > begun; until [ -e end ]; do sleep 0.1; done; echo ended';
  const exec = `/api/containers/${body['db_id']}/exec`;
  const going = call('POST', exec, { command: ['sh', '-c', script] }).catch(() => null);
  await waitFor(async () => {
    const seen = await call('POST', exec, { command: ['cat', 'begun'] });
    return seen.body['stdout'] === 'begun\n';
  });
  const container = engine.docker.getContainer(String(body['id']));
  return { running, going, end: () => runIn(container, ['touch', '/workspace/end']) };
}

/** Past the service. */
async function runIn(container: Docker.Container, command: string[]): Promise<void> {
  const exec = await container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true });
  const output = await exec.start({});
  await once(output.resume(), 'end');
}

const isStopping = (running: { output(): string }) => waitFor(() => running.output().includes('Stopping'));

t.test('SIGTERM lets what is in flight end, and ends with 0', async (t) => {
  const busy = await aBusyService(t);
  if (busy === null) return;
  const stopped = busy.running.stop();
  await isStopping(busy.running);
  await busy.end();
  t.match(await busy.going, { status: 200, body: { stdout: 'ended\n' } });
  t.equal(await stopped, 0);
});

t.test('a second SIGTERM ends it at once', async (t) => {
  const busy = await aBusyService(t);
  if (busy === null) return;
  const { running, going } = busy;
  running.child.kill('SIGTERM');
  await isStopping(running);
  running.child.kill('SIGTERM');
  t.equal(await running.ended, 1);
  t.match(running.output(), /a second signal came/);
  t.equal(await going, null, 'it waits for nothing');
});
