import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { freshDatabase } from '../database/database.ts';
import { aPlace, client, type Place, type Running, signInAdmin, startService } from './running-service.ts';

export type Replica = {
  /** Of its latest start. */
  readonly address: () => string;
  /** All that it printed since its latest start. */
  readonly output: () => string;
  readonly dataDir: string;
  /** Ends it without a word. */
  kill(): Promise<void>;
  restart(): Promise<void>;
};

const MAX_STARTS = 5;

/** Two real processes on one database and one engine, their administrator's login and API token; null when skipped. */
export async function aPairOfReplicas(t: Test) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const shared = { DATABASE_URL: url, BERTH_JWT_SECRET: randomBytes(48).toString('base64') };
  const [one, two] = [await aPlace(t, shared), await aPlace(t, shared)];
  if (one === null || two === null) return null;
  const first = await startService(t, one);
  const login = await signInAdmin(first);
  const call = client(first.address, login);
  await call('PATCH', '/api/admin/settings', { requests_per_minute: 0, open_registration: true });
  const { body } = await call('POST', '/api/tokens', { name: 'test' });
  const replicas = [asReplica(t, one, first), asReplica(t, two, await startService(t, two))] as const;
  return { url, login, token: body['token'] as string, replicas };
}

function asReplica(t: Test, place: Place, started: Running): Replica {
  let running = started;
  return {
    address: () => running.address,
    output: () => running.output(),
    dataDir: place.dataDir,
    async kill() {
      await running.stop('SIGKILL');
    },
    async restart() {
      // As whatever keeps services up would: on a machine that is too busy a start may be given up.
      for (let tries = 1; ; tries += 1) {
        const started = await startService(t, place).catch((error: unknown) => error as Error);
        if (!(started instanceof Error)) {
          running = started;
          return;
        }
        if (tries === MAX_STARTS) throw started;
      }
    },
  };
}
