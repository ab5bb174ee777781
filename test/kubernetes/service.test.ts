import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { kubectl, order, testCluster } from '../support/kubernetes/cluster.ts';
import { anInstallationIn } from '../support/kubernetes/installation.ts';
import { watchPods } from '../support/kubernetes/pod-witness.ts';
import { eventually, waitForValue } from '../support/patience.ts';
import { inside, small } from '../support/process/fault-scene.ts';
import { theCommand } from '../support/service/command.ts';
import { finish } from '../support/ssh/ssh-programs.ts';
import { sshSceneOf } from '../support/ssh/ssh-scene.ts';

const PATIENT = { patienceMs: 120_000, everyMs: 500 };
/** Longer than the cluster takes to call a silent node lost. */
const CUT_OFF_MS = 80_000;
const cluster = testCluster();
const inNamespace = (...words: readonly string[]) => kubectl(cluster, ['-n', cluster.namespace, ...words]);

t.setTimeout(1_200_000);
const set = await anInstallationIn(t, cluster, { BERTH_SSH_PORT: '0' });
if (set === null) throw new Error('this needs a database');
const witness = watchPods(t, cluster);
const scene = await sshSceneOf(t, set.installation);
const { call, dbId, home, address, token } = scene;
const url = `/api/containers/${dbId}`;
const status = async (): Promise<unknown> => (await call('GET', url)).body['status'];
const uid = () => inNamespace('get', 'pod', `ws-${dbId}`, '-o', 'jsonpath={.metadata.uid}');

t.test('programs have a user with a name, and the volume as home', async (t) => {
  t.equal(await inside(call, dbId, 'id -un; echo ~; id -gn; whoami'), 'berth\n/workspace\nberth\nberth\n');
});

t.test('the isolation check says what the network lets through', async (t) => {
  const isolation = async (): Promise<unknown> => {
    const { body } = await call('GET', '/readyz');
    return (body['parts'] as Record<string, unknown>)['isolation'];
  };
  const isTested = (part: unknown): boolean => !/being tested/.test(JSON.stringify(part));
  // The first check comes two minutes after the start.
  const found = await eventually(isolation, isTested, { ...PATIENT, patienceMs: 300_000 });
  if (cluster.orders === null) t.match(found, { detail: /^(verified at|containers can reach) / });
  else
    t.match(found, {
      status: 'degraded',
      detail: "containers can reach each other, services of their node, the cluster's API",
      mend: /enforces network policies/,
    });
});

t.test('files go by SFTP, and ports are forwarded', async (t) => {
  const bytes = randomBytes(3_000_000);
  const [there, back] = [path.join(home.folder, 'there'), path.join(home.folder, 'back')];
  writeFileSync(there, bytes);
  const batch = `put ${there} /workspace/data\nget /workspace/data ${back}\n`;
  const sftp = await finish(t, home, 'sftp', ['-b', '-', 'dev@berth'], batch);
  t.equal(sftp.code, 0, sftp.stderr);
  t.ok(readFileSync(back).equals(bytes), 'every byte, there and back');
  const serve = `while :; do perl -MIO::Socket::INET -e '
    my $s = IO::Socket::INET->new(Listen => 5, LocalPort => 4000, LocalAddr => "127.0.0.1", ReuseAddr => 1) or exit 1;
    while (my $c = $s->accept) { print $c "served"; close $c }'; done`;
  await call('POST', `${url}/processes`, { command: ['sh', '-c', serve] });
  const ask = () => finish(t, home, 'ssh', ['-W', 'localhost:4000', 'dev@berth']);
  const answer = await eventually(ask, ({ stdout }) => stdout !== '', PATIENT);
  t.equal(answer.stdout, 'served', answer.stderr);
});

t.test('a workspace moves by a stream of its files', async (t) => {
  const made = await call('POST', '/api/containers', { name: 'moved', ...small });
  const target = made.body['db_id'] as string;
  const script = `umask 077; mkdir -p 'a b' && head -c 2000000 /dev/urandom > 'a b/data' && ln -s data 'a b/link'
    printf '#!/bin/sh\necho ran\n' > run.sh; chmod 755 run.sh; touch -d 2020-01-02 run.sh`;
  await inside(call, dbId, script);
  const berth = theCommand(t, address, token);
  // As from Docker, where files belong to root. Of /workspace itself only the cluster changes owner and mode.
  const which = 'find . -mindepth 1 -maxdepth 1 ! -name lost+found -print0';
  const tar = 'tar --owner=0 --group=0 -c --null -T -';
  const from = berth.start(['exec', '--no-stdin', 'dev', '--', 'sh', '-c', `${which} | ${tar}`]);
  const { code, stderr } = await from.ended;
  t.equal(code, 0, stderr);
  const into = await berth.spawned(['exec', 'moved', '--', 'tar', '-x'], from.bytes());
  t.same([into.code, into.stderr], [0, '']);
  const all = `cd /workspace && sha256sum 'a b/data' && readlink 'a b/link' && ./run.sh && stat -c '%A %U %Y' run.sh 'a b'`;
  t.equal(await inside(call, target, all), await inside(call, dbId, all));
  await call('DELETE', `/api/containers/${target}`);
});

