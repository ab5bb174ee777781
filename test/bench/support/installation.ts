/** A private engine, an empty database, and the whole service on both; all of it is removed at the end. */
import { addressOf, probe } from '../../../src/adapters/docker/engine/engine-probe.ts';
import { installationOf, removeInstance } from '../../support/engine/instance.ts';
import { startEngine } from '../../support/run/keeper/engine.ts';
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
  const instance = await installationOf('', database.url);
  return {
    docker,
    endpoint,
    image,
    service,
    instance,
    databaseUrl: database.url,
    async stop(): Promise<void> {
      await service.stop();
      await removeInstance({ docker, isLocal: endpoint.startsWith('unix:') }, instance);
      await database.stop();
      await engine.stop();
    },
  };
}
