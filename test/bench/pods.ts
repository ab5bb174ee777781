/**
 * What many Pods cost one process of the service, the API server and the database: a start of the service, a pass over
 * all containers, Pods that vanish, and starts. The API server is real, with its database on this machine; its node is a
 * stand-in that runs nothing. What counts is processor time and memory. Arguments: `containers=5000`, `users=500`,
 * `changes=500`, `at-once=16`.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Anything } from '../../src/adapters/kubernetes/client/objects.ts';
import { waitFor } from '../support/patience.ts';
import { given } from './support/arguments.ts';
import { type Person, run, seed } from './support/fleet/seed.ts';
import type { Passes, PassTook } from './support/fleet/serve.ts';
import { client } from './support/load.ts';
import { type BareCluster, startBareCluster } from './support/pods/cluster.ts';
import { seedPods } from './support/pods/seed.ts';
import { spent } from './support/processor-time.ts';
import { mib, say } from './support/say.ts';
import { type Server, startServer } from './support/servers.ts';
import { emptyDatabase } from './support/whole-service.ts';

const CONTAINERS = given('containers', 5_000);
const USERS = given('users', 500);
const CHANGES = given('changes', 500);
const CHANGES_AT_ONCE = given('at-once', 16);
const PASSES = 3;
const MEMORY = ['--expose-gc', '--import', path.resolve(import.meta.dirname, 'support/tell-memory.ts')];
const PATIENT = { patienceMs: 600_000, everyMs: 250 };

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

type Scene = {
  readonly cluster: BareCluster;
  readonly server: Server;
  readonly url: string;
  readonly people: readonly Person[];
  readonly databaseMs: () => number;
};

const database = await emptyDatabase();
const cluster = await startBareCluster();
let server: Server | null = null;
try {
  const { url, usedMs: databaseMs } = database;
  const people = await seed(url, USERS, CONTAINERS);
  const { kubeconfig, namespace } = cluster;
  const asked = { kubeconfig, namespace, instanceId: randomUUID() };
  const empty = cluster.memory();
  const [beganMs, usedMs] = [performance.now(), cluster.usedMs()];
  await seedPods(url, asked);
  const tookMs = performance.now() - beganMs;
  say(
    `${CONTAINERS} Pods made in ${seconds(tookMs)}, with ${((cluster.usedMs() - usedMs) / CONTAINERS).toFixed(1)} ms of ` +
      'processor of the API server and its database for each with its Secret and its claim',
  );
  const full = cluster.memory();
  say(
    `memory of the API server: ${mib(empty.apiServerBytes)}, now ${mib(full.apiServerBytes)}; of its database: ` +
      `${mib(empty.etcdBytes)}, now ${mib(full.etcdBytes)}`,
  );
  await sizes(cluster, asked.instanceId);
  const beforeMs = cluster.usedMs();
  server = await startServer('pods/pods-server.ts', [url, JSON.stringify(asked)], MEMORY);
  const scene = { cluster, server, url, people, databaseMs };
  await start(scene, beforeMs);
  await passes(scene);
  const owners = await vanish(scene, asked.instanceId);
  await starts(scene, owners);
} finally {
  await server?.stop();
  await cluster.stop();
  await database.stop();
}

/** Bytes of an object in a list. */
async function sizes({ admin, namespace }: BareCluster, instanceId: string): Promise<void> {
  for (const kind of ['pods', 'secrets', 'persistentvolumeclaims']) {
    const query = { limit: '100', labelSelector: `berth.instance=${instanceId}` };
    const list = `/api/v1/namespaces/${namespace}/${kind}`;
    const { items } = (await admin.call(Anything, { method: 'GET', path: list, query, seconds: 60 })) as {
      items: object[];
    };
    const bytes = JSON.stringify(items).length / items.length;
    say(`${kind}: ${(bytes / 1024).toFixed(1)} KiB each in a list`);
  }
}

function users({ cluster, server, databaseMs }: Scene) {
  return { databaseMs, clusterMs: cluster.usedMs, serviceMs: server.cpuMs };
}

async function memory(server: Server): Promise<void> {
  const { heldBytes, residentBytes } =
    await server.ask<Record<'heldBytes' | 'residentBytes', number>>('memory');
  const { peakBytes } = await server.ask<Passes>('passes');
  say(`memory: ${mib(heldBytes)} in use, ${mib(residentBytes)} resident, ${mib(peakBytes)} at most so far`);
}

