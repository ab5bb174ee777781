/** The Pods of the containers that a database has, as the service makes them. */
import type { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.ts';
import { namespaceOf } from '../../../../src/adapters/kubernetes/client/namespace.ts';
import { Bare, pageOf } from '../../../../src/adapters/kubernetes/client/objects.ts';
import { runtimeIdOf } from '../../../../src/adapters/kubernetes/containers/names.ts';
import { podOf } from '../../../../src/adapters/kubernetes/containers/pod-spec.ts';
import { containerRecords } from '../../../../src/adapters/kubernetes/containers/records.ts';
import { volumeClaims } from '../../../../src/adapters/kubernetes/volumes/claims.ts';
import { patiently } from '../../../../src/adapters/patiently.ts';
import { openDatabase, openPool } from '../../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../../src/adapters/postgres/storage.ts';
import { poll } from '../../../../src/concurrency/poll.ts';
import { forEachAtMost } from '../../../../src/concurrency/pool.ts';
import type { Container } from '../../../../src/domain/containers/container.ts';
import { run } from '../fleet/seed.ts';
import { clientOf, type PodsArguments, settingsOf } from './settings.ts';

const AT_ONCE = 24;
const RUNNING = { withinMs: 600_000, everyMs: 1_000 } as const;

/** Returns when all of them run. */
export async function seedPods(
  url: string,
  { kubeconfig, namespace, instanceId }: PodsArguments,
): Promise<void> {
  const client = await clientOf(kubeconfig, namespace);
  const settings = settingsOf(instanceId);
  const objects = namespaceOf(client);
  const claims = volumeClaims(objects, settings);
  const records = containerRecords(objects, instanceId);
  const make = async (row: Container): Promise<void> => {
    const { dbId, ownerId, generation, image, volume, resources, env } = row;
    const spec = {
      dbId,
      ownerId,
      generation,
      image,
      volume,
      resources,
      hostname: row.name,
      operationId: null,
    };
    await claims.ensure(spec);
    const runtimeId = await records.create({ ...spec, env });
    await objects.create(
      'pods',
      podOf({ runtimeId, spec, env: Object.keys(env), isMember: false }, settings),
    );
  };
  const db = openDatabase(openPool({ url }));
  try {
    const rows = await postgresStorage(db).repositories.containers.listAllLive();
    await run(url, named(rows, instanceId));
    await forEachAtMost(AT_ONCE, rows, make);
    const allRun = async () => ((await patiently(() => hasPending(client, namespace), true)) ? null : true);
    if ((await poll(allRun, RUNNING)) === null) throw new Error('not all Pods run');
  } finally {
    await db.destroy();
  }
}

const named = (rows: readonly Container[], instanceId: string): string => {
  const values = rows.map(
    ({ dbId, generation }) => `('${dbId}'::uuid, '${runtimeIdOf(instanceId, dbId, generation)}')`,
  );
  return `update containers c set runtime_id = made.id from (values ${values.join(', ')}) made (db_id, id) where c.db_id = made.db_id`;
};

/** Whether some do not run yet. */
async function hasPending(client: ApiClient, namespace: string): Promise<boolean> {
  const query = { limit: '1', fieldSelector: 'status.phase!=Running' };
  const list = { method: 'GET', path: `/api/v1/namespaces/${namespace}/pods`, query, seconds: 60 } as const;
  return ((await client.call(pageOf(Bare), list)).items ?? []).length > 0;
}
