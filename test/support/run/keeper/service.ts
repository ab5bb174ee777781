import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { copyTemplate } from '../../database/database.ts';
import { engineAt } from '../../engine/engine.ts';
import { installationOf, removeInstance } from '../../engine/instance.ts';
import { ADMIN, client } from '../../process/running-service.ts';
import { launchService } from '../../process/service-process.ts';
import type { Part, Use } from './part.ts';

let starts = 0;

/** The shared service. Another start has a new database and a new data folder. */
export async function startSharedService(
  folder: string,
  _progress: (line: string) => void,
  use: Use,
): Promise<Part<'service'>> {
  const [{ url }, { endpoint }] = await Promise.all([use('postgres'), use('engine')]);
  starts += 1;
  // A killed keeper leaves its database.
  const name = `service_${process.pid}_${starts}`;
  const database = await copyTemplate(url, name);
  const dataDir = path.join(folder, name);
  const log = `${dataDir}.log`;
  mkdirSync(dataDir, { mode: 0o711 });
  const env = {
    DATABASE_URL: database,
    DOCKER_HOST: endpoint,
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    BERTH_ENGINE: 'external',
    BERTH_DISK_QUOTA: 'soft',
    BERTH_ADMIN_EMAIL: ADMIN.email,
    BERTH_ADMIN_PASSWORD: ADMIN.password,
  };
  const onOutput = (text: string): void => appendFileSync(log, `${text}\n`);
  // Processes working in a run's folder end with it, even if the keeper was killed.
  const running = await launchService({ env, dataDir }, { cwd: dataDir, onOutput });
  const { address, child, output } = running;
  const stop = async (): Promise<void> => {
    await running.stop();
    const id = await installationOf(dataDir, database);
    await removeInstance(await engineAt(endpoint), id);
  };
  const ended = running.ended.then(
    (code) => `the service of the run ended with ${code ?? child.signalCode}:\n${output().slice(-2_000)}`,
  );
  try {
    const adminToken = await setUp(address);
    return { value: { address, pid: child.pid as number, database, adminToken, log }, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Opens registration and lifts the limits, so that tests do not slow each other down; returns an API token. */
async function setUp(address: string): Promise<string> {
  const { email, password } = ADMIN;
  const { body } = await client(address)('POST', '/api/auth/login', { email, password });
  const call = client(address, String(body['token']));
  const settings = { open_registration: true, requests_per_minute: 0 };
  const set = await call('PATCH', '/api/admin/settings', settings);
  const made = await call('POST', '/api/tokens', { name: 'tests', scopes: ['read', 'write', 'admin'] });
  if (set.status !== 200 || made.status !== 201) throw new Error(JSON.stringify({ set, made }));
  return String(made.body['token']);
}