async function start({ cluster, server }: Scene, beforeMs: number): Promise<void> {
  let first: PassTook | null = null;
  await waitFor(
    async () => {
      ({ first } = await server.ask<Passes>('passes'));
      return first !== null;
    },
    { ...PATIENT, what: 'the first pass has ended' },
  );
  const { ms, cpuMs } = first as unknown as PassTook;
  say(
    `a start, until its first pass has ended: ${seconds(ms)}, ${seconds(cpuMs)} of processor, and ` +
      `${seconds(cluster.usedMs() - beforeMs)} of the API server`,
  );
  await memory(server);
}

async function passes(scene: Scene): Promise<void> {
  const took: PassTook[] = [];
  const { clusterMs, databaseMs } = await spent(users(scene), async () => {
    for (let n = 0; n < PASSES; n += 1) took.push(await scene.server.ask<PassTook>('pass'));
  });
  const mean = (name: keyof PassTook): string =>
    (took.reduce((sum, each) => sum + each[name], 0) / PASSES).toFixed(0);
  say(
    `a pass: ${mean('ms')} ms, ${mean('cpuMs')} ms of processor, ${(clusterMs / PASSES).toFixed(0)} ms of the API server, ` +
      `and ${(databaseMs / PASSES).toFixed(0)} ms of the database`,
  );
}

/** Removes the Pods of some users from outside, all at once. Returns these users. */
async function vanish(scene: Scene, instanceId: string): Promise<readonly Person[]> {
  const { cluster, server, url, people } = scene;
  const owners = people.slice(0, Math.ceil(CHANGES / (CONTAINERS / USERS)));
  const gone = owners.reduce((sum, { dbIds }) => sum + dbIds.length, 0);
  const before = await server.ask<Passes>('passes');
  const took = await spent(users(scene), async () => {
    const ids = owners.flatMap(({ dbIds }) => dbIds);
    const remove = () =>
      cluster.admin.call(Anything, {
        method: 'DELETE',
        path: `/api/v1/namespaces/${cluster.namespace}/pods`,
        query: { labelSelector: `berth.instance=${instanceId},berth.db_id in (${ids.join(',')})` },
        body: { gracePeriodSeconds: 0 },
        seconds: 300,
      });
    // A busy API server ends a request after a minute, with some of them removed.
    await waitFor(() => remove().then(isTrue, isFalse), { ...PATIENT, what: 'the Pods are removed' });
    const text = `select count(*)::int as n from containers where state = 'stopped'`;
    await waitFor(async () => (await run(url, text)).rows[0].n === gone, {
      ...PATIENT,
      what: 'every row says that its Pod is gone',
    });
  });
  const after = await server.ask<Passes>('passes');
  tell(`${gone} Pods that vanish: ${after.count - before.count} passes`, took, gone);
  await memory(server);
  return owners;
}

async function starts(scene: Scene, owners: readonly Person[]): Promise<void> {
  const { server } = scene;
  const all = owners.flatMap(({ token, dbIds }) => dbIds.map((dbId) => ({ token, dbId })));
  const before = await server.ask<Passes>('passes');
  const took = await spent(users(scene), async () => {
    const left = all.values();
    const work = async (): Promise<void> => {
      for (const { token, dbId } of left) {
        const start = () => client(server.address, token).call('POST', `/api/containers/${dbId}/start`);
        // On a busy machine the cluster may be silent for a moment.
        await waitFor(() => start().then(isTrue, isFalse), { ...PATIENT, what: 'a start is done' });
      }
    };
    await Promise.all(Array.from({ length: CHANGES_AT_ONCE }, work));
  });
  const after = await server.ask<Passes>('passes');
  tell(
    `${all.length} starts, ${CHANGES_AT_ONCE} at once: ${after.count - before.count} passes`,
    took,
    all.length,
  );
  await memory(server);
}

function tell(
  what: string,
  took: Readonly<Record<keyof ReturnType<typeof users> | 'ms', number>>,
  changes: number,
): void {
  const each = (ms: number): string => (ms / changes).toFixed(1);
  say(
    `${what}, ${seconds(took.ms)}; for each ${each(took.serviceMs)} ms of processor, ${each(took.clusterMs)} ms of the API ` +
      `server, ${each(took.databaseMs)} ms of the database`,
  );
}
