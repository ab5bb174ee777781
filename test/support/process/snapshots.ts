import type { Test } from 'tap';
import { eventually, waitForValue } from '../patience.ts';
import type { client } from './running-service.ts';

const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };
const TOOL = '/usr/local/bin/tool';
/** Writes the same numbers to both places, the volume first, many while a snapshot is taken. */
const WRITER = `n=0; while :; do n=$((n+1)); echo $n > /workspace/n.new; mv /workspace/n.new /workspace/n
  echo $n > /root/n.new; mv /root/n.new /root/n; sleep 0.05; done`;

type Call = ReturnType<typeof client>;

async function sh(call: Call, dbId: string, script: string): Promise<string> {
  const { body } = await call('POST', `/api/containers/${dbId}/exec`, { command: ['sh', '-c', script] });
  return `${body['stdout']}${body['stderr']}`.trim();
}

/** The resource once its operation is over: a busy machine answers 202 before. */
async function finished(call: Call, url: string): Promise<Record<string, unknown>> {
  const read = async () => (await call('GET', url)).body;
  return await eventually(read, ({ status }) => status !== 'creating', { patienceMs: 120_000 });
}

/** Snapshots and forks of a running and of a stopped container of this service hold what they should. */
export async function checkSnapshotsAndForks(t: Test, call: Call): Promise<void> {
  const made = (await call('POST', '/api/containers', { name: 'source', ...small })).body;
  const dbId = made['db_id'] as string;
  const url = `/api/containers/${dbId}`;
  await sh(
    call,
    dbId,
    `echo kept > canary; echo tool > ${TOOL}; ln -s canary link; mkfifo pipe; truncate -s 100M sparse`,
  );
  await call('POST', `${url}/processes`, { command: ['sh', '-c', WRITER], name: 'writer' });
  const now = async () => Number(await sh(call, dbId, 'cat /root/n'));
  await waitForValue(now, (n) => n > 5);

  const taken = await call('POST', `${url}/snapshots`, { name: 'base' });
  const base = await finished(call, `/api/snapshots/${taken.body['id']}`);
  t.match(base, { status: 'ready', name: 'base' });
  const after = await now();
  t.ok((await eventually(now, (n) => n > after)) > after, 'its programs continue');
  t.ok((base['volume_mb'] as number) < 80, `holes stay: ${base['volume_mb']} MB`);
  await sh(call, dbId, `echo changed > canary; echo changed > ${TOOL}`);

  const snapshot_id = taken.body['id'] as string;
  const copy = await call('POST', '/api/containers', { name: 'copy', snapshot_id, disk_mb: 768 });
  const copyId = copy.body['db_id'] as string;
  t.match(await finished(call, `/api/containers/${copyId}`), {
    status: 'running',
    resources: { ...small, disk_mb: 768 },
  });
  t.equal(
    await sh(call, copyId, `cat canary link ${TOOL}; test -p pipe && echo pipe`),
    'kept\nkept\ntool\npipe',
  );
  const [inside, outside] = (await sh(call, copyId, 'cat n /root/n')).split('\n').map(Number);
  t.ok(inside === outside || inside === Number(outside) + 1, `one moment: ${inside}, ${outside}`);

  const forked = await call('POST', `${url}/forks`, { count: 2, name: 'twin' });
  const forks = forked.body['containers'] as { db_id: string }[];
  const twins = await Promise.all(forks.map(({ db_id }) => finished(call, `/api/containers/${db_id}`)));
  t.same(
    twins.map(({ name, status }) => `${name} ${status}`),
    ['twin-1 running', 'twin-2 running'],
  );
  for (const { db_id } of forks) t.equal(await sh(call, db_id, `cat canary ${TOOL}`), 'changed\nchanged');

  await call('POST', `${url}/stop`);
  const cold = await call('POST', `${url}/snapshots`, { name: 'cold' });
  t.match(await finished(call, `/api/snapshots/${cold.body['id']}`), { status: 'ready' }, 'a stopped one');
  t.equal((await call('GET', url)).body['status'], 'stopped');

  await call('DELETE', `/api/snapshots/${snapshot_id}`);
  await call('POST', `/api/containers/${copyId}/stop`);
  await call('POST', `/api/containers/${copyId}/start`);
  t.equal(await sh(call, copyId, 'cat canary'), 'kept', 'a container outlives its snapshot');
}
