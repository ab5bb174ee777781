import path from 'node:path';
import type Docker from 'dockerode';
import pg from 'pg';
import { INSTANCE_LABEL } from '../../src/adapters/docker/labels.ts';
import { removeNetwork } from '../../src/adapters/docker/network.ts';
import { runningEmbeddedUrl } from '../../src/adapters/postgres/embedded.ts';
import { waitFor } from './patience.ts';

type Engine = {
  readonly docker: Docker;
  readonly kind: 'external' | 'private';
  readonly isLocal: boolean;
};

/** The id of the installation that runs on a data folder, or on the database that its settings name. */
export async function installationOf(dataDir: string, databaseUrl: string | undefined): Promise<string> {
  const connectionString = databaseUrl ?? (await runningEmbeddedUrl(path.join(dataDir, 'postgres')));
  const db = new pg.Client({ connectionString });
  await db.connect();
  try {
    const { rows } = await db.query<{ id: string }>('select id from installation');
    return rows[0]?.id ?? '';
  } finally {
    await db.end();
  }
}

/**
 * Removes all that an installation has in an engine: containers, volumes, images, its network with its rules. What a service
 * that was killed had begun may still come, so it is done until nothing is left.
 */
export async function removeInstance(engine: Engine, instanceId: string): Promise<void> {
  const { docker } = engine;
  const filters = { label: [`${INSTANCE_LABEL}=${instanceId}`] };
  let fault: unknown = null;
  const isGone = async (): Promise<boolean> => {
    const containers = await docker.listContainers({ all: true, filters });
    const { Volumes } = await docker.listVolumes({ filters });
    const volumes = Volumes ?? [];
    try {
      await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true })));
      await Promise.all(volumes.map(({ Name }) => docker.getVolume(Name).remove()));
    } catch (error) {
      fault = error;
      return false;
    }
    return containers.length + volumes.length === 0;
  };
  await waitFor(isGone, { what: () => `an engine without ${instanceId}: ${fault}` });
  const images = await docker.listImages({ all: true, filters: JSON.stringify(filters) });
  for (const { Id } of images)
    await docker
      .getImage(Id)
      .remove({ force: true })
      .catch(() => {});
  await removeNetwork(engine, instanceId);
}