t.test('a quota refuses in words, and leaves nothing', async (t) => {
  await inNamespace('create', 'quota', 'full', '--hard=pods=1');
  const counted = () => inNamespace('get', 'quota', 'full', '-o', 'jsonpath={.status.used.pods}');
  // Pods of the isolation check may still be going.
  t.equal(await eventually(counted, (used) => used === '1', PATIENT), '1');
  const refused = await call('POST', '/api/containers', { name: 'second', ...small });
  t.match(refused, { status: 503, body: { code: 'engine_full' } });
  const { containers } = (await call('GET', '/api/containers')).body;
  t.same(
    (containers as { name: string }[]).map(({ name }) => name),
    ['dev'],
  );
  await inNamespace('delete', 'quota', 'full');
  const made = await call('POST', '/api/containers', { name: 'second', ...small });
  t.equal(made.status, 201);
  await call('DELETE', `/api/containers/${made.body['db_id']}`);
});

if (cluster.orders !== null) {
  t.test('a missing right is named to whoever needs it', async (t) => {
    const { rules } = JSON.parse(await inNamespace('get', 'role', 'berth', '-o', 'json'));
    const grant = (granted: readonly object[]) =>
      inNamespace('patch', 'role', 'berth', '--type=merge', '-p', JSON.stringify({ rules: granted }));
    const isExec = ({ resources }: { resources: readonly string[] }) => resources.includes('pods/exec');
    await grant(rules.filter((rule: { resources: readonly string[] }) => !isExec(rule)));
    try {
      const ask = () => call('POST', `${url}/exec`, { command: ['true'] });
      const refused = await eventually(ask, ({ status }) => status === 503, PATIENT);
      t.match(refused.body, { code: 'engine_right_missing', error: /: get pods\/exec$/ });
    } finally {
      await grant(rules);
    }
    const again = () => inside(call, dbId, 'echo granted');
    t.equal(await eventually(again, (seen) => seen === 'granted\n', PATIENT), 'granted\n');
  });

  t.test('a killed API server loses nothing: a stop is done, or taken back', async (t) => {
    await inside(call, dbId, 'echo kept > canary');
    const stopped = call('POST', `${url}/stop`);
    await waitForValue(status, (now) => now !== 'running', PATIENT);
    await order(cluster, 'kill', 'kube-apiserver');
    const asked = await call('GET', `${url}/stats`);
    t.ok(asked.status >= 400, 'no figures meanwhile');
    await order(cluster, 'start', 'kube-apiserver');
    await stopped;
    const settled = await eventually(status, (now) => now === 'stopped' || now === 'running', PATIENT);
    t.match(settled, /^(stopped|running)$/);
    const canary = async (): Promise<unknown> => {
      await call('POST', `${url}/start`);
      return await inside(call, dbId, 'cat canary');
    };
    t.equal(await eventually(canary, (seen) => seen === 'kept\n', PATIENT), 'kept\n');
  });

  t.test('a node that is cut off keeps its Pod, and answers again', { timeout: 400_000 }, async (t) => {
    const before = await uid();
    await order(cluster, 'pause', 'kubelet');
    const began = performance.now();
    const ready = '{.items[0].status.conditions[?(@.type=="Ready")].status}';
    const node = () => kubectl(cluster, ['get', 'nodes', `-o=jsonpath=${ready}`]);
    t.equal(await eventually(node, (is) => is === 'Unknown', PATIENT), 'Unknown');
    const restarted = call('POST', `${url}/stop`).then(() => call('POST', `${url}/start`));
    await waitForValue(
      () => performance.now() - began,
      (ms) => ms > CUT_OFF_MS,
      PATIENT,
    );
    t.equal(await uid(), before, 'nothing took its place');
    await order(cluster, 'continue', 'kubelet');
    await restarted;
    // The stop was accepted by the cluster: the node, back, ends the Pod.
    const canary = async (): Promise<unknown> => {
      await call('POST', `${url}/start`);
      return await inside(call, dbId, 'cat canary');
    };
    t.equal(await eventually(canary, (seen) => seen === 'kept\n', PATIENT), 'kept\n');
  });
}

t.test('never two Pods of one container', async (t) => {
  t.ok(witness.seen() > 0);
  t.same(witness.faults(), []);
});
