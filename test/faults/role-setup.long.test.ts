import { once } from 'node:events';
// biome-ignore lint/style/noRestrictedImports: another process gets time to take over a setup that it must not take yet
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { freshDatabase } from '../support/database/database.ts';
import { engineOrSkip } from '../support/engine/engine.ts';
import { Invariants } from '../support/process/invariants.ts';
import {
  anInstallation,
  client,
  type Running,
  signInAdmin,
  startService,
} from '../support/process/running-service.ts';

const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };
/** The first run never ends by itself; the next one is quick. */
const SCRIPT = `log=/workspace/log; echo begun >> $log
[ $(wc -l < $log) -gt 1 ] || sleep 300
echo ended >> $log`;

type Call = ReturnType<typeof client>;

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await sleep(100)) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
  }
}

const logOf = async (call: Call, path: string): Promise<string> => {
  const { body } = await call('POST', `${path}/exec`, { command: ['cat', '/workspace/log'] });
  return String(body['stdout']);
};

/** A container with an installation in progress. */
async function installing(service: Running) {
  const call = client(service.address, await signInAdmin(service));
  await call('POST', '/api/admin/roles', { key: 'slow', label: 'Slow', script: SCRIPT });
  const { body } = await call('POST', '/api/containers', { name: 'dev', role: 'slow', ...small });
  const path = `/api/containers/${body['db_id']}`;
  await until('it begins', async () => (await logOf(call, path)).startsWith('begun'));
  return { path };
}

async function kill({ child }: Running): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** `service` completes the installation, and two never ran at once. */
async function endsWell(t: Test, service: Running, path: string, url: string): Promise<void> {
  const call = client(service.address, await signInAdmin(service));
  const setup = async () => (await call('GET', path)).body['role_setup'] as { status: string };
  await until('it ends', async () => (await setup()).status !== 'installing');
  t.match(await setup(), { status: 'ready' });
  t.equal(await logOf(call, path), 'begun\nbegun\nended\n');
  const left = await call('POST', `${path}/exec`, { command: ['pgrep', '-fx', 'sleep 300'] });
  t.match(left.body, { exit_code: 1, stdout: '' }, 'nothing of the first is left');
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const invariants = new Invariants(url, engine.docker);
  await invariants.settled();
  t.same(await invariants.violations(), []);
  await invariants.close();
  await call('DELETE', path);
}

t.test('a killed service continues an installation when it returns', async (t) => {
  const url = await freshDatabase(t);
  const installation = url === null ? null : await anInstallation(t, { DATABASE_URL: url });
  if (url === null || installation === null) return;
  const first = await startService(t, installation);
  const { path } = await installing(first);
  await kill(first);
  await endsWell(t, await startService(t, installation), path, url);
});

t.test("another replica takes over a killed one's installation", async (t) => {
  const url = await freshDatabase(t);
  const shared = { DATABASE_URL: url ?? '', BERTH_JWT_SECRET: 'b5kQ0eT7-vJw2mZx9cRf4hUyA1sLd8gN' };
  const places = url === null ? null : [await anInstallation(t, shared), await anInstallation(t, shared)];
  const [mine, other] = places ?? [];
  if (url === null || !mine || !other) return;
  const first = await startService(t, mine);
  const { path } = await installing(first);
  const second = await startService(t, other);
  await sleep(1_000);
  await kill(first);
  await endsWell(t, second, path, url);
});
