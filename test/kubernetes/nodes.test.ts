import t from 'tap';
import { kubectl, order, testCluster } from '../support/kubernetes/cluster.ts';
import { anInstallationIn } from '../support/kubernetes/installation.ts';
import { watchPods } from '../support/kubernetes/pod-witness.ts';
import { watchPrograms } from '../support/kubernetes/program-witness.ts';
import { eventually, waitForValue } from '../support/patience.ts';
import { inside, small } from '../support/process/fault-scene.ts';
import { client, signInAdmin, startService } from '../support/process/running-service.ts';

const FIRST = 'node-1';
const SECOND = 'node-2';
const PATIENT = { patienceMs: 180_000, everyMs: 500 };
/** Longer than the cluster takes to call a silent node lost. */
const CUT_OFF_MS = 80_000;
const cluster = testCluster();

const readiness = async (node: string): Promise<string> => {
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  return await kubectl(cluster, ['get', 'node', node, `-o=jsonpath=${ready}`]).catch(() => 'absent');
};
const becomes = (node: string, wanted: string): Promise<string> =>
  eventually(
    () => readiness(node),
    (seen) => seen === wanted,
    PATIENT,
  );

t.setTimeout(900_000);
if (cluster.orders === null)
  t.pass('the second node', { skip: 'only a cluster of one’s own can lose a node' });
else {
  const set = await anInstallationIn(t, cluster);
  if (set === null) throw new Error('this needs a database');
  await order(cluster, 'start', SECOND);
  t.teardown(async () => {
    await order(cluster, 'continue', SECOND);
    await kubectl(cluster, ['uncordon', FIRST]);
    await order(cluster, 'kill', SECOND);
    await kubectl(cluster, ['delete', 'node', SECOND, '--wait=false']);
  });
  t.equal(await becomes(SECOND, 'True'), 'True', 'a second node is there');
  const pods = watchPods(t, cluster);
  const programs = watchPrograms(t, pods.containerOf);
  const service = await startService(t, set.installation);
  const call = client(service.address, await signInAdmin(service));
  await kubectl(cluster, ['cordon', FIRST]);
  const made = await call('POST', '/api/containers', { name: 'dev', ...small });
  t.equal(made.status, 201);
  const dbId = made.body['db_id'] as string;
  const url = `/api/containers/${dbId}`;
  const placed = (): Promise<string> =>
    kubectl(cluster, [
      '-n',
      cluster.namespace,
      'get',
      'pod',
      `ws-${dbId}`,
      '-o=jsonpath={.spec.nodeName} {.metadata.uid}',
    ]);

  await t.test('a node cut off for 80 s: its Pod alone has the container, and nothing is lost', async (t) => {
    const before = await placed();
    t.match(before, new RegExp(`^${SECOND} `));
    await inside(call, dbId, 'echo kept > canary; sync');
    await kubectl(cluster, ['uncordon', FIRST]);
    await order(cluster, 'pause', SECOND);
    const cutMs = performance.now();
    t.equal(await becomes(SECOND, 'Unknown'), 'Unknown', 'the cluster takes it for lost');
    const asked = await call('POST', `${url}/exec`, { command: ['true'] });
    t.match([asked.status, asked.body['code']], [503, 'container_unresponsive']);
    const start = () => call('POST', `${url}/start`);
    const begun = await eventually(start, ({ status }) => status === 503, PATIENT);
    t.match(
      [begun.status, begun.body['code']],
      [503, 'container_unresponsive'],
      'nobody knows whether it runs',
    );
    const stopped = await call('POST', `${url}/stop`);
    t.match(stopped.status, /^(202|503)$/, 'nobody knows whether its programs have ended');
    t.not((await start()).status, 200, 'nothing may run beside them');
    await waitForValue(
      () => performance.now() - cutMs,
      (ms) => ms > CUT_OFF_MS,
      PATIENT,
    );
    t.equal(await placed(), before, 'nothing took its place');
    await order(cluster, 'continue', SECOND);
    t.equal(await becomes(SECOND, 'True'), 'True');
    const canary = async (): Promise<unknown> => {
      await call('POST', `${url}/start`);
      return await inside(call, dbId, 'cat canary');
    };
    t.equal(await eventually(canary, (seen) => seen === 'kept\n', PATIENT), 'kept\n');
  });

  await t.test('at no moment had the container two Pods, or programs in two', async (t) => {
    t.ok(pods.seen() > 0);
    t.same(pods.faults(), [], 'as the cluster says');
    t.ok(programs.seen() > 0);
    t.same(programs.faults(), [], 'as the machine shows');
  });

  await call('DELETE', url);
}
