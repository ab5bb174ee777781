/** A private engine, an empty database, and the whole service on both; all of it is removed at the end. */
import type Docker from 'dockerode';
import pg from 'pg';
import { addressOf, probe } from '../../../src/adapters/docker/engine-probe.ts';
import { INSTANCE_LABEL } from '../../../src/adapters/docker/labels.ts';
import { removeNetwork } from '../../../src/adapters/docker/network.ts';
import { startEngine } from '../../support/keeper/engine.ts';
import { emptyDatabase } from './database.ts';
import { startWholeService } from './whole-service.ts';

/** `settings` are the service's, beside where its engine and its database are. */
export async function installation(settings: NodeJS.ProcessEnv) {
  const engine = await startEngine('', console.log);
  const { endpoint, image } = engine.value;
  const answer = await probe(addressOf(endpoint, null));
  if (!answer.answers) throw new Error('the engine does not answer');
  const { docker } = answer;
  const database = await emptyDatabase();
  const service = await startWholeService({ DOCKER_HOST: endpoint, DATABASE_URL: database.url, ...settings });
  const instance = await instanceOf(database.url);
  return {
    docker,
    endpoint,
    image,
    service,
    instance,
    databaseUrl: database.url,
    async stop(): Promise<void> {
      await service.stop();
      await removeInstance(docker, instance, endpoint.startsWith('unix:'));
      await database.stop();
      await engine.stop();
    },
  };
}

async function instanceOf(url: string): Promise<string> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const { rows } = await db.query<{ id: string }>('select id from installation');
  await db.end();
  return rows[0]?.id ?? '';
}

async function removeInstance(docker: Docker, instanceId: string, isLocal: boolean): Promise<void> {
  const filters = { label: [`${INSTANCE_LABEL}=${instanceId}`] };
  const containers = await docker.listContainers({ all: true, filters });
  await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true })));
  const { Volumes } = await docker.listVolumes({ filters });
  await Promise.all((Volumes ?? []).map(({ Name }) => docker.getVolume(Name).remove()));
  await removeNetwork({ docker, kind: 'external', isLocal }, instanceId);
}
