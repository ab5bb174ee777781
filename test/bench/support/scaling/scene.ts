/** Two processes on one database and one engine, and the port that nginx gets before them. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { administrator, type Client } from '../client.ts';
import { installation } from '../installation.ts';
import { startWholeService, type WholeService } from '../whole-service.ts';
import { type DatabaseWork, databaseWork } from './database-work.ts';

export type Scene = {
  readonly admin: Client;
  readonly first: WholeService;
  /** Starts the second process. */
  readonly second: () => Promise<WholeService>;
  readonly proxyPort: number;
  readonly proxy: string;
  readonly work: DatabaseWork;
  stop(): Promise<void>;
};

export async function aScene(): Promise<Scene> {
  const [one, two, proxyPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const settings = {
    BERTH_JWT_SECRET: randomBytes(48).toString('base64'),
    BERTH_DISK_QUOTA: 'soft',
    BERTH_ALLOWED_ORIGINS: [one, two, proxyPort].map(at).join(','),
  };
  const whole = await installation({ ...settings, BERTH_PORT: `${one}` });
  const opened: (() => Promise<void>)[] = [whole.stop];
  const stop = async (): Promise<void> => {
    for (const each of opened.toReversed()) await each();
  };
  try {
    const work = await databaseWork(whole.databaseUrl);
    opened.push(work.stop);
    const admin = await administrator(whole.service.address, whole.service.setupCode);
    const second = async (): Promise<WholeService> => {
      const own = { BERTH_PORT: `${two}`, DOCKER_HOST: whole.endpoint, DATABASE_URL: whole.databaseUrl };
      const service = await startWholeService({ ...settings, ...own });
      opened.push(service.stop);
      return service;
    };
    return { admin, second, first: whole.service, proxyPort, proxy: at(proxyPort), work, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
